package pdf

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"toolcrib/tools/internal/document"
)

// grid is a table.
type grid struct{ rows [][][]document.Span }

func (g *grid) cells() int {
	if len(g.rows) == 0 {
		return 0
	}
	return len(g.rows) * len(g.rows[0])
}

func (g *grid) model() *document.Grid {
	m := &document.Grid{}
	for _, row := range g.rows {
		cells := make([]document.Cell, len(row))
		for i, c := range row {
			cells[i] = document.CellOf(c)
		}
		m.Rows = append(m.Rows, cells)
	}
	return m
}

// cellSpans joins the words of a cell over its lines.
func cellSpans(words []*word) []document.Span {
	if len(words) == 0 {
		return nil
	}
	return document.Trim(together(lines(words)))
}

// merged joins ruling lines that continue each other.
func merged(rules []rule) []rule {
	const (
		apart = 1.6 // points across
		gap   = 3   // points along
	)
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.from, b.from)) })
	var all []rule
	for _, r := range rules {
		done := false
		for i := len(all) - 1; i >= 0 && r.at-all[i].at <= apart; i-- {
			if o := &all[i]; r.from <= o.to+gap && r.to >= o.from-gap {
				o.from, o.to = min(o.from, r.from), max(o.to, r.to)
				o.edge = o.edge && r.edge
				done = true
				break
			}
		}
		if !done {
			all = append(all, r)
		}
	}
	return all
}

// ruled finds tables and frames among ruling lines that cross.
func ruled(level, upright []rule, words []*word) []*insert {
	const most = 4_000_000 // pairs of lines; what has more is a drawing
	if len(level)*len(upright) > most {
		return nil
	}
	var all []*insert
	for _, l := range crossing(level, upright) {
		if l.measure() {
			l.own()
			l.fill(words)
			all = append(all, l.inserts()...)
		}
	}
	slices.SortFunc(all, func(a, b *insert) int {
		return cmp.Or(cmp.Compare(a.area.y0, b.area.y0), cmp.Compare(a.area.x0, b.area.x0))
	})
	return all
}

// lattice is ruling lines that cross, and the cells between them. The lines xs and ys include
// the outer ones. A cell that covers several places is owned by the first of them.
type lattice struct {
	level, upright []rule
	xs, ys         []float64
	rows, columns  int
	owner          []int // by place
	cells          [][]*word
	conform        int // rows that have most of the columns
}

// crossing groups ruling lines that cross or touch.
func crossing(level, upright []rule) []*lattice {
	const near = 3.5
	parent := make([]int, len(level)+len(upright))
	for i := range parent {
		parent[i] = i
	}
	find := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	for i, h := range level {
		for k, v := range upright {
			if v.at >= h.from-near && v.at <= h.to+near && h.at >= v.from-near && h.at <= v.to+near {
				parent[find(i)] = find(len(level) + k)
			}
		}
	}
	groups := map[int]*lattice{}
	var all []*lattice
	of := func(i int) *lattice {
		root := find(i)
		if groups[root] == nil {
			groups[root] = &lattice{}
			all = append(all, groups[root])
		}
		return groups[root]
	}
	for i, h := range level {
		l := of(i)
		l.level = append(l.level, h)
	}
	for k, v := range upright {
		l := of(len(level) + k)
		l.upright = append(l.upright, v)
	}
	return all
}

// measure finds the rows and columns, and reports whether there are enough for a table.
func (l *lattice) measure() bool {
	const (
		near   = 4  // points between lines that are one
		beyond = 15 // how far lines must reach for an open column at a side
	)
	if len(l.level) < 2 || len(l.upright) < 2 {
		return false
	}
	left, right := l.level[0].from, l.level[0].to
	for _, h := range l.level {
		l.ys = append(l.ys, h.at)
		left, right = min(left, h.from), max(right, h.to)
	}
	for _, v := range l.upright {
		l.xs = append(l.xs, v.at)
	}
	l.xs, l.ys = distinct(l.xs, near), distinct(l.ys, near)
	if left < l.xs[0]-beyond {
		l.xs = append([]float64{left}, l.xs...)
	}
	if right > l.xs[len(l.xs)-1]+beyond {
		l.xs = append(l.xs, right)
	}
	l.rows, l.columns = len(l.ys)-1, len(l.xs)-1
	return l.rows >= 1 && l.columns >= 1 && l.rows*l.columns >= 4 && l.rows <= 400 && l.columns <= 60
}

// drawn reports whether most of a border is drawn.
func drawn(rules []rule, at, from, to float64) bool {
	const near = 4
	length := 0.0
	for _, r := range rules {
		if math.Abs(r.at-at) <= near {
			length += max(0, min(to, r.to)-max(from, r.from))
		}
	}
	return length >= .6*(to-from)
}

// own merges places that no border divides.
func (l *lattice) own() {
	l.owner = make([]int, l.rows*l.columns)
	for r := range l.rows {
		cells := 1
		for c := range l.columns {
			i := r*l.columns + c
			l.owner[i] = i
			switch {
			case c == 0:
			case drawn(l.upright, l.xs[c], l.ys[r], l.ys[r+1]):
				cells++
			default:
				l.owner[i] = l.owner[i-1]
			}
		}
		if cells >= max(2, (l.columns+1)/2) {
			l.conform++
		}
	}
	for r := 1; r < l.rows; r++ {
		for c := range l.columns {
			i := r*l.columns + c
			if l.owner[i] != i || drawn(l.level, l.ys[r], l.xs[c], l.xs[c+1]) {
				continue
			}
			above := l.owner[i-l.columns]
			for k := c; k < l.columns && l.owner[r*l.columns+k] == i; k++ {
				l.owner[r*l.columns+k] = above
			}
		}
	}
}

