package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"toolcrib/tools/internal/programs/sandbox"
)

// Without one of the namespaces nothing runs: the self-test finds it, where the sandbox can
// be made at all. Those of users, mounts and processes are not left out here: what is done
// in them would be done to this machine.
func TestWithoutNamespace(t *testing.T) {
	for _, tc := range []struct {
		name  string
		flag  uintptr
		wants string
	}{
		{"nothing", 0, ""},
		{"ipc", unix.CLONE_NEWIPC, "a program inside could be in the ipc namespace of the server"},
		{"uts", unix.CLONE_NEWUTS, "a program inside could be in the uts namespace of the server"},
		{"cgroup", unix.CLONE_NEWCGROUP, "a program inside could be in the cgroup namespace of the server"},
		{"net", unix.CLONE_NEWNET, "the private network: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := newBox(t, sandbox.Full)
			b.LeaveOut(tc.flag)
			p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"sh", "-c", "echo ran > ran"}, Dir: b.root})
			if err == nil {
				<-p.Done()
			}
			_, missing := os.Stat(filepath.Join(b.dir, "ran"))
			if tc.flag == 0 {
				if err != nil || missing != nil {
					t.Errorf("with all of them: %v, %v", err, missing)
				}
				return
			}
			refused, ok := errors.AsType[*sandbox.UnavailableError](err)
			if !ok || missing == nil || !strings.Contains(refused.Missing, tc.wants) {
				t.Errorf("%v, want %q and nothing that ran", err, tc.wants)
			}
		})
	}
}
