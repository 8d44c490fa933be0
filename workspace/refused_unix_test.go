//go:build unix

package workspace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// TestDeleteSpecial refuses to delete what no history can keep, but where it lies in
// a tree, of which the receipt tells.
func TestDeleteSpecial(t *testing.T) {
	s := newStage(t, map[string]string{"d/f": "x"}, workspace.Options{})
	check(t, unix.Mkfifo(s.host("d/fifo"), 0o644))
	for _, op := range []workspace.Op{s.op(workspace.OpDelete, "d/fifo", ""), over(s.op(workspace.OpMove, "d/fifo", "d/f"))} {
		_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
		e, ok := errors.AsType[*workspace.Error](err)
		if !ok || e.Rule != workspace.RuleSpecial || e.Hint != "run a command to delete it" {
			t.Errorf("%s: error %#v", op.Kind, err)
		}
	}
	op := s.op(workspace.OpDelete, "d", "")
	op.Recursive = true
	done, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	check(t, err)
	if done.NotKept != "d/fifo is a FIFO, socket or device" {
		t.Errorf("not kept: %q", done.NotKept)
	}
}

// bound skips a test where permissions do not bind the user.
func bound(t *testing.T, s *stage) {
	t.Helper()
	check(t, os.Mkdir(s.host("readonly"), 0o555))
	if os.WriteFile(s.host("readonly/f"), nil, 0o644) == nil {
		t.Skip("needs: a user whom permissions bind")
	}
	check(t, os.Remove(s.host("readonly")))
}

// TestDeleteClosed refuses to delete a tree of which a part could not go, before
// anything is taken.
func TestDeleteClosed(t *testing.T) {
	for _, portable := range []bool{false, true} {
		s := newStage(t, map[string]string{"d/a/f": "x", "d/sub/readonly/f": "x"}, workspace.Options{Portable: portable})
		bound(t, s)
		check(t, os.Chmod(s.host("d/sub/readonly"), 0o555))
		check(t, os.Mkdir(s.host("d/empty"), 0o555)) // which can go
		before := s.tree()
		op := s.op(workspace.OpDelete, "d", "")
		op.Recursive = true
		_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
		if err == nil || err.Error() != "d/sub/readonly: permission denied" {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff(before, s.tree()); diff != "" {
			t.Error(diff)
		}
		check(t, os.Chmod(s.host("d/sub/readonly"), 0o755))
		_, err = s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
		check(t, err)
	}
}

// TestCleanFails has a directory become read-only while its tree is deleted: the next start
// removes the rest, though the history has forgotten the change.
func TestCleanFails(t *testing.T) {
	dir, base := t.TempDir(), t.TempDir()
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: filepath.Join(base, "state")})
	check(t, err)
	s := &stage{ws, t, dir}
	check(t, os.MkdirAll(s.host("d/readonly"), 0o755))
	check(t, os.WriteFile(s.host("d/readonly/f"), []byte("x"), 0o644))
	bound(t, s)
	op := s.op(workspace.OpDelete, "d", "")
	op.Recursive = true
	change := s.meanwhile(func() { check(t, os.Chmod(s.host("d/readonly"), 0o555)) })
	done, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op, change}})
	check(t, err)
	if len(done.Done[0].Notes) != 1 {
		t.Errorf("%+v", done)
	}
	check(t, s.Close())
	var left string
	for name := range s.tree() {
		if strings.HasSuffix(name, "readonly/") {
			left = name
		}
	}
	check(t, os.Chmod(s.host(left), 0o755))
	next, err := workspace.Open([]string{s.dir}, workspace.Options{StateBase: s.StateBase()})
	check(t, err)
	defer next.Close()
	h, err := workspace.HistoryOf(next)
	check(t, err)
	check(t, os.Truncate(h.Folder()+"/log", 0))
	got, err := next.Recover(t.Context())
	if err != nil || got.Finished != 1 || len(got.Left) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"hook": "x"}, s.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestAppendGrowing appends to a large log that another program appends to all the
// time: no line of either is lost.
func TestAppendGrowing(t *testing.T) {
	s := newStage(t, map[string]string{"log": ""}, workspace.Options{NoSync: true})
	const head = 9 << 20
	check(t, os.WriteFile(s.host("log"), bytes.Repeat([]byte("."), head), 0o644))
	f, err := os.OpenFile(s.host("log"), os.O_WRONLY|os.O_APPEND, 0)
	check(t, err)
	stop, written := make(chan struct{}), make(chan int)
	go func() {
		defer f.Close()
		for n := 0; ; n++ {
			select {
			case <-stop:
				written <- n
				return
			default:
				fmt.Fprintf(f, "theirs %d\n", n)
			}
		}
	}()
	const ours = 20
	for n := range ours {
		op := s.op(workspace.OpAppend, "log", "")
		op.Data = fmt.Appendf(nil, "ours %d\n", n)
		if _, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}}); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	theirs := <-written
	data, err := os.ReadFile(s.host("log"))
	check(t, err)
	next := map[string]int{}
	for line := range strings.Lines(string(data[head:])) {
		who, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n != fmt.Sprint(next[who]) {
			t.Fatalf("%q follows %s %d", line, who, next[who]-1)
		}
		next[who]++
	}
	if next["ours"] != ours || next["theirs"] != theirs {
		t.Errorf("%v, want %d and %d", next, ours, theirs)
	}
}

// TestFillInPlace writes large content to a file that cannot be replaced.
func TestFillInPlace(t *testing.T) {
	s := newStage(t, map[string]string{"closed/f": "old"}, workspace.Options{})
	bound(t, s)
	check(t, os.Chmod(s.host("closed"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(s.host("closed"), 0o755) })
	op := s.op(workspace.OpWrite, "closed/f", "")
	op.Fill = func(to io.Writer) error {
		_, err := io.WriteString(to, "new")
		return err
	}
	if _, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}}); err == nil {
		t.Error("it is replaced")
	}
	op.New = func(workspace.Old) ([]byte, error) { return []byte("new"), nil }
	_, err := s.Apply(t.Context(), workspace.Change{Ops: []workspace.Op{op}})
	check(t, err)
	if text, err := os.ReadFile(s.host("closed/f")); string(text) != "new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
