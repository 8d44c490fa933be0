package pdf

import (
	"math"
	"slices"
	"unicode"

	"toolcrib/tools/internal/document"
)

// corridor is a range of x that lines leave free.
type corridor struct{ from, to float64 }

const (
	// corridorEm is how wide a corridor between columns is at least.
	corridorEm = .6
	// mostTableLines bounds the search for tables of gaps.
	mostTableLines = 400
	// mostTried is how many lines of a page are tried, those of each try counted.
	mostTried = 100_000
	// mostColumns is how many columns a table of gaps has at most.
	mostColumns = 40
)

// candidate is lines that may be a table: its columns are divided by corridors, its rows by
// ruling lines, by distances or by what would have fitted.
type candidate struct {
	page      *page
	lines     []*line
	between   bool      // ruling lines of one width are above and below
	rules     []float64 // heights of ruling lines
	em        float64
	corridors []corridor
	rows      []*gapRow
	spaced    bool // rows are farther apart than the lines of a cell
}

// gapRow is a row: the words of each column.
type gapRow struct {
	cells  [][]*word
	filled int
}

// grow returns the table that begins with a line, and the line behind it. It is the longest
// one whose corridors repeat.
func (p *page) grow(ls []*line, i int, listed []bool) (*grid, int) {
	const tries = 12
	end := p.reach(ls, i, listed)
	for e := end; e >= i+3 && e >= end-tries; e-- {
		if len(ls[e-1].segments) < 2 && e != end {
			continue
		}
		c := &candidate{page: p, lines: ls[i:e]}
		if g := c.grid(); g != nil {
			return g, e
		}
	}
	return nil, 0
}

// reach is where the lines from i on end that share corridors.
func (p *page) reach(ls []*line, i int, listed []bool) int {
	const mostSingle = 5 // lines that have one segment, in a row
	em := ls[i].size
	var free []corridor
	for k := 1; k < len(ls[i].segments); k++ {
		free = append(free, corridor{ls[i].segments[k-1].x1, ls[i].segments[k].x0})
	}
	last, single := i, 0 // last has several segments
	end := i + 1
	for ; end < len(ls) && end < i+mostTableLines && ls[end].insert() == nil && !listed[end]; end++ {
		l, before := ls[end], ls[end-1]
		one := len(l.segments) < 2
		if l.y-before.y > 3*max(l.size, before.size) || one && (l.size > 1.3*em || l.mono() && !p.code) {
			break
		}
		if one {
			if single++; single > mostSingle || slices.ContainsFunc(free, func(c corridor) bool { return l.x0 < c.from-1 && l.x1 > c.to+1 }) {
				break
			}
			continue
		}
		next := narrowed(free, l, corridorEm*em)
		if len(next) == 0 || len(next)*3 < 2*len(free) && len(free) > 2 && last > i {
			break
		}
		free, last, single = next, end, 0
	}
	stop := end
	for end = last + 1; end < stop && ls[end].x0 > free[0].from && ls[end].y-ls[end-1].y < 1.5*em; {
		end++ // more lines of a last cell that is not in the first column
	}
	return end
}

// narrowed returns the corridors that a line leaves free.
func narrowed(free []corridor, l *line, least float64) []corridor {
	var all []corridor
	for _, c := range free {
		for _, s := range l.segments {
			if s.x0 >= c.to || s.x1 <= c.from {
				continue
			}
			if s.x0-c.from >= c.to-s.x1 {
				c.to = min(c.to, s.x0)
			} else {
				c.from = max(c.from, s.x1)
			}
		}
		if c.to-c.from >= least {
			all = append(all, c)
		}
	}
	return all
}

// ruledGap is a table between ruling lines; it ends before the line to.
type ruledGap struct {
	grid *grid
	to   int
}

// betweenRules returns tables between ruling lines of one place and width, by their first lines.
func (p *page) betweenRules(ls []*line) map[int]ruledGap {
	const (
		narrowest  = 60
		near       = 5
		mostGroups = 60
		mostRules  = 60 // of a group
	)
	found := map[int]ruledGap{}
	done := make([]bool, len(p.level))
	groups := 0
	for i, first := range p.level {
		if done[i] || first.to-first.from < narrowest {
			continue
		}
		var ys []float64
		for k, r := range p.level {
			if math.Abs(r.from-first.from) < near && math.Abs(r.to-first.to) < near {
				done[k] = true
				ys = append(ys, r.at)
			}
		}
		if len(ys) < 2 || len(ys) > mostRules {
			continue
		}
		if groups++; groups > mostGroups {
			break
		}
		slices.Sort(ys)
		for top := 0; top < len(ys)-1; top++ { // the widest range first
			for bottom := len(ys) - 1; bottom > top; bottom-- {
				from, t := p.tableBetween(ls, first, ys[top:bottom+1])
				if t.grid == nil {
					continue
				}
				if old, ok := found[from]; !ok || old.to < t.to {
					found[from] = t
				}
				top = bottom - 1
				break
			}
		}
	}
	return found
}

