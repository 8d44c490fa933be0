package database_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/database/databasetest"
)

// TestRestarted stops PostgreSQL, for a moment and for longer, and freezes it.
func TestRestarted(t *testing.T) {
	t.Parallel()
	ctx, own := context.WithoutCancel(t.Context()), databasetest.Start(t)
	p := databasetest.Open(t, "", own.URL()).Part("restarted", fmt.Sprintf(table, "restarted"))
	want := 0
	counted := func(when string) {
		t.Helper()
		want++
		if n, err := count(ctx, p, "restarted"); n != want || err != nil {
			t.Fatalf("%s: counted %d, %v; want %d", when, n, err, want)
		}
	}
	refused := func(when string) {
		t.Helper()
		begin := time.Now()
		_, err := count(ctx, p, "restarted")
		if e := tools.AsError(err); err == nil || e.Code != tools.Unavailable {
			t.Errorf("%s: %v", when, err)
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: told after %v", when, took)
		}
	}
	counted("at first")
	if err := errors.Join(own.Crash(ctx), own.Restart(ctx)); err != nil {
		t.Fatal(err)
	}
	counted("after a restart, with dead connections")
	if err := own.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	refused("while it is stopped")
	refused("while it is still stopped")
	if err := own.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	counted("when it is back")
	signalTree(t, own.PID(), syscall.SIGSTOP)
	refused("while it is frozen")
	signalTree(t, own.PID(), syscall.SIGCONT)
	counted("when it goes on")
}

// signalTree signals a server and the processes of its connections.
func signalTree(t *testing.T, pid int, signal syscall.Signal) {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range append(strings.Fields(string(children)), fmt.Sprint(pid)) {
		var child int
		if _, err := fmt.Sscan(field, &child); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(child, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}
