package journal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/tree"
	"toolcrib/workspace/state"
)

// Recovered counts the changes of killed processes that a start finished or undid.
type Recovered struct {
	Finished, Undone int
	// Left has the reasons why changes could not be repaired. The next start tries again.
	Left []error
}

// Roots gives [Repair] access to the roots.
type Roots interface {
	// Lock locks canonical host paths.
	Lock(ctx context.Context, names []string) (unlock func() error, err error)
	// Open opens the directory of a canonical host path. The error is [fsys.ErrEscapes] if
	// the path is in no root. If the directory does not exist, the error is
	// [fs.ErrNotExist], with an entry whose Dir is nil.
	Open(abs string) (*Entry, error)
	// History opens the history of a root by its canonical name.
	History(root string) (*history.History, error)
	// Kept opens a former content from the history of any root.
	Kept(ctx context.Context, hash string) (io.ReadCloser, error)
}

// Repair finishes or undoes the changes in the journals of dead processes, as far as they
// are in the roots. The caller holds the lock that keeps the orphans from other processes.
func Repair(ctx context.Context, roots Roots, orphans []*state.Orphan) (done Recovered) {
	for _, o := range orphans {
		data, err := o.Data()
		if err != nil {
			done.Left = append(done.Left, errors.Join(err, o.Release()))
			continue
		}
		left, others := len(done.Left), false
		for _, u := range parseJournal(data) {
			err := repairOne(ctx, roots, u, &done)
			if err == nil {
				err = o.Append(endLine(u.Change)) // so that nobody repairs it twice
			}
			if errors.Is(err, fsys.ErrEscapes) {
				others = true
			} else if err != nil {
				done.Left = append(done.Left, err)
			}
		}
		if others || len(done.Left) > left {
			err = o.Release()
		} else {
			err = o.Remove()
		}
		if err != nil {
			done.Left = append(done.Left, err)
		}
	}
	return done
}

// repairOne finishes or undoes one change.
func repairOne(ctx context.Context, roots Roots, u *unfinished, done *Recovered) (err error) {
	r := &repair{roots: roots, u: u}
	defer r.close()
	unlock, err := roots.Lock(ctx, u.names())
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // closing the lock files gives them back in any case
	if _, err := r.open(u.Home); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.h, err = roots.History(u.Root); err != nil {
		return err
	}
	committed := u.committed
	if !committed {
		if committed, err = r.h.HasSince(u.Change, u.Log); err != nil {
			return err
		}
	}
	if committed {
		if err := r.sweep(ctx, true); err != nil {
			return err
		}
		done.Finished++
		return nil
	}
	for _, a := range u.acts {
		if err := a.find(r.open); err != nil {
			return err
		}
	}
	if len(u.acts) == 1 {
		got, err := u.acts[0].state()
		if err != nil {
			return err
		}
		if got == allDone {
			if err := r.finish(ctx, u.acts[0]); err != nil {
				return err
			}
			if err := u.acts[0].settle(); err != nil {
				return err
			}
			if err := r.sweep(ctx, true); err != nil {
				return err
			}
			done.Finished++
			return nil
		}
	}
	if err := r.undo(ctx); err != nil {
		return err
	}
	if err := r.sweep(ctx, false); err != nil {
		return err
	}
	done.Undone++
	return nil
}

// repair is the work on one change of a dead process.
type repair struct {
	roots  Roots
	u      *unfinished
	h      *history.History
	opened []fsys.Dir
}

func (r *repair) open(abs string) (*Entry, error) {
	s, err := r.roots.Open(abs)
	if err == nil {
		r.opened = append(r.opened, s.Dir)
	}
	return s, err
}

func (r *repair) close() {
	for _, d := range r.opened {
		d.Close()
	}
}

// kept opens a former content, which may be in the history of another root.
func (r *repair) kept(hash string) (io.ReadCloser, error) {
	f, _, err := r.h.Open(context.Background(), hash)
	if errors.Is(err, fs.ErrNotExist) {
		return r.roots.Kept(context.Background(), hash)
	}
	return f, err
}

// name is the path of an entry in the history.
func (r *repair) name(s *Entry) string {
	if rel, ok := fsys.Below(r.u.Root, s.Abs); ok {
		return rel
	}
	return s.Abs
}