// tableBetween returns the table between the first and the last of the heights ys, and its
// first line.
func (p *page) tableBetween(ls []*line, r rule, ys []float64) (int, ruledGap) {
	const beyond = 8
	from, to, several := -1, -1, 0
	for i, l := range ls {
		if l.y <= ys[0] || l.y-.3*l.size >= ys[len(ys)-1] {
			continue
		}
		if l.insert() != nil || l.x0 < r.from-beyond || l.x1 > r.to+beyond {
			return 0, ruledGap{}
		}
		if from < 0 {
			from = i
		}
		to = i + 1
		if len(l.segments) > 1 {
			several++
		}
	}
	if from < 0 || to-from < 2 || to-from > mostTableLines || several*2 < to-from && len(ys) < 4 {
		return 0, ruledGap{}
	}
	c := &candidate{page: p, lines: ls[from:to], between: true, rules: ys}
	return from, ruledGap{c.grid(), to}
}

// grid returns the table; nil if columns do not really repeat.
func (c *candidate) grid() *grid {
	if c.page.tried += len(c.lines); len(c.lines) < 2 || c.page.tried > mostTried {
		return nil
	}
	var sizes []float64
	for _, l := range c.lines {
		sizes = append(sizes, l.size)
	}
	c.em = median(sizes)
	c.corridors = corridors(c.lines, corridorEm*c.em)
	if len(c.corridors) == 0 || len(c.corridors) >= mostColumns || !c.between && c.otherwise() {
		return nil
	}
	c.findRows()
	return c.accept()
}

// corridors returns the ranges that nearly all lines with several segments leave free, and
// that have text on both sides.
func corridors(ls []*line, least float64) []corridor {
	const mostEdges = 4_000
	var xs []float64
	var several []*line
	for _, l := range ls {
		if len(l.segments) < 2 {
			continue
		}
		several = append(several, l)
		for _, s := range l.segments {
			xs = append(xs, s.x0, s.x1)
		}
	}
	if xs = distinct(xs, .01); len(xs) > mostEdges {
		return nil
	}
	allowed := len(several) / 8 // lines that may run over it
	var all []corridor
	for i := 0; i+1 < len(xs); i++ {
		x := (xs[i] + xs[i+1]) / 2
		over, left, right := 0, false, false
		for _, l := range ls {
			for _, s := range l.segments {
				if s.x0 < x && s.x1 > x {
					over++
				}
			}
		}
		for _, l := range several {
			left = left || l.segments[0].x1 <= x
			right = right || l.segments[len(l.segments)-1].x0 >= x
		}
		if over > allowed || !left || !right {
			continue
		}
		if n := len(all); n > 0 && xs[i]-all[n-1].to < .02 {
			all[n-1].to = xs[i+1]
		} else {
			all = append(all, corridor{xs[i], xs[i+1]})
		}
	}
	return slices.DeleteFunc(all, func(c corridor) bool { return c.to-c.from < least })
}

// otherwise reports whether the lines are code, formulas or parts of a drawing, which only
// look like columns.
func (c *candidate) otherwise() bool {
	mono, chars, maths, words := 0, 0, 0, 0
	x0, x1 := c.lines[0].x0, c.lines[0].x1
	for _, l := range c.lines {
		x0, x1 = min(x0, l.x0), max(x1, l.x1)
		for _, w := range l.words {
			chars += w.chars
			words++
			if w.style.Font.Mono {
				mono += w.chars
			}
			if w.style.Font.Maths {
				maths++
			}
		}
	}
	if mono*10 >= chars*7 && !c.page.code || maths*10 >= words*3 {
		return true
	}
	first, last := c.lines[0], c.lines[len(c.lines)-1]
	drawings := 0
	for _, a := range c.page.ink {
		if a.x1 > x0 && a.x0 < x1 && a.y1 > first.y-first.size && a.y0 < last.y {
			drawings++
		}
	}
	return drawings >= max(4, len(c.lines))
}

// column is the column of a range of x.
func (c *candidate) column(x0, x1 float64) int {
	x := (x0 + x1) / 2
	i := 0
	for i < len(c.corridors) && x > (c.corridors[i].from+c.corridors[i].to)/2 {
		i++
	}
	return i
}

// divide puts the words of a line into columns. A segment that crosses a corridor without a
// gap there stays whole in its first column.
func (c *candidate) divide(l *line) *gapRow {
	r := &gapRow{cells: make([][]*word, len(c.corridors)+1)}
	for _, s := range l.segments {
		first := s.words[0]
		whole := c.crosses(s)
		for _, w := range s.words {
			i := c.column(w.x0, w.x1)
			if whole {
				i = c.column(first.x0, first.x1)
			}
			r.cells[i] = append(r.cells[i], w)
		}
	}
	for _, words := range r.cells {
		if len(words) > 0 {
			r.filled++
		}
	}
	return r
}

