package textedit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	// never is the cost of an impossible place.
	never = math.MaxInt / 4
	// shared is the cost of two chunks that share lines, as context of one and part of the
	// other: any other choice of places costs less.
	shared = 1 << 24
)

// assign leaves each chunk one place, or returns the first chunk with several or no places,
// and why.
//
// Chunks keep the order of the file. The best assignment is the one in which the fewest
// chunks drift differently from the chunk before: lines that were added or removed in the
// file move all later chunks by their number. A chunk that seems to belong to the end of
// the file and is elsewhere counts as one more. Of equally good assignments the headings
// decide, and then how far all chunks have moved together.
func (s *session) assign(all []*wanted) (int, error) {
	spread(all, len(s.lines))
	if i := narrow(all); i >= 0 {
		return s.unordered(all, i)
	}
	for i := range all {
		if len(all[i].places) == 1 {
			continue
		}
		if headed := s.headed(all[i]); len(headed) == 1 {
			all[i].places = headed
			narrow(all)
		}
	}
	together(all)
	for i, w := range all {
		if len(w.places) > 1 {
			return i, s.ambiguous(all, i)
		}
	}
	return 0, nil
}

// together places chunks that all have the same drift in several assignments: they have
// moved together. The smallest drift is taken if the next one is at least twice as large.
func together(all []*wanted) {
	drifts := all[0].drifts()
	if len(all) < 2 || all[0].hint < 0 || len(drifts) < 2 {
		return
	}
	for _, w := range all[1:] {
		if w.hint < 0 || !slices.Equal(w.drifts(), drifts) {
			return
		}
	}
	least := slices.SortedFunc(slices.Values(drifts), func(a, b int) int { return cmp.Compare(abs(a), abs(b)) })
	if abs(least[1]) < 2*abs(least[0]) {
		return
	}
	for _, w := range all {
		w.places = []match{w.places[slices.Index(drifts, least[0])]}
	}
}

func (w *wanted) drifts() []int {
	out := make([]int, len(w.places))
	for i, p := range w.places {
		out[i] = w.drift(p.first)
	}
	return out
}

func abs(n int) int { return max(n, -n) }

// spread gives chunks that have only a line number the places to which their neighbours may
// have moved.
func spread(all []*wanted, total int) {
	const most = 100 // places of a neighbour that are used
	for i, w := range all {
		if !w.free {
			continue
		}
		neighbour := func(o *wanted) bool {
			if o.free || o.hint < 0 {
				return false
			}
			for _, p := range o.places[:min(len(o.places), most)] {
				if at := w.hint + o.drift(p.first); at >= 0 && at <= total {
					w.places = append(w.places, match{first: at})
				}
			}
			return true
		}
		for j := i - 1; j >= 0 && !neighbour(all[j]); j-- {
		}
		for j := i + 1; j < len(all) && !neighbour(all[j]); j++ {
		}
		slices.SortFunc(w.places, func(a, b match) int { return cmp.Compare(a.first, b.first) })
		w.places = slices.CompactFunc(w.places, func(a, b match) bool { return a.first == b.first })
	}
}

// narrow leaves each chunk the places that it has in one of the best assignments. Without
// any assignment it returns the first chunk that has no place, else -1.
func narrow(all []*wanted) int {
	rows := []row{{spans: []span{{first: math.MinInt / 4, end: math.MinInt / 4, start: math.MinInt / 4, stop: math.MinInt / 4}}, lined: true}} // nothing has moved before the first
	for _, w := range all {
		rows = append(rows, w.row())
	}
	before := costs(rows)
	for i := range all {
		if slices.Min(before[i+1]) >= never {
			return i
		}
	}
	after := costs(mirrored(rows))
	best := never
	for i, w := range slices.Backward(all) {
		total := make([]int, len(w.places))
		for k := range w.places {
			total[k] = before[i+1][k] + rows[i+1].spans[k].cost + after[len(all)-1-i][len(w.places)-1-k]
			best = min(best, total[k])
		}
		var kept []match
		for k, p := range w.places {
			if total[k] == best {
				kept = append(kept, p)
			}
		}
		w.places = kept
	}
	return -1
}

// row is the places of a chunk, in order; lined says that their drifts are meaningful.
type row struct {
	spans []span
	lined bool
}

// span is the lines of a place, first to end, of which start to stop change, and its drift.
type span struct {
	first, end, start, stop, drift int
	cost                           int // of the place by itself
}

