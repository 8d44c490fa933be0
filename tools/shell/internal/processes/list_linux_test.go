package processes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/shell/internal/processes"
)

// A program that is about to become another one has a command line all the same.
func TestListWhileProgramsChange(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte("exec /bin/sh \"$0\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", script)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // it was killed
	defer func() { _ = cmd.Process.Kill() }()
	seen := 0
	for begin := time.Now(); time.Since(begin) < time.Second; {
		all, err := processes.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.PID != cmd.Process.Pid {
				continue
			}
			if seen++; !strings.Contains(p.Command, script) {
				t.Fatalf("the %dth list has it as %q, state %s", seen, p.Command, p.State)
			}
		}
	}
	if seen == 0 {
		t.Error("it was never listed")
	}
}
