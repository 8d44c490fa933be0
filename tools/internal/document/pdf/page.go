package pdf

import (
	"fmt"
	"slices"

	"toolcrib/tools/internal/document/pdf/pdfium"
)

// page is a page whose main text runs to the right.
type page struct {
	number         int
	state          string // what a reader must know of it
	words          []*word
	lines          []*line
	aside          []*line // text of other directions
	level, upright []rule  // ruling lines by their direction
	ink            []area  // drawings
	images         []area
	top, bottom    float64
	width          float64
	chars          int
	code           bool // the whole file is of one width, so that this says nothing
	blocks         []block
	tried          int // lines in tries for tables of gaps
}

// block is lines or a table, in reading order.
type block struct {
	kind  blockKind
	lines []*line
	grid  *grid
	level float64 // of a heading: its size, or a little more than that of the text for bold ones
	image string
}

type blockKind uint8

const (
	textBlock blockKind = iota
	codeBlock
	headingBlock
	tableBlock
	imageBlock
)

// rule is a ruling line from one place to another at a position across.
type rule struct {
	from, to, at float64
	edge         bool // of a filled area
}

const (
	// scanned is how few characters a page with images has if its text is in the images.
	scanned = 5
	// mostWords and mostLines bound the search for tables and columns, which takes longer
	// than the page is long.
	mostWords = 20_000
	mostLines = 1_500
)

func newPage(raw *pdfium.Page, number int) *page {
	p := &page{number: number}
	var count [4]int // by direction
	unmapped := 0
	for i := range raw.Chars {
		c := &raw.Chars[i]
		if c.Object == 0 || c.Rune <= ' ' {
			continue
		}
		p.chars++
		if c.Unmapped {
			unmapped++
		}
		if c.Text.Direction >= 0 {
			count[c.Text.Direction/90]++
		}
	}
	direction := 0
	for i, n := range count {
		if n > count[direction/90] {
			direction = i * 90
		}
	}
	p.words = words(raw, direction)
	setLinks(p.words, raw.Links, direction)
	for _, other := range []int{0, 90, 180, 270} {
		if other != direction {
			p.aside = append(p.aside, lines(words(raw, other))...)
		}
	}
	for _, w := range slanted(raw) {
		p.aside = append(p.aside, &line{words: []*word{w}})
	}
	p.place(raw, direction)
	p.lines = lines(p.words)
	switch {
	case p.scanned():
		p.state = "no text, only images: scanned?"
	case p.chars == 0:
		p.state = "no text"
	case p.chars > 20 && unmapped*10 > p.chars*3:
		p.state = "its fonts do not say which characters they have: the text may be wrong"
	}
	return p
}

// scanned reports whether the text of a page is in images: it has none, or only what is
// stamped on the edges of a scan.
func (p *page) scanned() bool {
	const least = .6 // of the page that an image covers
	if p.chars < scanned {
		return len(p.images) > 0
	}
	whole := p.width * (p.bottom - p.top)
	return len(p.edges()) == len(p.lines) && len(p.aside) == 0 &&
		slices.ContainsFunc(p.images, func(a area) bool { return (a.x1-a.x0)*(a.y1-a.y0) > least*whole })
}

// place turns rules, drawings and edges of the page as its words are turned.
func (p *page) place(raw *pdfium.Page, direction int) {
	for _, l := range raw.Lines {
		a := uprightArea(l.Box, direction)
		if a.x1-a.x0 < a.y1-a.y0 {
			p.upright = append(p.upright, rule{a.y0, a.y1, (a.x0 + a.x1) / 2, l.Edge})
		} else {
			p.level = append(p.level, rule{a.x0, a.x1, (a.y0 + a.y1) / 2, l.Edge})
		}
	}
	p.level, p.upright = merged(p.level), merged(p.upright)
	for _, b := range raw.Ink {
		p.ink = append(p.ink, uprightArea(b, direction))
	}
	for _, b := range raw.Images {
		p.images = append(p.images, uprightArea(b, direction))
	}
	whole := uprightArea(pdfium.Box{X1: raw.Width, Y1: raw.Height}, direction)
	p.top, p.bottom, p.width = whole.y0, whole.y1, whole.x1-whole.x0
	if direction != 0 && len(p.words) > 0 { // the page may be turned too, so that its size is of the other direction
		const margin = 40
		p.top, p.bottom = p.words[0].y, p.words[0].y
		for _, w := range p.words {
			p.top, p.bottom = min(p.top, w.y), max(p.bottom, w.y)
		}
		p.top, p.bottom = p.top-margin, p.bottom+margin
	}
}

// lay finds the blocks of a page: tables of ruling lines, then columns, then tables of gaps
// and text.
func (p *page) lay() {
	if len(p.words) > mostWords || len(p.lines) > mostLines {
		p.state = "too many lines to look for tables and columns"
		p.blocks = append(p.blocks, block{lines: p.lines})
		return
	}
	inserts := append(ruled(p.level, p.upright, p.words), p.pictures()...)
	if len(inserts) == 0 {
		p.region(p.lines, 0)
		return
	}
	var rest []*word
	for _, w := range p.words {
		if !inside(w, inserts) {
			rest = append(rest, w)
		}
	}
	for _, i := range inserts {
		rest = append(rest, i.place())
	}
	p.region(lines(rest), 0)
}

func inside(w *word, inserts []*insert) bool {
	for _, i := range inserts {
		if i.image == "" && i.area.holds(w, 2) {
			return true
		}
	}
	return false
}

// pictures returns the images that are parts of the text, with names. Small ones are
// decoration and large ones background.
func (p *page) pictures() []*insert {
	const (
		small = 40 // points
		most  = 50
		large = .6 // of the page
	)
	var all []*insert
	whole := p.width * (p.bottom - p.top)
	for i, a := range p.images {
		w, h := a.x1-a.x0, a.y1-a.y0
		if p.chars < scanned || min(w, h) < small || w*h > large*whole || len(all) == most {
			continue
		}
		covered := false
		for _, other := range p.words {
			covered = covered || a.holds(other, 0)
		}
		if !covered {
			all = append(all, &insert{area: a, image: fmt.Sprintf("page%d-image%d", p.number, i+1)})
		}
	}
	return all
}
