// Package state keeps all that must outlive a call: one directory per root, with databases,
// keys, locks and files in it. It is the only package that opens state, and it never opens
// the user's files.
//
// Several processes share a directory, such as two clients that each started a
// server on one project: everything here is safe between processes.
//
// Start reading at [Open]. The package imports nothing else of toolcrib.
package state

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrNoBase says that no directory for states was given.
var ErrNoBase = errors.New("no state directory is configured")

// Dir is the state of one root. It is safe for use by several goroutines.
type Dir struct {
	path string

	mu     sync.Mutex
	closed bool
	dbs    map[string]*sql.DB
}

// Open opens the state of root, a canonical absolute path, in a directory below base that
// is named by the hash of root; it is made with mode 0700. It refuses a base inside one of
// the directories outside, since tools could read and change its secrets there.
func Open(base, root string, outside ...string) (*Dir, error) {
	d, err := openDir(base, nameOf(root), outside)
	if err != nil {
		return nil, err
	}
	if err := d.remember(root); err != nil {
		return nil, err
	}
	return d, nil
}

// Shared opens the state that all roots and processes share below base, by the rules of
// Open.
func Shared(base string, outside ...string) (*Dir, error) {
	return openDir(base, "shared", outside)
}

func openDir(base, name string, outside []string) (*Dir, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return nil, err
	}
	if dir := Within(base, outside...); dir != "" {
		return nil, fmt.Errorf("the state directory %s is inside the workspace %s", base, dir)
	}
	if err := makePrivate(base, name); err != nil {
		return nil, err
	}
	return &Dir{path: filepath.Join(base, name), dbs: map[string]*sql.DB{}}, nil
}

// Within returns the first of dirs that holds base, by its name or with its links resolved;
// "" if none does. All are absolute.
func Within(base string, dirs ...string) string {
	real := canonical(base)
	for _, dir := range dirs {
		if inside(real, dir) || inside(base, dir) {
			return dir
		}
	}
	return ""
}

// makePrivate makes the directory name of base, or takes an existing one that is not a
// symlink: if others can write to base, a link would lead to a directory of theirs.
func makePrivate(base, name string) error {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return err
	}
	r, err := os.OpenRoot(base)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := refuseForeign(base, r); err != nil {
		return err
	}
	if err := r.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := r.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("the state %s is not a directory; remove it", filepath.Join(base, name))
	}
	// This fails for the directory of another user, and repairs one of ours that
	// was opened to others.
	return r.Chmod(name, 0o700)
}

// remember writes the root into its state, for users who want to know the root of a state.
func (d *Dir) remember(root string) error {
	name := d.file("root")
	if got, err := os.ReadFile(name); err == nil && string(got) == root+"\n" {
		return nil
	}
	return os.WriteFile(name, []byte(root+"\n"), 0o600)
}

// Path returns the directory on the host.
func (d *Dir) Path() string { return d.path }

// Folder opens a directory of the state for files that are no database, made with
// mode 0700. The caller closes it.
func (d *Dir) Folder(name string) (*os.Root, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	path := d.file(folderName(name))
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

func folderName(name string) string { return name + ".d" }

// Close closes the databases.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var errs []error
	for _, db := range d.dbs {
		errs = append(errs, db.Close())
	}
	clear(d.dbs)
	return errors.Join(errs...)
}

func (d *Dir) file(name string) string { return filepath.Join(d.path, name) }

// checkName keeps names of databases, keys, locks and folders to a-z, 0-9 and "_".
func checkName(name string) error {
	rest := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_")
	if name == "" || rest != "" {
		return fmt.Errorf("%q is not the name of a part of the state", name)
	}
	return nil
}

// inside reports whether path is dir or below it.
func inside(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// canonical resolves the symlinks of the part of path that exists.
func canonical(path string) string {
	for dir, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}

// nameOf returns the name of the directory of a root.
func nameOf(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:16])
}

// HasFolder reports whether the state of root, a canonical absolute path, has the folder
// of that name.
func HasFolder(base, root, name string) bool {
	return isDirectory(filepath.Join(base, nameOf(root), folderName(name)))
}

// HasFolder reports whether the directory has the folder of that name.
func (d *Dir) HasFolder(name string) bool {
	return isDirectory(filepath.Join(d.path, folderName(name)))
}

// HasShared reports whether a process has ever used [Shared].
func HasShared(base string) bool { return isDirectory(filepath.Join(base, "shared")) }

func isDirectory(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}
