package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// A server that outlives its root says so, also where a directory of the same name was
// made since, as a fresh clone makes one.
func TestRootRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	said := func(when string, want ...string) {
		t.Helper()
		for _, name := range []string{".", "a", "a/b"} {
			p, err := ws.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			_, list := p.ReadDir()
			_, open := p.Open()
			for what, err := range map[string]error{"list": list, "open": open} {
				for _, part := range want {
					if name == "." && what == "open" {
						continue // it is a directory in any case
					}
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("%s: %s %s: %v, want %q", when, what, name, err, part)
					}
				}
			}
		}
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	said("removed", "the root "+dir+" has been removed")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	said("made again", "the root "+dir+" has been removed, and what stands there now is another directory")
}
