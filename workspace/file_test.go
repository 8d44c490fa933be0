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