func (w *wanted) row() row {
	r := row{make([]span, len(w.places)), w.hint >= 0}
	for i, p := range w.places {
		r.spans[i] = span{first: p.first, end: p.first + p.n, start: p.first + w.start, stop: p.first + w.stop, drift: p.first - w.hint}
		if w.edge >= 0 && p.first != w.edge {
			r.spans[i].cost = 1
		}
	}
	return r
}

// mirrored reverses the order of all lines.
func mirrored(rows []row) []row {
	out := make([]row, len(rows))
	for i, r := range rows {
		m := row{make([]span, len(r.spans)), r.lined}
		for k, s := range r.spans {
			m.spans[len(r.spans)-1-k] = span{-s.end, -s.first, -s.stop, -s.start, s.drift, s.cost}
		}
		out[len(rows)-1-i] = m
	}
	return out
}

// costs returns, for each place of each row, the least cost of all places up to and
// including it.
func costs(rows []row) [][]int {
	out := make([][]int, len(rows))
	for i, r := range rows {
		out[i] = make([]int, len(r.spans))
		if i == 0 {
			continue
		}
		last, cost := rows[i-1], out[i-1]
		moved := 0 // the cost of another drift than that of the chunk before
		if r.lined && last.lined {
			moved = 1
		}
		passed, least, alike := 0, never, map[int]int{} // the places that end before this one; alike is keyed by drift
		for k, s := range r.spans {
			for ; passed < len(last.spans) && last.spans[passed].end <= s.first; passed++ {
				c := cost[passed] + last.spans[passed].cost
				least = min(least, c)
				alike[last.spans[passed].drift] = c
			}
			best := least + moved
			if c, ok := alike[s.drift]; ok {
				best = min(best, c)
			}
			for j := passed; j < len(last.spans) && last.spans[j].stop <= s.start; j++ {
				c := cost[j] + last.spans[j].cost + shared
				if last.spans[j].drift != s.drift {
					c += moved
				}
				best = min(best, c)
			}
			out[i][k] = min(best, never)
		}
	}
	return out
}

// headed returns the places of a chunk below its heading.
func (s *session) headed(w *wanted) []match {
	if w.Heading == "" {
		return nil
	}
	var out []match
	for _, p := range w.places {
		for at := p.first - 1; at >= 0; at-- {
			if l := s.lines[at].text; heads(l) {
				if strings.HasPrefix(l, w.Heading) {
					out = append(out, p)
				}
				break
			}
		}
	}
	return out
}

// heads reports whether programs put such a line into the header of a hunk.
func heads(line string) bool {
	return line != "" && (line[0] == '_' || line[0] == '$' || 'a' <= line[0]|0x20 && line[0]|0x20 <= 'z')
}

// unordered places chunks that are not in the order of the file, if each has only one
// place. Else the i-th is the first without a place after those before it.
func (s *session) unordered(all []*wanted, i int) (int, error) {
	for _, w := range all {
		if len(w.places) != 1 {
			return i, s.behind(all, i)
		}
	}
	order := byPlace(all)
	for k, j := range order[1:] {
		before := all[order[k]]
		if w := all[j]; before.places[0].first+before.stop > w.places[0].first+w.start {
			return max(j, order[k]), fmt.Errorf("its lines are those of hunk %d, at %s", min(j, order[k])+1, linesWord(w.places[0].first, w.places[0].n))
		}
	}
	return 0, nil
}

// byPlace returns the indexes of chunks in the order of their places.
func byPlace(all []*wanted) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(all[i].places[0].first+all[i].start, all[j].places[0].first+all[j].start)
	})
	return order
}

// behind is the error of a chunk whose places all come too early, given the chunks before
// it.
func (s *session) behind(all []*wanted, i int) error {
	lines := firstLines(all[i].places)
	return &Mismatch{
		Msg: fmt.Sprintf("its lines are at line %s, but not after those of the hunk before; give the hunks in the order of the file, with more lines of context",
			listed(lines)),
		Detail: s.places(lines),
	}
}

// ambiguous is the error of a chunk with several places.
func (s *session) ambiguous(all []*wanted, i int) error {
	w := all[i]
	lines := firstLines(w.places)
	where := ""
	if w.hint >= 0 {
		where = fmt.Sprintf(", and line %d, where the patch has it, does not decide", w.hint+1)
	}
	if w.free {
		return fmt.Errorf("has no context lines, and may belong before line %s%s; add context lines", listed(lines), where)
	}
	return &Mismatch{
		Msg: fmt.Sprintf("its lines are in the file %s, at lines %s%s; give more lines of context or an anchor (@@ with a line above it)",
			times(len(lines)), listed(lines), where),
		Detail: s.places(lines),
	}
}
