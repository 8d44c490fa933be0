package search_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// refused is a call with the error that it gets.
type refused struct {
	args       string
	code       tools.Code
	want, hint string
}

// refuses checks the errors of calls.
func refuses(t *testing.T, name string, list []refused) {
	t.Helper()
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n", "dir/b.txt": "x\n"})
	for _, tt := range list {
		_, err := tooltest.Call(t.Context(), ws, tool(t, name), json.RawMessage(tt.args))
		e := tools.AsError(err)
		if e == nil || e.Code != tt.code || !strings.Contains(e.Msg, tt.want) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: %v; want %s: %s, hint with %q", tt.args, err, tt.code, tt.want, tt.hint)
		}
	}
}

// finds checks the texts of calls: one that finds nothing and one whose page is past the end
// differ.
func finds(t *testing.T, name string, calls [][2]string) {
	t.Helper()
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "x\n", "b.txt": "x\n", "c.bin": "x\x00"})
	for _, c := range calls {
		result, err := tooltest.Call(t.Context(), ws, tool(t, name), json.RawMessage(c[0]))
		if err != nil {
			t.Fatal(err)
		}
		if got := tooltest.Text(result); got != c[1] {
			t.Errorf("%s:\ngot  %swant %s", c[0], got, c[1])
		}
	}
}

// unreadable checks that a search says of a directory that it could not be read.
func unreadable(t *testing.T, name string, args map[string]any) {
	t.Helper()
	if os.Geteuid() == 0 {
		t.Skip("needs: a user whom permissions bind")
	}
	ws, dir := tooltest.Tree(t, map[string]string{"b.txt": "x\n"})
	locked := filepath.Join(dir, "locked")
	if err := os.Mkdir(locked, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
	if got := call(t, ws, name, args); !strings.HasSuffix(got, "1 path could not be read (permission denied): locked\n") {
		t.Errorf("it says %s", got)
	}
}
