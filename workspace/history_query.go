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
	// Path chooses changes of this path and of paths below it, also those that moved it
	// elsewhere. The zero Path chooses all.
	Path   Path
	ID     string // one change
	Offset int
	Limit  int // 0 = all
}

// historyOf returns the history that has the changes below r, and the path of r below the
// root of that history, "." for that root. Its error is an *[Error] and says why no history
// is kept.
func (w *Workspace) historyOf(r *root) (h *history.History, prefix string, err error) {
	h, err = w.state.History(*r.origin)
	return h, r.prefix, stateError(err)
}

// histories returns those of roots, each once.
func (w *Workspace) histories(roots []*root) ([]*history.History, error) {
	var list []*history.History
	for _, r := range roots {
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

// History lists the changes of the roots, the newest first, with the files that the view
// holds. total counts those that the query chooses without its Offset and Limit.
func (w *Workspace) History(ctx context.Context, q HistoryQuery) (list []Record, total int, err error) {
	if err := w.state.Recorded(ctx); err != nil {
		return nil, 0, err
	}
	histories, err := w.histories(w.roots)
	if err != nil {
		return nil, 0, err
	}
	of := history.Query{ID: q.ID, Names: w.historical(q.Path), Offset: q.Offset, Limit: q.Limit}
	if list, total, err = history.Find(ctx, histories, of, historyView{w}); err != nil {
		return nil, 0, historyError(err)
	}
	return list, total, nil
}

// historyView is the workspace as package history needs it.
type historyView struct{ w *Workspace }

// All reports whether the root of that name is a root of the view, without deny rules.
func (x historyView) All(name string) bool {
	return x.w.deny == nil && slices.ContainsFunc(x.w.roots, func(r *root) bool { return r.canonical == name })
}

// Shows reports whether the view holds a path and no rule denies it.
func (x historyView) Shows(name string) bool {
	_, ok := x.w.shown(name)
	return ok
}

// Historical returns the path of the view for rec.Files[i]; false if the view does not hold
// it. rec comes from [Workspace.History].
func (w *Workspace) Historical(rec Record, i int) (Path, bool) { return w.shown(rec.Absolute(i)) }

// shown returns the path of the view by its name on the host; false if the view does not
// hold it or a rule denies it.
func (w *Workspace) shown(name string) (Path, bool) {
	r, rel := w.locate(name)
	if r == nil || w.denied(r, rel) != nil {
		return Path{}, false
	}
	return Path{view: w, root: r, rel: rel}, true
}

// historical returns the absolute names, free of links, that records may have for a path:
// its own and that of its target. It need not exist.
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
	histories, err := w.histories(w.roots)
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
		Hint: "the history keeps recent contents, within its bounds",
	}
}

// historyError returns an error of the history as an *[Error]; that of a context stays as
// it is.
func historyError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Rule: RuleIO, Msg: "the history cannot be read: " + fsys.Cause(err), Err: err}
}

// Gap returns the known gap in the histories of the roots that was noticed last; nil for
// none. It makes no history for a root without one.
func (w *Workspace) Gap(ctx context.Context) (*Gap, error) {
	var roots []string
	for _, r := range w.roots {
		roots = append(roots, *r.origin)
	}
	found, err := w.state.Gap(ctx, roots)
	return found, historyError(err)
}
