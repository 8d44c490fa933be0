package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

func TestOOMKills(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vmstat")
	for text, want := range map[string]int64{"pgfault 7\noom_kill 12\nthp 1\n": 12, "oom_kill 0\n": 0, "pgfault 7\n": -1, "oom_kill x\n": -1} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, known := oomKills(file); known != (want >= 0) || known && n != want {
			t.Errorf("%q: %d, %v", text, n, known)
		}
	}
	if _, known := oomKills(file + ".none"); known {
		t.Error("known without a file")
	}
}

func TestStarvation(t *testing.T) {
	var s starvation
	if s.since() {
		t.Error("starved before anything was looked at")
	}
	s.look(time.Now())
	if s.since() {
		t.Skip("needs: a machine that does not run out of memory just now")
	}
	if s.known {
		s.before--
		if !s.since() {
			t.Error("a kill is not seen")
		}
	}
}

// Only limits that the machine does not undercut are named.
func TestBinding(t *testing.T) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	c := sandboxinit.Command{Memory: 64 << 20, FileSize: 1 << 20, Files: int(files.Max), Processes: 20}
	got := binding(Full, c)
	if got.Files != 0 || got.Memory != c.Memory || got.FileSize != c.FileSize {
		t.Errorf("%+v of %+v", got, c)
	}
	if got := binding(Landlock, c); got.Processes != 0 {
		t.Errorf("%+v without a PID namespace", got)
	}
	if c.Memory = machineMemory() + 1; c.Memory > 1 && binding(Full, c).Memory != 0 {
		t.Error("a limit beyond the memory of the machine")
	}
}

// Where nothing counts the processes of a program, that is said.
func TestCountless(t *testing.T) {
	for _, tc := range []struct {
		level       Level
		limit, user int
		own, want   bool
	}{
		{Full, 20, 0, true, false},
		{Full, 20, 0, false, true},
		{Full, 20, 1000, false, false},
		{Full, -1, 0, false, false},
		{Landlock, 20, 1000, true, true},
		{Landlock, 20, 0, true, true},
		{Landlock, -1, 0, true, false},
	} {
		if got := countlessFor(tc.level, tc.limit, tc.user, tc.own); (got != "") != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
	e := New()
	for limits, want := range map[Limits]bool{{}: true, {Processes: -1}: false} {
		e.Configure(Options{Level: Landlock, Limits: limits})
		if got := e.Countless(); (got != "") != want {
			t.Errorf("%+v: %q", limits, got)
		}
	}
}
