package workspace

import (
	"context"
	"io/fs"
	"os"
	"time"
)

// Dir is a dir for tests: by it the primitives are tested that changes are made of.
type Dir struct{ d dir }

// TestDir opens a directory of the first root.
func (w *Workspace) TestDir(rel string) (Dir, error) {
	d, err := w.roots[0].openDir(rel)
	return Dir{d}, err
}

func (d Dir) Create(name string, perm fs.FileMode) (*os.File, error) { return d.d.create(name, perm) }
func (d Dir) OpenWrite(name string) (*os.File, Info, error)          { return d.d.openWrite(name) }
func (d Dir) Writable(name string) error                             { return d.d.writable(name) }
func (d Dir) Mkdir(name string, perm fs.FileMode) error              { return d.d.mkdir(name, perm) }
func (d Dir) Symlink(target, name string) error                      { return d.d.symlink(target, name) }
func (d Dir) Remove(name string) error                               { return d.d.remove(name) }
func (d Dir) Move(name string, to Dir, as string) error              { return d.d.move(name, to.d, as) }
func (d Dir) Replace(name string, to Dir, as string) error           { return d.d.replace(name, to.d, as) }
func (d Dir) Exchange(name string, to Dir, as string) error          { return d.d.exchange(name, to.d, as) }
func (d Dir) Chmod(name string, perm fs.FileMode) error              { return d.d.chmod(name, perm) }
func (d Dir) Chtimes(name string, when time.Time) error              { return d.d.chtimes(name, when) }
func (d Dir) Mounted(name string) (bool, error)                      { return d.d.mounted(name) }
func (d Dir) Sync() error                                            { return d.d.sync() }
func (d Dir) Self() (*os.File, error)                                { return d.d.self() }
func (d Dir) Close() error                                           { return d.d.close() }

func (d Dir) Open(name string) (Dir, error) {
	sub, err := d.d.open(name)
	return Dir{sub}, err
}

// MoveBySteps is Move on a system that has no rename which never replaces.
func (d Dir) MoveBySteps(name string, to Dir, as string) error {
	return moveBySteps(d.d.(stepper), name, to.d, as)
}

// TreeSize is what countTree answers.
type TreeSize struct {
	Files            int
	Bytes            int64
	Special, Mounted string
}

func (d Dir) CountTree(ctx context.Context, name string) (TreeSize, error) {
	size, err := countTree(ctx, d.d, name)
	return TreeSize{size.files, size.bytes, size.special, size.mounted}, err
}

func (d Dir) RemoveTree(ctx context.Context, name string) error { return removeTree(ctx, d.d, name) }
func (d Dir) SyncTree(ctx context.Context, name string) error   { return syncTree(ctx, d.d, name) }

func (d Dir) CopyTree(ctx context.Context, name string, to Dir, as string) (lost []string, err error) {
	c, err := copyTree(ctx, d.d, name, to.d, as, false)
	return c.lost, err
}

// TreeErrorPath is the path that an error of a tree names.
func TreeErrorPath(err error) string {
	e, ok := err.(*treeError) //nolint:errorlint // it must not be wrapped
	if !ok {
		return ""
	}
	return e.rel
}

// What is tested as it is.
var (
	KeepAttributes = keepAttributes
	TempName       = tempName
	NewTempName    = newTempName

	ErrIsLink  = errIsLink
	ErrIsDir   = errIsDir
	ErrSpecial = errSpecial
	ErrMounted = errMounted
	ErrName    = errName
)
