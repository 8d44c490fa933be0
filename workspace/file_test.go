package workspace_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// TestFileErrors reads where there is nothing to read: but for the end of the file,
// the errors are the workspace's own and without the host path.
func TestFileErrors(t *testing.T) {
	tr := newTree(t)
	backends(t, func(t *testing.T, opt workspace.Options) {
		p, err := tr.open(t, opt, "ws").Resolve("./sub/../f")
		if err != nil {
			t.Fatal(err)
		}
		f, err := p.Open()
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, err error) {
			t.Helper()
			e, ok := errors.AsType[*workspace.Error](err)
			if !ok || e.Rule != workspace.RuleIO || e.Path != "./sub/../f" || !strings.HasPrefix(e.Msg, "./sub/../f: ") || strings.Contains(e.Msg, tr.base) {
				t.Errorf("%s: %T %v", what, err, err)
			}
		}
		b := make([]byte, 100)
		n, err := f.ReadAt(b, 2)
		if n != len("inside")-2 || err != io.EOF {
			t.Errorf("ReadAt: %d, %v", n, err)
		}
		if all, err := io.ReadAll(f); string(all) != "inside" || err != nil {
			t.Errorf("ReadAll: %q, %v", all, err)
		}
		_, err = f.ReadAt(b, -1)
		check("ReadAt -1", err)
		_, err = f.Seek(-1, io.SeekStart)
		check("Seek -1", err)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = f.Read(b)
		check("Read of a closed file", err)
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("the cause is lost: %v", err)
		}
		_, err = io.Copy(new(bytes.Buffer), f)
		check("Copy of a closed file", err)
		check("Close of a closed file", f.Close())
	})
}

// TestFileClosed reads a closed file whose number the system may have given to another.
func TestFileClosed(t *testing.T) {
	tr := newTree(t)
	tr.write(t, "ws/other", "not this")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		open := func(name string) workspace.File {
			t.Helper()
			p, err := w.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			f, err := p.Open()
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		closed := open("f")
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
		other := open("other")
		defer other.Close()
		b := make([]byte, 100)
		for name, use := range map[string]func() (int, error){
			"Read":   func() (int, error) { return closed.Read(b) },
			"ReadAt": func() (int, error) { return closed.ReadAt(b, 0) },
			"Seek":   func() (int, error) { n, err := closed.Seek(3, io.SeekStart); return int(n), err },
			"Close":  func() (int, error) { return 0, closed.Close() },
		} {
			if n, err := use(); n != 0 || !errors.Is(err, os.ErrClosed) {
				t.Errorf("%s of a closed file: %d, %v", name, n, err)
			}
		}
		if n, err := other.Read(nil); n != 0 || err != nil {
			t.Errorf("a read of nothing: %d, %v", n, err)
		}
		if all, err := io.ReadAll(other); string(all) != "not this" || err != nil {
			t.Errorf("the other file has %q, %v", all, err)
		}
	})
}