// undo undoes the steps, the last first. It leaves an old name alone if another entry has it
// by now, or if its directory is gone. A file with neither its former content nor the one
// that was written in place may have been edited since: the history gets it.
func (r *repair) undo(ctx context.Context) error {
	var errs []error
	for _, a := range slices.Backward(r.u.acts) {
		got, err := a.state()
		if err == nil && got == partly && a.Kind == Write {
			_, err = r.h.Salvage(ctx, a.Target.Dir, a.Target.Name(), r.name(a.Target), r.u.Record)
		}
		if err == nil && got != notDone && (a.Source == nil || a.Source.Dir != nil) {
			err = a.undo(r.kept)
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errAppended) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// finish writes the history of a change whose one act was done. Besides that act, the change
// can only have made directories.
func (r *repair) finish(ctx context.Context, a *Act) error {
	rec := r.u.Record
	i := slices.IndexFunc(rec.Files, func(c history.Changed) bool { return c.Kind != history.OpDirectory })
	if i >= 0 {
		list, err := r.finished(ctx, a, rec.Files[i])
		if err != nil {
			return err
		}
		rec.Files = slices.Concat(rec.Files[:i], list, rec.Files[i+1:])
	}
	return r.h.Append(ctx, rec)
}

// finished keeps the former content of a file, and returns its entry for the history.
func (r *repair) finished(ctx context.Context, a *Act, file history.Changed) ([]history.Changed, error) {
	if file.Before == nil {
		return []history.Changed{file}, nil
	}
	var gone *Entry
	switch a.Kind {
	case Swap:
		gone = a.Source
	case Over:
		gone = a.Spare
	case Move:
		gone = a.Target
	case Write: // it was kept before
		before := *file.Before
		before.Kept = true
		file.Before = &before
		return []history.Changed{file}, nil
	default:
		return []history.Changed{file}, nil
	}
	k := history.NewArchiver(ctx, r.h)
	if err := k.Tree(gone.Dir, gone.Name(), file.Path); err != nil {
		return nil, err
	}
	switch file.Kind {
	case history.OpDelete:
		return k.List, nil
	case history.OpWrite:
		file.Before = k.List[0].Before
		return []history.Changed{file}, nil
	}
	file.Before = nil
	return append(k.List, file), nil
}

// sweep removes the temporary entries of the change. The history first gets an entry that
// another program has put there since, and a former content that could not go back.
func (r *repair) sweep(ctx context.Context, committed bool) error {
	for _, abs := range r.u.Temps {
		s, err := r.open(abs)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the directory is gone
		}
		if err != nil {
			return err
		}
		info, err := s.Dir.Stat(s.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !committed && !r.staged(abs, info) {
			if _, err := r.h.Salvage(ctx, s.Dir, s.Name(), r.former(s), r.u.Record); err != nil {
				return err
			}
		}
		if err := tree.Remove(ctx, s.Dir, s.Name()); err != nil {
			return err
		}
	}
	if committed {
		return nil
	}
	for _, abs := range slices.Backward(r.u.Dirs) {
		if s, err := r.open(abs); err == nil {
			s.Dir.Remove(s.Name()) //nolint:errcheck // a directory with the entries of others stays
		}
	}
	return nil
}

// staged reports whether the change itself made a temporary entry.
func (r *repair) staged(abs string, info fsys.Info) bool {
	for _, a := range r.u.acts {
		if a.From == abs {
			return a.moves(info)
		}
		if a.Backup == abs {
			to, err := a.Target.Dir.Stat(a.Target.Name())
			return err == nil && to.Inode == info.Inode
		}
		if a.To == abs {
			return false // it was replaced or deleted
		}
	}
	return true // nothing was done yet
}

// former returns the path, in the history, of the entry at a temporary name.
func (r *repair) former(s *Entry) string {
	for _, a := range r.u.acts {
		switch abs := s.Abs; {
		case a.From == abs:
			return r.name(a.Target)
		case a.Backup == abs:
			return r.name(a.Target)
		case a.To == abs:
			return r.name(a.Source)
		}
	}
	return r.name(s)
}
