//go:build unix

package processes_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/shell/internal/processes"
)

// begun is how long a program may take until it sleeps as itself.
const begun = 10 * time.Second

// start starts a program, which is to sleep, and returns it as it is listed then. Until it
// has been executed to the end it is listed without its command line and without memory.
func start(t *testing.T, args ...string) processes.Process {
	t.Helper()
	path, err := exec.LookPath(args[0])
	if err != nil {
		t.Skipf("needs: %s", args[0])
	}
	cmd := exec.Command(path, args[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if slices.Contains(args, "-c") {
		if _, err := out.Read(make([]byte, 1)); err != nil { // it says when it is ready
			t.Fatal(err)
		}
	}
	for late := time.Now().Add(begun); ; time.Sleep(time.Millisecond) {
		p, ok := find(t, cmd.Process.Pid)
		switch {
		case ok && p.State == "S" && strings.HasSuffix(p.Command, strings.Join(args, " ")):
			return p
		case time.Now().After(late):
			t.Fatalf("%v is not listed as asleep: %t %+v", args, ok, p)
		}
	}
}

func find(t *testing.T, pid int) (processes.Process, bool) {
	t.Helper()
	all, err := processes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(all, func(p processes.Process) bool { return p.PID == pid })
	if i < 0 {
		return processes.Process{}, false
	}
	return all[i], true
}

func TestList(t *testing.T) {
	p := start(t, "sleep", "61.5")
	if age := time.Since(p.Start); p.Parent != os.Getpid() || age < -2*time.Second || age > 10*time.Second || p.Kernel || p.User == "" || p.Memory == 0 {
		t.Errorf("%+v", p)
	}
	if want := "sleep 61.5"; len(p.Command) < len(want) || p.Command[len(p.Command)-len(want):] != want {
		t.Errorf("command %q", p.Command)
	}
	id, err := processes.ParseID(p.ID())
	if err != nil || id.PID != p.PID || id.Began != p.Began {
		t.Errorf("%s: %v %v", p.ID(), id, err)
	}
	all, err := processes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if above := processes.Above(all, p.PID); len(above) < 2 || above[1] != os.Getpid() {
		t.Errorf("above it: %v", above)
	}
	tree, depths := processes.Tree(all, os.Getpid())
	if i := slices.IndexFunc(tree, func(q processes.Process) bool { return q.PID == p.PID }); i < 0 || depths[i] != 1 {
		t.Errorf("the tree of the test: %v %v", tree, depths)
	}
	for _, bad := range []string{"", "1", "x@1", "1@", "0@1", "-1@1", "1@-"} {
		if id, err := processes.ParseID(bad); err == nil {
			t.Errorf("%q is %v", bad, id)
		}
	}
}

// A signal reaches the process that is meant, and no other that has its PID.
func TestKill(t *testing.T) {
	p := start(t, "sleep", "60")
	other := processes.ID{PID: p.PID, Began: p.Began - 1}
	if ended, err := processes.Kill(t.Context(), other, "KILL", time.Second); ended || !errors.Is(err, processes.ErrGone) {
		t.Errorf("another start: %t %v", ended, err)
	}
	if now, ok := find(t, p.PID); !ok || now.State == "Z" {
		t.Fatal("it was hit")
	}
	id := processes.ID{PID: p.PID, Began: p.Began}
	if _, err := processes.Kill(t.Context(), id, "NOTHING", 0); !errors.Is(err, processes.ErrSignal) {
		t.Errorf("a signal that is none: %v", err)
	}
	if ended, err := processes.Kill(t.Context(), id, "TERM", 10*time.Second); !ended || err != nil {
		t.Errorf("TERM: %t %v", ended, err)
	}
	if ended, err := processes.Kill(t.Context(), id, "TERM", time.Second); ended || !errors.Is(err, processes.ErrGone) {
		t.Errorf("once more: %t %v", ended, err)
	}
}

func TestKillOfWhoDoesNotListen(t *testing.T) {
	p := start(t, "bash", "-c", `trap "" TERM; echo r; while :; do read -t 60 <> <(:); done`)
	id := processes.ID{PID: p.PID, Began: p.Began}
	if ended, err := processes.Kill(t.Context(), id, "TERM", 300*time.Millisecond); ended || err != nil {
		t.Errorf("TERM: %t %v", ended, err)
	}
	if ended, err := processes.Kill(t.Context(), id, "KILL", 10*time.Second); !ended || err != nil {
		t.Errorf("KILL: %t %v", ended, err)
	}
}
