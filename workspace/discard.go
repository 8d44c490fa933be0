package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/tree"
)

// discard removes an entry that a change made for itself, if it is there. A former
// content that could not be put back, since a program has put something else in its
// place meanwhile, goes to the history; so does what a program has written to the new one,
// unless it has only appended.
func (t *transaction) discard(ctx context.Context, w *work, s *spot) error {
	info, err := s.dir.Stat(s.name())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ours := len(t.acts) == 0 || s == w.staged && info.Inode == s.info.Inode &&
		(info.Kind == KindDirectory || info.ModTime.Equal(s.info.ModTime) && info.Size == s.info.Size)
	if !ours && info.Links > 1 {
		at, err := w.at.dir.Stat(w.at.name())
		ours = err == nil && at.Inode == info.Inode // actOver had not replaced it
	}
	ours = ours || w.giveBack(s, info)
	if h, prefix, err := t.ws.historyOf(w.at.root); !ours && err == nil {
		id, err := h.Salvage(ctx, s.dir, s.name(), path.Join(prefix, w.at.rel), t.record())
		if err != nil {
			return err
		}
		w.salvaged = append(w.salvaged, id)
	}
	if err := tree.Remove(ctx, s.dir, s.name()); err != nil {
		return &leftError{err}
	}
	return nil
}

// leftError says that a temporary entry could not be removed which nobody needs.
type leftError struct{ err error }

func (e *leftError) Error() string { return fsys.Cause(e.err) }
func (e *leftError) Unwrap() error { return e.err }

func isLeft(err error) bool {
	_, ok := errors.AsType[*leftError](err)
	return ok
}

// giveBack appends to the file of a work what a program has appended to the one at s,
// which was to take its place and does not; it reports whether that was all that the
// program had done to it.
func (w *work) giveBack(s *spot, info Info) bool {
	if s != w.staged || w.op.Kind != OpWrite || info.Inode != s.info.Inode || info.Size <= s.info.Size {
		return false
	}
	now := readOld(s, info)
	if now.Cut || int64(len(now.Data)) < s.info.Size || fsys.HashBytes(now.Data[:s.info.Size]) != w.done.After.Hash {
		return false
	}
	f, _, err := w.at.dir.OpenWrite(w.at.name())
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = fsys.AppendTo(f, now.Data[s.info.Size:])
	return err == nil
}
