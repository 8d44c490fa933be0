package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/journal"
)

// Recover finishes or undoes the changes in which processes were killed, if they are in the
// roots. It finishes a change that the history has. It keeps a change of a single step as
// it is, done or not, and undoes any other. Call it before the first call of a tool.
func (w *Workspace) Recover(ctx context.Context) (Recovered, error) {
	orphans, unlock, err := w.state.Orphans(ctx)
	if err != nil {
		return Recovered{}, stateError(err)
	}
	defer unlock() //nolint:errcheck // closing the lock file gives it back in any case
	return journal.Repair(ctx, repairing{w}, orphans), nil
}

// repairing is the workspace as package journal needs it.
type repairing struct{ w *Workspace }

// Lock locks canonical host paths.
func (x repairing) Lock(ctx context.Context, names []string) (func() error, error) {
	return x.w.state.Lock(ctx, names)
}

// History opens the history of a root by its canonical name.
func (x repairing) History(root string) (*history.History, error) { return x.w.state.History(root) }

// Kept opens a former content from the history of any root.
func (x repairing) Kept(ctx context.Context, hash string) (io.ReadCloser, error) {
	r, _, err := x.w.Kept(ctx, &Version{Hash: hash})
	return r, err
}

// Open opens the directory of a canonical host path.
func (x repairing) Open(abs string) (*journal.Entry, error) {
	for _, r := range x.w.roots {
		rel, ok := fsys.Below(r.canonical, filepath.ToSlash(abs))
		if !ok || rel == "." {
			continue
		}
		d, err := r.OpenPlainDir(path.Dir(rel))
		if errors.Is(err, fsys.ErrNotDir) || errors.Is(err, fsys.ErrIsLink) {
			err = fs.ErrNotExist
		}
		return &journal.Entry{Abs: path.Join(r.canonical, rel), Dir: d}, err
	}
	return nil, fsys.ErrEscapes
}
