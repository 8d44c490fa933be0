package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"

	"toolcrib/workspace/internal/fsys"
	"toolcrib/workspace/internal/history"
)

// HistoryQuery chooses changes.
type HistoryQuery struct {
	// Path, if it is one, chooses changes of it and of what lies below it, also
	// those that moved it elsewhere.
	Path   Path
	ID     string // one change
	Offset int
	Limit  int // 0 = all
}

// historyOf returns the history that holds the changes below r, and the path of r
// below the root of that history, "." if it is that. Its error is an *[Error] and
// says why nothing can be kept.
func (w *Workspace) historyOf(r *root) (h *history.History, prefix string, err error) {
	h, err = w.state.history(r.origin)
	return h, r.prefix, err
}

// histories returns those of all roots of the view.
func (w *Workspace) histories() ([]*history.History, error) {
	var list []*history.History
	for _, r := range w.roots {
		h, _, err := w.historyOf(r)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list, nil
}

// History lists the changes of the roots, the newest first, as far as the view
// holds their files. total counts those that the query chooses without its Offset
// and Limit.
func (w *Workspace) History(ctx context.Context, q HistoryQuery) (list []Record, total int, err error) {
	if err := w.state.recorded(ctx); err != nil {
		return nil, 0, err
	}
	histories, err := w.histories()
	if err != nil {
		return nil, 0, err
	}
	names := w.historical(q.Path)
	most := 0
	if q.Limit > 0 && len(histories) == 1 {
		most = q.Offset + q.Limit
	}
	var found [][]Record // of each history
	for _, h := range histories {
		records, n, err := w.query(ctx, h, q.ID, names, most)
		if err != nil {
			return nil, 0, err
		}
		found = append(found, records)
		total = n
	}
	if list = history.NewestFirst(found); len(histories) > 1 {
		total = len(list)
	}
	list = list[min(q.Offset, len(list)):]
	if q.Limit > 0 {
		list = list[:min(q.Limit, len(list))]
	}
	return list, total, nil
}

// query finds the records of one history, at most so many where most is not 0,
// and counts all. names are absolute; with none, every record is chosen.
func (w *Workspace) query(ctx context.Context, h *history.History, id string, names []string, most int) (list []Record, total int, err error) {
	all := names == nil && w.deny == nil && w.holds(h.Root)
	for line, err := range h.Find(ctx, id, names) {
		if err != nil {
			return nil, 0, historyError(err)
		}
		enough := most > 0 && len(list) >= most
		if enough && all {
			total++
			continue
		}
		rec, err := h.Decode(line)
		if err != nil {
			continue // a loss of power tore it
		}
		if rec = w.visible(rec); !rec.Concerns(names) {
			continue
		}
		total++
		if !enough {
			list = append(list, rec)
		}
		if id != "" {
			break
		}
	}
	return list, total, nil
}

// holds reports whether a root of the view is the whole root of that name.
func (w *Workspace) holds(name string) bool {
	return slices.ContainsFunc(w.roots, func(r *root) bool { return r.canonical == name })
}

// visible leaves out what the view does not hold.
func (w *Workspace) visible(rec Record) Record {
	files := rec.Files
	rec.Files = nil
	for _, c := range files {
		if _, ok := w.pathOf(rec.Root(), c.Path); !ok {
			rec.Hidden++
			continue
		}
		if _, ok := w.pathOf(rec.Root(), c.From); !ok {
			c.From = ""
		}
		rec.Files = append(rec.Files, c)
	}
	return rec
}

// Historical returns the path of the view that rec.Files[i] is about; false where
// the view does not hold it. rec comes from [Workspace.History].
func (w *Workspace) Historical(rec Record, i int) (Path, bool) {
	return w.pathOf(rec.Root(), rec.Files[i].Path)
}

func (w *Workspace) pathOf(root, name string) (Path, bool) {
	if name == "" {
		return Path{}, false
	}
	r, rel := w.locate(history.AbsolutePath(root, name))
	if r == nil || w.denied(r, rel) != nil {
		return Path{}, false
	}
	return Path{view: w, root: r, rel: rel}, true
}

// historical returns the absolute names, free of links, that records may have for
// a path: its own and that of its target. It need not exist.
func (w *Workspace) historical(p Path) []string {
	if p.root == nil {
		return nil
	}
	var names []string
	for _, last := range []bool{false, true} {
		r, rel, err := w.settle(p.root, path.Clean(p.rel), last)
		if err != nil {
			r, rel = p.root, p.rel
		}
		if name := path.Join(r.canonical, rel); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Kept opens a former content; RuleNotFound where it is not kept.
func (w *Workspace) Kept(ctx context.Context, v *Version) (io.ReadCloser, int64, error) {
	histories, err := w.histories()
	if err != nil {
		return nil, 0, err
	}
	for _, h := range histories {
		r, size, err := h.OpenVersion(ctx, v)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, historyError(err)
		}
		return r, size, nil
	}
	return nil, 0, &Error{
		Rule: RuleNotFound, Msg: "the content " + fsys.Show(v.Hash) + " is not kept",
		Hint: "the history keeps what was changed lately, as far as its bounds allow",
	}
}

// historyError words an error of the history.
func historyError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Rule: RuleIO, Msg: "the history cannot be read: " + fsys.Cause(err), Err: err}
}

// Gap returns what is known to be missing of the histories of the roots; nil where
// nothing is. Where a root has no history yet, none is made.
func (w *Workspace) Gap(ctx context.Context) (*Gap, error) {
	var found *Gap
	for _, r := range w.roots {
		if !w.state.hasHistory(r.origin) {
			continue
		}
		h, _, err := w.historyOf(r)
		if err != nil {
			return nil, err
		}
		g, err := h.Gap(ctx)
		if err != nil {
			return nil, historyError(err)
		}
		if g != nil && (found == nil || g.Noticed.After(found.Noticed)) {
			found = g
		}
	}
	return found, nil
}
