package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
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
func (w *Workspace) historyOf(r *root) (h *history, prefix string, err error) {
	h, err = w.state.history(r.origin)
	return h, r.prefix, err
}

// histories returns those of all roots of the view.
func (w *Workspace) histories() ([]*history, error) {
	var list []*history
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
	if list = newestFirst(found); len(histories) > 1 {
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
func (w *Workspace) query(ctx context.Context, h *history, id string, names []string, most int) (list []Record, total int, err error) {
	start := []byte(anyRecord)
	if id != "" {
		start = recordStart(id)
	}
	needles := h.needles(names)
	all := names == nil && w.guard == nil && w.holds(h.root)
	for line, err := range h.lines() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, 0, historyError(err)
		}
		if !bytes.HasPrefix(line.text, start) || !containsAny(line.text, needles) {
			continue
		}
		enough := most > 0 && len(list) >= most
		if enough && all {
			total++
			continue
		}
		rec, err := decodeRecord(line.text)
		if err != nil {
			continue // a loss of power tore it
		}
		rec.root = h.root
		if rec = w.visible(rec); !rec.concerns(names) {
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

// needles returns what the line of every record holds that concerns one of the
// names; nil says that any may.
func (h *history) needles(names []string) [][]byte {
	var list [][]byte
	for _, name := range names {
		if rel, ok := below(h.root, name); ok {
			name = rel
		}
		if _, ok := below(name, h.root); ok || name == "." {
			return nil
		}
		text, err := json.Marshal(packName(name))
		if err != nil || strings.HasPrefix(packName(name), packed) {
			return nil
		}
		list = append(list, text[1:len(text)-1])
	}
	return list
}

func containsAny(text []byte, needles [][]byte) bool {
	return needles == nil || slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(text, n) })
}

// visible leaves out what the view does not hold.
func (w *Workspace) visible(rec Record) Record {
	files := rec.Files
	rec.Files = nil
	for _, c := range files {
		if _, ok := w.pathOf(rec.root, c.Path); !ok {
			rec.Hidden++
			continue
		}
		if _, ok := w.pathOf(rec.root, c.From); !ok {
			c.From = ""
		}
		rec.Files = append(rec.Files, c)
	}
	return rec
}

// concerns reports whether a record is about one of the names or what lies below
// them; with none, whether it is about anything.
func (rec Record) concerns(names []string) bool {
	if names == nil {
		return len(rec.Files) > 0
	}
	return slices.ContainsFunc(rec.Files, func(c Changed) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			_, ok := below(name, absolute(rec.root, c.Path))
			if !ok && c.From != "" {
				_, ok = below(name, absolute(rec.root, c.From))
			}
			return ok
		})
	})
}

// absolute is the host path of a path of a record, slash-separated.
func absolute(root, name string) string {
	if filepath.IsAbs(filepath.FromSlash(name)) {
		return name
	}
	return path.Join(root, name)
}

// Historical returns the path of the view that rec.Files[i] is about; false where
// the view does not hold it. rec comes from [Workspace.History].
func (w *Workspace) Historical(rec Record, i int) (Path, bool) {
	return w.pathOf(rec.root, rec.Files[i].Path)
}

func (w *Workspace) pathOf(root, name string) (Path, bool) {
	if name == "" {
		return Path{}, false
	}
	r, rel := w.locate(absolute(root, name))
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

// newestFirst merges lists that are each in order. A change of several roots is in
// the list of each, and once in the result.
func newestFirst(lists [][]Record) []Record {
	var merged []Record
	seen := map[string]bool{}
	for {
		newest := -1
		for i, l := range lists {
			if len(l) > 0 && (newest < 0 || l[0].Time.After(lists[newest][0].Time)) {
				newest = i
			}
		}
		if newest < 0 {
			return merged
		}
		if rec := lists[newest][0]; !seen[rec.ID] {
			seen[rec.ID] = true
			merged = append(merged, rec)
		}
		lists[newest] = lists[newest][1:]
	}
}

// Kept opens a former content by its hash; RuleNotFound where it is not kept.
func (w *Workspace) Kept(ctx context.Context, hash string) (io.ReadCloser, int64, error) {
	histories, err := w.histories()
	if err != nil {
		return nil, 0, err
	}
	for _, h := range histories {
		r, size, err := h.open(ctx, hash)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, historyError(err)
		}
		return r, size, nil
	}
	return nil, 0, &Error{
		Rule: RuleNotFound, Msg: "the content " + show(hash) + " is not kept",
		Hint: "the history keeps what was changed lately, as far as its bounds allow",
	}
}

// historyError words an error of the history.
func historyError(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{Rule: RuleIO, Msg: "the history cannot be read: " + cause(err), Err: err}
}
