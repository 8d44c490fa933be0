package history

import "context"

// Query chooses changes.
type Query struct {
	ID string // one change; "" = any
	// Names are absolute. They choose changes of these paths and of paths below them,
	// also those that moved them elsewhere. nil = any.
	Names         []string
	Offset, Limit int // Limit 0 = all
}

// View decides which paths a query shows.
type View interface {
	// All reports whether the view shows all paths of the history of a root.
	All(root string) bool
	// Shows reports whether the view shows an absolute path.
	Shows(name string) bool
}

// Find lists the changes in some histories, the newest first, as far as the view shows
// their files. total counts those that the query chooses without its Offset and Limit.
func Find(ctx context.Context, histories []*History, q Query, view View) (list []Record, total int, err error) {
	most := 0
	if q.Limit > 0 && len(histories) == 1 {
		most = q.Offset + q.Limit
	}
	var found [][]Record // of each history
	for _, h := range histories {
		records, n, err := h.query(ctx, q, view, most)
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

// query finds the records of one history, at most so many where most is not 0, and counts
// all.
func (h *History) query(ctx context.Context, q Query, view View, most int) (list []Record, total int, err error) {
	all := q.Names == nil && view.All(h.Root)
	for line, err := range h.find(ctx, q.ID, q.Names) {
		if err != nil {
			return nil, 0, err
		}
		enough := most > 0 && len(list) >= most
		if enough && all {
			total++
			continue
		}
		rec, err := h.decode(line)
		if err != nil {
			continue // a loss of power tore it
		}
		if rec = rec.shownBy(view); !rec.concerns(q.Names) {
			continue
		}
		total++
		if !enough {
			list = append(list, rec)
		}
		if q.ID != "" {
			break
		}
	}
	return list, total, nil
}

// shownBy leaves out the files that the view does not show.
func (rec Record) shownBy(view View) Record {
	shown := rec
	shown.Files = nil
	for i, c := range rec.Files {
		if !view.Shows(rec.Absolute(i)) {
			shown.Hidden++
			continue
		}
		if !view.Shows(absolutePath(rec.root, c.From)) {
			c.From = ""
		}
		shown.Files = append(shown.Files, c)
	}
	return shown
}

// Absolute returns the path of Files[i] on the host, slash-separated.
func (rec Record) Absolute(i int) string { return absolutePath(rec.root, rec.Files[i].Path) }
