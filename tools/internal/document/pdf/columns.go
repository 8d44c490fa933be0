package pdf

import (
	"math"
)

const (
	// deepestColumns is how often columns may be divided again.
	deepestColumns = 6
	// leastLines is how many lines a free place between columns must pass.
	leastLines = 5
	// narrowestColumn is how many points a column is wide.
	narrowestColumn = 60
)

// gutter is a place between columns: lines from and to, and its middle.
type gutter struct {
	from, to int
	x, score float64
}

// region finds the blocks of lines that are a page, a column or a frame.
func (p *page) region(ls []*line, depth int) {
	if len(ls) == 0 {
		return
	}
	g := p.gutter(ls)
	if g.score == 0 || depth >= deepestColumns {
		p.column(ls)
		return
	}
	var left, right []*word
	for _, l := range ls[g.from:g.to] {
		for _, w := range l.words {
			if x, _ := w.middle(); x < g.x {
				left = append(left, w)
			} else {
				right = append(right, w)
			}
		}
	}
	p.region(ls[:g.from], depth+1)
	p.region(lines(left), depth+1)
	p.region(lines(right), depth+1)
	p.region(ls[g.to:], depth+1)
}

// gutter finds the longest run of lines that leave a place free and read as columns on both
// sides of it. Score 0 = there is none.
func (p *page) gutter(ls []*line) gutter {
	const most = 200 // places to try
	var xs []float64
	left := ls[0].x0
	for _, l := range ls {
		left = min(left, l.x0)
	}
	for _, l := range ls {
		if l.x0 > left+narrowestColumn {
			xs = append(xs, l.x0-4) // the columns may have no line in common
		}
		for i := 1; i < len(l.segments); i++ {
			xs = append(xs, (l.segments[i-1].x1+l.segments[i].x0)/2)
		}
	}
	var best gutter
	if len(xs) < 3 {
		return best
	}
	if xs = distinct(xs, 2); len(xs) > most {
		return best
	}
	for _, x := range xs {
		for i := 0; i < len(ls); {
			end := i
			for end < len(ls) && !ls[end].covers(x) {
				end++
			}
			if end-i >= leastLines {
				if score := p.columns(ls[i:end], x); score > best.score {
					best = gutter{i, end, x, score}
				}
			}
			i = end + 1
		}
	}
	return best
}

// covers reports whether text of a line is at a place.
func (l *line) covers(x float64) bool {
	for _, s := range l.segments {
		if s.x0 < x+1 && s.x1 > x-1 {
			return true
		}
	}
	return false
}

// side is the text of lines on one side of a gutter, a value for each line that has some.
type side struct {
	starts, ends, widths, words, ys []float64
	divided                         int // lines that have several segments on this side
}

// columns scores lines as two columns of prose at a place; 0 = they are not.
func (p *page) columns(ls []*line, x float64) float64 {
	if p.crossed(ls, x) {
		return 0
	}
	left, right := sideOf(ls, func(s *segment) bool { return s.x0 <= x }), sideOf(ls, func(s *segment) bool { return s.x0 > x })
	fillLeft, proseLeft := left.prose()
	fillRight, proseRight := right.prose()
	if fillLeft < 0 || fillRight < 0 {
		return 0
	}
	n := float64(min(len(left.ys), len(right.ys)))
	if len(ls) <= 7 {
		if proseLeft && proseRight {
			return n * (1 + fillLeft + fillRight)
		}
		return 0
	}
	both := 0
	for _, y := range left.ys {
		for _, z := range right.ys {
			if math.Abs(y-z) < 1 {
				both++
			}
		}
	}
	aligned := float64(both) / n
	if aligned > .9 && bands(ls) {
		return 0 // rows of a table whose cells have several lines
	}
	if proseLeft && proseRight {
		return n * (1 + fillLeft + fillRight)
	}
	few := left.divided*5 < len(left.ys) && right.divided*5 < len(right.ys)
	if (proseLeft || proseRight) && aligned < .3 && few && n >= 6 {
		return n
	}
	return 0
}

// crossed reports whether ruling lines are drawn over both sides of a place, as in a table.
func (p *page) crossed(ls []*line, x float64) bool {
	const reach = 20
	n := 0
	last := ls[len(ls)-1]
	for _, h := range p.level {
		if h.from < x-reach && h.to > x+reach && h.at > ls[0].y && h.at < last.y-last.size {
			n++
		}
	}
	return n >= 2
}

