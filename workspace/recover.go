package workspace

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

// Recovered counts what a start found of processes that were killed.
type Recovered struct {
	Finished, Undone int
	// Left is why something could not be dealt with; it is tried again at the next
	// start.
	Left []error
}

// Recover finishes or undoes the changes in which processes were killed, as far as
// they lie in the roots. A change that the history has is finished; one that was a
// single step of the disk stands or not; any other is undone. It is to be called
// before the first call of a tool.
func (w *Workspace) Recover(ctx context.Context) (Recovered, error) {
	var done Recovered
	if w.state.base == "" || !state.HasShared(w.state.base) {
		return done, nil // nothing was ever told
	}
	shared, err := w.state.shared()
	if err != nil {
		return done, err
	}
	// Who looks at an orphan, if only to find that it lies elsewhere, keeps it from
	// others meanwhile: they would not see it at all.
	lock, err := shared.Lock(ctx, "recover")
	if err != nil {
		return done, stateError(err, "look at its locks")
	}
	defer lock.Unlock() //nolint:errcheck // closing the lock file gives it back in any case
	orphans, err := shared.Orphans(journalFolder)
	if err != nil {
		return done, stateError(err, "look at its journals")
	}
	for _, o := range orphans {
		data, err := o.Data()
		if err != nil {
			done.Left = append(done.Left, errors.Join(err, o.Release()))
			continue
		}
		left, others := len(done.Left), false
		for _, u := range parseJournal(data) {
			err := w.repair(ctx, u, &done)
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
	return done, nil
}

// repair deals with one change.
func (w *Workspace) repair(ctx context.Context, u *unfinished, done *Recovered) (err error) {
	r := &repair{ws: w, u: u}
	defer r.close()
	unlock, err := w.lock(ctx, u.names())
	if err != nil {
		return err
	}
	defer unlock() //nolint:errcheck // closing the lock files gives them back in any case
	if _, err := r.spot(u.Home); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if r.h, err = w.state.history(u.Root); err != nil {
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
		if err := a.find(r.spot); err != nil {
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
	ws     *Workspace
	u      *unfinished
	h      *history.History
	opened []fsys.Dir
}

func (r *repair) spot(abs string) (*spot, error) {
	s, err := r.ws.spotAt(abs)
	if err == nil {
		r.opened = append(r.opened, s.dir)
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
		f, _, err = r.ws.Kept(context.Background(), hash)
	}
	return f, err
}

// name is the path of a spot in the history.
func (r *repair) name(s *spot) string {
	if rel, ok := fsys.Below(r.u.Root, s.abs()); ok {
		return rel
	}
	return s.abs()
}

// undo takes back what was done, the last first. Where something else has taken the
// old place since, or the old place is gone, that stays so. A file that holds neither
// what it held nor what was written in place may have been edited since, and goes to
// the history.
func (r *repair) undo(ctx context.Context) error {
	var errs []error
	for _, a := range slices.Backward(r.u.acts) {
		got, err := a.state()
		if err == nil && got == partly && a.Kind == actWrite {
			_, err = r.h.Salvage(ctx, a.to.dir, a.to.name(), r.name(a.to), r.u.Record)
		}
		if err == nil && got != notDone && (a.from == nil || a.from.dir != nil) {
			err = a.undo(r.kept)
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errAppended) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// finish writes the history of a change of one act that was done. Beside it, the
// change can only have made directories.
func (r *repair) finish(ctx context.Context, a *act) error {
	rec := r.u.Record
	i := slices.IndexFunc(rec.Files, func(c Changed) bool { return c.Kind != OpDirectory })
	if i >= 0 {
		list, err := r.finished(ctx, a, rec.Files[i])
		if err != nil {
			return err
		}
		rec.Files = slices.Concat(rec.Files[:i], list, rec.Files[i+1:])
	}
	return r.h.Append(ctx, rec)
}

// finished keeps what has gone from a file, and is what the history says of it.
func (r *repair) finished(ctx context.Context, a *act, file Changed) ([]Changed, error) {
	if file.Before == nil {
		return []Changed{file}, nil
	}
	var gone *spot
	switch a.Kind {
	case actSwap:
		gone = a.from
	case actOver:
		gone = a.backup
	case actMove:
		gone = a.to
	case actWrite: // it was kept before
		before := *file.Before
		before.Kept = true
		file.Before = &before
		return []Changed{file}, nil
	default:
		return []Changed{file}, nil
	}
	k := history.NewKeeper(ctx, r.h)
	if err := k.Tree(gone.dir, gone.name(), file.Path); err != nil {
		return nil, err
	}
	switch file.Kind {
	case OpDelete:
		return k.List, nil
	case OpWrite:
		file.Before = k.List[0].Before
		return []Changed{file}, nil
	}
	file.Before = nil
	return append(k.List, file), nil
}

// sweep removes what the change made for itself. What a program has put in its place
// since, or a former content that could not be put back, goes to the history first.
func (r *repair) sweep(ctx context.Context, committed bool) error {
	for _, abs := range r.u.Temps {
		s, err := r.spot(abs)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the directory is gone
		}
		if err != nil {
			return err
		}
		info, err := s.dir.Stat(s.name())
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !committed && !r.staged(abs, info) {
			if _, err := r.h.Salvage(ctx, s.dir, s.name(), r.former(s), r.u.Record); err != nil {
				return err
			}
		}
		if err := tree.Remove(ctx, s.dir, s.name()); err != nil {
			return err
		}
	}
	if committed {
		return nil
	}
	for _, abs := range slices.Backward(r.u.Dirs) {
		if s, err := r.spot(abs); err == nil {
			s.dir.Remove(s.name()) //nolint:errcheck // what others have put there stays
		}
	}
	return nil
}

// staged tells whether a temporary entry is what the change itself made.
func (r *repair) staged(abs string, info Info) bool {
	for _, a := range r.u.acts {
		if a.From == abs {
			return a.moves(info)
		}
		if a.Backup == abs {
			to, err := a.to.dir.Stat(a.to.name())
			return err == nil && to.Inode == info.Inode
		}
		if a.To == abs {
			return false // what was taken away
		}
	}
	return true // nothing was done yet
}

// former is the path, in the history, of what stands at a temporary name.
func (r *repair) former(s *spot) string {
	for _, a := range r.u.acts {
		switch abs := s.abs(); {
		case a.From == abs:
			return r.name(a.to)
		case a.Backup == abs:
			return r.name(a.to)
		case a.To == abs:
			return r.name(a.from)
		}
	}
	return r.name(s)
}
