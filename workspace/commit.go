package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
	"toolcrib/workspace/internal/tree"
)

// commit writes the change into the history of the root of the first operation. With that
// the change has happened: the next start undoes a change that this history lacks. The
// histories of other roots get it afterwards, so that none ever has a change that was
// undone; if one cannot be written, it lacks the change.
func (t *transaction) commit() error {
	if t.journal == nil {
		return nil
	}
	ctx := context.WithoutCancel(t.ctx)
	histories, err := t.histories()
	if err != nil {
		return err
	}
	for i, h := range histories {
		err := t.enter(ctx, h)
		switch {
		case err != nil && i == 0:
			return t.ws.stateFailed(ctx, err)
		case err != nil:
			t.notKept = "the history of " + fsys.Show(h.Root) + " could not be written: " + fsys.Cause(err)
		}
	}
	return nil
}

// histories returns those of all roots that the change touched, the first operation's first.
func (t *transaction) histories() ([]*history.History, error) {
	var roots []*root
	for i, w := range t.works {
		for _, s := range []*spot{w.at, w.from} {
			if s != nil && (!w.same || i == 0) {
				roots = append(roots, s.root)
			}
		}
	}
	return t.ws.histories(roots)
}

// enter writes the change into one history. A change whose record is in the log has
// happened, even if a later step fails.
func (t *transaction) enter(ctx context.Context, h *history.History) error {
	rec := t.record()
	rec.Files = t.files(h)
	err := h.Append(ctx, rec)
	if err == nil && t.durable() && len(t.acts) > 1 {
		err = h.Sync()
	}
	if err == nil {
		return nil
	}
	if written, e := h.Has(t.id); e != nil || !written {
		return err
	}
	t.unsure = err
	return nil
}

// record returns the record of the change without its files.
func (t *transaction) record() Record {
	c := t.change
	return Record{ID: t.id, Time: time.Now().UTC().Truncate(time.Microsecond), Tool: c.Tool, Principal: c.Principal, Client: c.Client, Call: c.Call, Group: c.Group, Undoes: c.Undoes, Partly: c.Partly}
}

// files lists the effects of the change by the paths of h.
func (t *transaction) files(h *history.History) []Changed {
	var list []Changed
	for _, s := range t.made {
		list = append(list, Changed{Kind: OpDirectory, Path: t.nameIn(h, s), After: &Version{Kind: KindDirectory}})
	}
	for _, w := range t.works {
		if !w.same && (w.op.Kind != OpDirectory || w.done.Before != nil) {
			list = append(list, t.filesOf(h, w)...)
		}
	}
	return list
}

// foreseen lists the effects for the history of the first operation, before they happen.
func (t *transaction) foreseen(h *history.History) []Changed {
	var list []Changed
	for _, w := range t.works {
		for _, s := range w.at.toMake() {
			list = append(list, Changed{Kind: OpDirectory, Path: t.nameIn(h, s), After: &Version{Kind: KindDirectory}})
		}
		if w.same {
			continue
		}
		c := Changed{Kind: w.op.Kind, Path: t.nameIn(h, w.at), Before: w.done.Before, After: w.done.After}
		if w.from != nil {
			c.From = t.nameIn(h, w.from)
		}
		list = append(list, c)
	}
	return list
}

func (t *transaction) filesOf(h *history.History, w *work) []Changed {
	c := Changed{Kind: w.op.Kind, Path: t.nameIn(h, w.at), After: w.done.After}
	switch {
	case w.op.Kind == OpDelete:
		return w.kept
	case (w.op.Kind == OpWrite || w.op.Kind == OpAppend) && w.from == nil:
		if len(w.kept) > 0 {
			c.Before = w.kept[0].Before
		}
		return []Changed{c}
	case w.op.Kind == OpMove, w.op.Kind == OpCopy:
		c.From = t.nameIn(h, w.from)
	case w.op.Kind == OpDirectory:
		if c.Before = w.done.Before; w.at.info.Kind == KindFile {
			c.Kind = OpWrite
		}
	}
	return append(slices.Clip(w.kept), c)
}

// nameIn returns the path of a spot for a history: below the root of the history, or
// absolute if the spot is in another root.
func (t *transaction) nameIn(h *history.History, s *spot) string {
	if of, _, err := t.ws.historyOf(s.root); err != nil || of != h {
		return s.abs()
	}
	return path.Join(s.root.prefix, s.rel)
}

// clean removes the entries that the change has replaced or deleted. The next start tries
// again to remove those that are left.
func (t *transaction) clean() {
	ctx := context.WithoutCancel(t.ctx)
	var errs []error
	for _, w := range t.works {
		for _, s := range []*spot{w.staged, w.backup} {
			if s == nil {
				continue
			}
			err := tree.Remove(ctx, s.dir, s.name())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
				w.note("its former content could not be removed from %s: %s", fsys.Show(Path{view: t.ws, root: s.root, rel: s.rel}.String()), fsys.Cause(err))
			}
		}
	}
	switch {
	case t.journal == nil:
	case len(errs) == 0:
		t.journal.End(t.id) //nolint:errcheck // the next start finds nothing left to do
	default:
		// The history may have forgotten the change by then.
		if err := t.journal.Committed(t.id); err != nil && t.unsure == nil {
			t.unsure = err
		}
	}
}