// bands reports whether wider distances come again and again.
func bands(ls []*line) bool {
	var steps []float64
	for i := 1; i < len(ls); i++ {
		steps = append(steps, ls[i].y-ls[i-1].y)
	}
	usual, wide := median(steps), 0
	for _, s := range steps {
		if s > 1.25*usual {
			wide++
		}
	}
	return wide >= 3 && wide*8 >= len(steps)
}

func sideOf(ls []*line, on func(*segment) bool) side {
	var s side
	for _, l := range ls {
		if l.insert() != nil {
			continue
		}
		start, end, wide, words, n := math.Inf(1), math.Inf(-1), 0, 0, 0
		for i := range l.segments {
			if seg := &l.segments[i]; on(seg) {
				start, end = min(start, seg.x0), max(end, seg.x1)
				wide += seg.width()
				words += len(seg.words)
				n++
			}
		}
		if wide == 0 {
			continue
		}
		s.starts, s.ends = append(s.starts, start), append(s.ends, end)
		s.widths, s.words, s.ys = append(s.widths, float64(wide)), append(s.words, float64(words)), append(s.ys, l.y)
		if n > 1 {
			s.divided++
		}
	}
	return s
}

// prose returns the share of lines that fill a side, and reports whether it reads as prose. A
// negative share says that it is too little to be a column.
func (s side) prose() (fill float64, prose bool) {
	if len(s.ys) < leastLines-1 {
		return -1, false
	}
	left, right := quantile(s.starts, .1), quantile(s.ends, .9)
	if right-left < narrowestColumn {
		return -1, false
	}
	full := 0
	for i := range s.starts {
		if s.ends[i]-s.starts[i] >= .7*(right-left) {
			full++
		}
	}
	fill = float64(full) / float64(len(s.ys))
	chars, words := median(s.widths), median(s.words)
	return fill, fill >= .5 && chars >= 22 && (words >= 4 || chars >= 30)
}

var (
	contentsTitle = pattern(`(?i)^(table of )?contents$|^目录$|^目次$|^inhalt|^sommaire|^índice`)
	contentsPage  = pattern(`^([0-9]{1,4}|[ivxlc]{1,6}|[A-Z]-[0-9]{1,3})$`)
)

// contents says which lines belong to a list of contents or an index, whose entries are lines.
func contents(ls []*line) []bool {
	is := make([]bool, len(ls))
	sure := 0
	for i, l := range ls {
		text := l.text()
		if leaders().MatchString(text) {
			is[i] = true
			sure++
		}
		if contentsTitle().MatchString(text) {
			sure += 3
		}
	}
	if sure < 3 {
		return is
	}
	for i, l := range ls {
		if n := len(l.segments); n >= 2 && n <= 3 && contentsPage().MatchString(l.segments[n-1].text()) {
			is[i] = true
		}
	}
	return is
}

// column divides the lines of one column into tables, code and text.
func (p *page) column(ls []*line) {
	var text []*line
	add := func(b block) {
		if len(text) > 0 {
			p.blocks = append(p.blocks, block{lines: text})
			text = nil
		}
		if b.lines != nil || b.grid != nil || b.image != "" {
			p.blocks = append(p.blocks, b)
		}
	}
	listed := contents(ls)
	between := p.betweenRules(ls)
	for i := 0; i < len(ls); {
		l := ls[i]
		if in := l.insert(); in != nil {
			add(block{kind: tableBlock, grid: in.grid})
			if in.image != "" {
				add(block{kind: imageBlock, image: in.image})
			}
			if in.frame != nil {
				p.region(lines(in.frame), 1)
			}
			i++
			continue
		}
		if n := p.codeLines(ls[i:]); n >= 2 {
			add(block{kind: codeBlock, lines: ls[i : i+n]})
			i += n
			continue
		}
		if t, ok := between[i]; ok {
			add(block{kind: tableBlock, grid: t.grid})
			i = t.to
			continue
		}
		if len(l.segments) >= 2 && !listed[i] {
			if t, end := p.grow(ls, i, listed); t != nil {
				add(block{kind: tableBlock, grid: t})
				i = end
				continue
			}
		}
		text = append(text, l)
		i++
	}
	add(block{})
}

// codeLines is how many lines at the start are code.
func (p *page) codeLines(ls []*line) int {
	n := 0
	for n < len(ls) && !p.code && ls[n].insert() == nil && ls[n].mono() && (n == 0 || ls[n].y-ls[n-1].y < 3.2*ls[n].size) {
		n++
	}
	return n
}