// area is that of rows.
func (l *lattice) area(from, to int) area {
	return area{l.xs[0], l.ys[from], l.xs[l.columns], l.ys[to]}
}

// fill puts words into the cells.
func (l *lattice) fill(words []*word) {
	l.cells = make([][]*word, l.rows*l.columns)
	whole := l.area(0, l.rows)
	for _, w := range words {
		if !whole.holds(w, 2) {
			continue
		}
		x, y := w.middle()
		c := min(max(sort.SearchFloat64s(l.xs, x)-1, 0), l.columns-1)
		r := min(max(sort.SearchFloat64s(l.ys, y)-1, 0), l.rows-1)
		i := l.owner[r*l.columns+c]
		l.cells[i] = append(l.cells[i], w)
	}
}

// inserts returns what the lattice is: a table, or tables and frames by turns.
func (l *lattice) inserts() []*insert {
	loose := make([]bool, l.rows)
	for r := range loose {
		loose[r] = l.loose(r)
	}
	if !slices.Contains(loose, true) {
		if t := l.table(0, l.rows); t != nil && l.conform >= 2 {
			return []*insert{t}
		}
		return nil
	}
	var all []*insert
	for r := 0; r < l.rows; {
		end := r
		for end < l.rows && !loose[end] {
			end++
		}
		if end-r >= 2 {
			if t := l.table(r, end); t != nil {
				all = append(all, t)
				r = end
				continue
			}
		}
		next := r + 1
		for next < l.rows && l.spanned(next, r) {
			next++
		}
		all = append(all, l.frames(r, next)...)
		r = next
	}
	return all
}

// spanned reports whether a cell of a row began in rows from first on.
func (l *lattice) spanned(row, first int) bool {
	for c := range l.columns {
		if r := l.owner[row*l.columns+c] / l.columns; r < row && r >= first {
			return true
		}
	}
	return false
}

// loose reports whether a row's cells hold lists of short lines: a frame around text, where
// each line ends although more would fit.
func (l *lattice) loose(r int) bool {
	hard, all := 0, 0
	for c := range l.columns {
		words := l.cells[r*l.columns+c]
		if len(words) == 0 {
			continue
		}
		right := c + 1
		for right < l.columns && l.owner[r*l.columns+right] == l.owner[r*l.columns+c] {
			right++
		}
		ls := lines(words)
		for i := 1; i < len(ls); i++ {
			all++
			w, p := ls[i].words[0], ls[i-1]
			fits := p.x1+.25*w.size+(w.x1-w.x0) < l.xs[right]-.8*w.size
			flush := ls[i].x0-l.xs[c] < .5*(l.xs[right]-l.xs[c]) && math.Abs(ls[i].x0-p.x0) < .4*w.size
			if len(ls[i].segments) > 1 || fits && flush {
				hard++
			}
		}
	}
	return all >= 3 && hard*10 >= all*6
}

// table makes a table of rows, without empty rows and columns; nil = it has too little.
func (l *lattice) table(from, to int) *insert {
	g := &grid{}
	filled, several := 0, 0
	used := make([]bool, l.columns)
	for r := from; r < to; r++ {
		row := make([][]document.Span, l.columns)
		n := 0
		for c := range row {
			if row[c] = cellSpans(l.cells[r*l.columns+c]); row[c] != nil {
				n++
				used[c] = true
			}
		}
		filled += n
		if n > 0 {
			g.rows = append(g.rows, row)
		}
		if n > 1 {
			several++
		}
	}
	columns := 0
	for c := l.columns - 1; c >= 0; c-- {
		if used[c] {
			columns++
			continue
		}
		for i := range g.rows {
			g.rows[i] = slices.Delete(g.rows[i], c, c+1)
		}
	}
	places := len(g.rows) * columns
	regular := l.conform*10 >= 8*l.rows
	if several < 2 || columns < 2 || filled*10 < 3*places || filled*10 < 5*places && !regular {
		return nil
	}
	return &insert{area: l.area(from, to), grid: g}
}

// frames returns the cells of rows as frames: one, if their lines are beside each other, or
// one for each column.
func (l *lattice) frames(from, to int) []*insert {
	var cells [][]*word
	var at []int
	var whole []*word
	for c := range l.columns {
		var words []*word
		for r := from; r < to; r++ {
			words = append(words, l.cells[r*l.columns+c]...)
		}
		if len(words) > 0 {
			cells, at = append(cells, words), append(at, c)
			whole = append(whole, words...)
		}
	}
	if len(cells) == 0 {
		return nil
	}
	if len(cells) == 1 || sideBySide(cells, whole) {
		return []*insert{{area: l.area(from, to), frame: whole}}
	}
	var all []*insert
	for i, words := range cells {
		// A little lower each, so that they are read in this order.
		y := l.ys[from] + .01*float64(i)
		all = append(all, &insert{area: area{l.xs[at[i]], y, l.xs[at[i]+1], l.ys[to]}, frame: words})
	}
	return all
}

// sideBySide reports whether the lines of the shortest cell are level with words of other cells.
func sideBySide(cells [][]*word, whole []*word) bool {
	shortest := lines(cells[0])
	for _, c := range cells[1:] {
		if ls := lines(c); len(ls) < len(shortest) {
			shortest = ls
		}
	}
	same := 0
	for _, l := range shortest {
		if slices.ContainsFunc(whole, func(w *word) bool {
			return (w.x1 < l.x0 || w.x0 > l.x1) && math.Abs(w.y-l.y) < .4*l.size
		}) {
			same++
		}
	}
	return same*10 >= len(shortest)*5
}
