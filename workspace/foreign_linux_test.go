package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// TestMoveBetweenFileSystems has another program edit a tree while it is copied to
// another file system.
func TestMoveBetweenFileSystems(t *testing.T) {
	other, err := os.MkdirTemp("/dev/shm", "toolcrib-test-")
	if err != nil {
		t.Skip("needs: /dev/shm")
	}
	t.Cleanup(func() { os.RemoveAll(other) })
	large := strings.Repeat("large\n", 40<<20/6)
	s := newStage(t, map[string]string{"d/1": large, "d/2": large, "d/l": "-> 1"}, workspace.Options{})
	if err := os.Rename(s.host("d/l"), filepath.Join(other, "l")); err == nil {
		t.Skip("needs: another file system at /dev/shm")
	}
	ws, err := workspace.Open([]string{s.dir, other}, workspace.Options{StateBase: filepath.Join(t.TempDir(), "state")})
	check(t, err)
	two := &stage{ws, t, s.dir}
	defer ws.Close()
	var edited string // the file that is being copied
	stop, ended := make(chan struct{}), make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				ended <- false
				return
			default:
			}
			if found, _ := filepath.Glob(filepath.Join(other, ".toolcrib-*", "*")); len(found) > 0 {
				edited = filepath.Base(found[0])
				f, err := os.OpenFile(s.host("d/"+edited), os.O_WRONLY|os.O_APPEND, 0)
				if err == nil {
					_, err = f.WriteString("theirs")
					f.Close()
				}
				ended <- err == nil
				return
			}
		}
	}()
	op := two.op(workspace.OpMove, filepath.Join(other, "d"), "d")
	_, err = two.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	check(t, err)
	close(stop)
	if !<-ended {
		t.Skip("needs: a machine that is not too busy to edit a file while another is copied")
	}
	data, err := os.ReadFile(filepath.Join(other, "d", edited))
	check(t, err)
	if !strings.HasSuffix(string(data), "theirs") {
		t.Errorf("what was moved lacks the edit of %s", edited)
	}
	if diff := cmp.Diff(map[string]string{}, s.tree()); diff != "" {
		t.Error(diff)
	}
}