func (c *candidate) crosses(s segment) bool {
	for _, k := range c.corridors {
		if s.x0 >= k.from-1 || s.x1 <= k.to+1 {
			continue
		}
		middle, gap := (k.from+k.to)/2, false
		for i := 1; i < len(s.words); i++ {
			a, b := s.words[i-1].x1, s.words[i].x0
			gap = gap || a <= middle+.3*c.em && b >= middle-.3*c.em && b-a >= .5*c.em
		}
		if !gap {
			return true
		}
	}
	return false
}

// findRows joins lines to rows.
func (c *candidate) findRows() {
	var steps []float64
	ruled := 0
	for i := 1; i < len(c.lines); i++ {
		steps = append(steps, c.lines[i].y-c.lines[i-1].y)
		if c.ruleBetween(i) {
			ruled++
		}
	}
	// Two kinds of distance: the lines of a cell are near, rows are farther apart.
	low := quantile(steps, .15)
	near, far := 0, 0
	for _, s := range steps {
		if s < 1.2*low {
			near++
		} else if s > 1.3*low {
			far++
		}
	}
	c.spaced = near >= 2 && far >= 2 && near+far >= len(steps)*9/10
	byRules := ruled >= 2 && ruled*10 >= 3*len(steps)
	divided := make([]*gapRow, len(c.lines))
	for i, l := range c.lines {
		divided[i] = c.divide(l)
	}
	ends := c.ends(divided)
	for i, r := range divided {
		if i > 0 {
			last := c.rows[len(c.rows)-1]
			more := false // of the row before
			switch {
			case byRules:
				more = !c.ruleBetween(i)
			case c.ruleBetween(i):
			case c.spaced:
				full := len(r.cells[0]) > 0 && r.filled == len(r.cells) && last.filled == len(r.cells)
				own := full && numeric(joined(r.cells[len(r.cells)-1]))
				more = steps[i-1] < 1.2*low && !own
			case len(r.cells[0]) == 0 && steps[i-1] < 1.6*c.lines[i].size:
				more = c.continues(last, r, ends)
			}
			if more {
				for k, words := range r.cells {
					last.cells[k] = append(last.cells[k], words...)
				}
				continue
			}
		}
		c.rows = append(c.rows, r)
	}
}

// ruleBetween reports whether a ruling line lies above a line and below the one before.
func (c *candidate) ruleBetween(i int) bool {
	for _, y := range c.rules {
		if y > c.lines[i-1].y-.2*c.em && y < c.lines[i].y-.1*c.em {
			return true
		}
	}
	return false
}

// ends is how far to the right each column reaches.
func (c *candidate) ends(rows []*gapRow) []float64 {
	ends := make([]float64, len(c.corridors)+1)
	for k := range ends {
		ends[k] = math.Inf(-1)
		for _, r := range rows {
			for _, w := range r.cells[k] {
				if k == len(c.corridors) || w.x1 <= c.corridors[k].to {
					ends[k] = max(ends[k], w.x1)
				}
			}
		}
	}
	return ends
}

// continues reports whether a row, whose first cell is empty, holds second lines of the cells
// above: their first words would not have fitted there.
func (c *candidate) continues(above, r *gapRow, ends []float64) bool {
	for k, words := range r.cells {
		if len(words) == 0 {
			continue
		}
		if len(above.cells[k]) == 0 || numeric(joined(words)) {
			return false
		}
		bottom, end := math.Inf(-1), math.Inf(-1)
		for _, w := range above.cells[k] {
			bottom = max(bottom, w.y)
		}
		for _, w := range above.cells[k] {
			if w.y > bottom-.5*c.em {
				end = max(end, w.x1)
			}
		}
		if end+.25*c.em+(words[0].x1-words[0].x0) < ends[k]-.3*c.em {
			return false
		}
	}
	return true
}

// numeric reports whether a text is a number, maybe with a unit.
func numeric(text string) bool {
	digits, letters := 0, 0
	for _, r := range text {
		if unicode.IsDigit(r) {
			digits++
		} else if unicode.IsLetter(r) {
			letters++
		}
	}
	return digits > 0 && letters <= 3 && digits >= letters
}

// model makes the table of rows.
func (c *candidate) model() *grid {
	g := &grid{}
	for _, r := range c.rows {
		row := make([][]document.Span, len(r.cells))
		for i, words := range r.cells {
			row[i] = cellSpans(words)
			if text := document.PlainText(row[i]); len(text) > 2 && blankCell().MatchString(text) {
				row[i] = nil // a line to write on
			}
		}
		g.rows = append(g.rows, row)
	}
	return g
}
