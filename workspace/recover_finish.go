package workspace

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/tree"
)

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
