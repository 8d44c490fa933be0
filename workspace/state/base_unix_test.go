//go:build unix

package state_test

import (
	"os"
	"path/filepath"
	"testing"

	"toolcrib/workspace/state"
)

// TestOpenRefusesForeign has a base in a directory where anybody may make names.
func TestOpenRefusesForeign(t *testing.T) {
	public := filepath.Join(t.TempDir(), "public")
	if err := os.Mkdir(public, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(public, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(public, "base")
	if err := os.Mkdir(base, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(base, 0o777); err != nil { // opened to others by mistake
		t.Fatal(err)
	}
	for _, opened := range []func(string) (*state.Dir, error){
		func(base string) (*state.Dir, error) { return state.Open(base, "/root") },
		func(base string) (*state.Dir, error) { return state.Shared(base) },
	} {
		d, err := opened(base)
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
		if info, err := os.Stat(base); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("the base has the mode %v, %v", info.Mode(), err)
		}
		link := filepath.Join(public, "link")
		if err := os.Symlink(base, link); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
		if d, err := opened(link); err == nil {
			t.Errorf("state was opened through a link of anybody, in %s", d.Path())
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("needs: root")
	}
	if err := os.Chown(base, 65534, 65534); err != nil {
		t.Skip("needs: the right to give files away")
	}
	if d, err := state.Open(base, "/root"); err == nil {
		t.Errorf("state was opened in %s, which belongs to another user", d.Path())
	}
}

func TestShared(t *testing.T) {
	base := t.TempDir()
	a, err := state.Shared(base)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := state.Shared(base)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if a.Path() != b.Path() || a.Path() == open(t, base).Path() {
		t.Errorf("shared are %s and %s", a.Path(), b.Path())
	}
	if d, err := state.Shared(filepath.Join(base, "x"), base); err == nil {
		t.Errorf("state was opened in %s, inside a workspace", d.Path())
	}
}
