package harness

import (
	"os"
	"path/filepath"
	"slices"
)

// Scratch makes a directory on the disk of the cache, which is not a tmpfs where
// /tmp may be one, and in it one for the files of a server.
func (e Environment) Scratch(name string) (base, dir string, err error) {
	if base, err = os.MkdirTemp(e.Cache, name+"-"); err != nil {
		return "", "", err
	}
	dir = filepath.Join(base, "files")
	return base, dir, os.Mkdir(dir, 0o755)
}

// Temporary returns a directory of the system's for short use, and how to remove it.
func Temporary(name string) (dir string, remove func(), err error) {
	dir, err = os.MkdirTemp("", name)
	return dir, func() { _ = os.RemoveAll(dir) }, err
}

// Sample is a small workspace.
func Sample() (string, error) {
	dir, err := os.MkdirTemp("", "sample")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello, world\n"), 0o644)
}

// Empty removes what is in a directory, but for some names.
func Empty(dir string, but ...string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if slices.Contains(but, e.Name()) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// WriteTree writes files below a directory, by their names in it.
func WriteTree(dir string, tree map[string]string) error {
	for name, content := range tree {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
