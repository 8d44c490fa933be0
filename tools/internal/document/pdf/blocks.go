package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"toolcrib/tools/internal/document"
)

// survey is what is usual in a file.
type survey struct {
	size   float64   // of the text
	bold   float64   // share of bold characters
	mono   bool      // nearly all is of one width
	levels []float64 // of headings, the largest first
}

func surveyOf(pages []*page) *survey {
	sizes := map[float64]int{}
	all, bold, mono := 0, 0, 0
	for _, p := range pages {
		for _, w := range p.words {
			sizes[half(w.size)] += w.chars
			all += w.chars
			if w.style.Bold {
				bold += w.chars
			}
			if w.style.Font.Mono {
				mono += w.chars
			}
		}
	}
	s := &survey{mono: mono*10 >= all*8}
	for size, n := range sizes {
		if n > sizes[s.size] || n == sizes[s.size] && size > s.size {
			s.size = size
		}
	}
	if all > 0 {
		s.bold = float64(bold) / float64(all)
	}
	return s
}

// half rounds a size to halves of a point.
func half(size float64) float64 { return math.Round(size*2) / 2 }

// write adds the blocks of all pages to a document.
func write(d *document.Document, pages []*page, budget *document.Budget) error {
	s := surveyOf(pages)
	for _, p := range pages {
		if err := budget.Err(); err != nil {
			return err
		}
		p.code = s.mono
		p.lay()
		p.headings(s)
	}
	slices.SortFunc(s.levels, func(a, b float64) int { return cmp.Compare(b, a) })
	s.levels = slices.Compact(s.levels)
	for _, p := range pages {
		d.Add(document.Block{Kind: document.Mark, Label: "page", Number: p.number, State: p.state})
		for _, b := range p.blocks {
			switch b.kind {
			case tableBlock:
				if err := budget.TakeCells(b.grid.cells()); err != nil {
					return err
				}
				d.Add(document.Block{Kind: document.Table, Grid: b.grid.model()})
			case codeBlock:
				d.Add(document.Block{Kind: document.Code, Spans: document.Text(codeText(b.lines))})
			case headingBlock:
				d.Add(document.Block{Kind: document.Heading, Level: s.levelOf(b.level), Spans: together(b.lines)})
			case imageBlock:
				d.Add(document.Block{Spans: []document.Span{{Style: document.Picture, Link: b.image}}})
			default:
				d.Add(textBlocks(b.lines)...)
			}
		}
		for _, l := range p.aside {
			d.Add(document.Block{Spans: spans(l.words)})
		}
	}
	return nil
}

func (s *survey) levelOf(size float64) int {
	const deepest = 6
	return min(slices.Index(s.levels, size)+1, deepest)
}

// heading reports whether a line may be a heading, and of which level.
func (s *survey) heading(l *line) (float64, bool) {
	const (
		larger      = 1.15 // than the text
		longest     = 160
		longestBold = 100
	)
	text := strings.TrimSpace(l.text())
	chars, letters := 0, 0
	for _, r := range text {
		chars++
		if unicode.IsLetter(r) {
			letters++
		}
	}
	if letters < 2 || chars > longest || leaders().MatchString(text) {
		return 0, false
	}
	if l.size >= larger*s.size && l.size-s.size >= 1 {
		return half(l.size), true
	}
	if l.bold() && !l.mono() && s.bold < .35 && chars <= longestBold && l.size >= .95*s.size && len(l.segments) == 1 &&
		!strings.ContainsAny(text[len(text)-1:], ".,:;") {
		return s.size + .01, true
	}
	return 0, false
}

// headings takes headings out of the blocks of text, and notes their levels.
func (p *page) headings(s *survey) {
	var all []block
	for _, b := range p.blocks {
		if b.kind != textBlock {
			all = append(all, b)
			continue
		}
		var rest []*line
		flush := func() {
			if len(rest) > 0 {
				all = append(all, block{lines: rest})
				rest = nil
			}
		}
		for i := 0; i < len(b.lines); {
			level, ok := s.heading(b.lines[i])
			n := i + 1
			for ok && n < len(b.lines) {
				next, is := s.heading(b.lines[n])
				if !is || next != level || b.lines[n].y-b.lines[n-1].y > 1.7*b.lines[n].size {
					break
				}
				n++
			}
			alone := i == 0 || b.lines[i].y-b.lines[i-1].y > 1.15*leadingAt(b.lines, n)
			if ok && (level > s.size+.5 && n-i <= 3 || alone && n-i <= 2) {
				flush()
				all = append(all, block{kind: headingBlock, lines: b.lines[i:n], level: level})
				s.levels = append(s.levels, level)
			} else {
				rest = append(rest, b.lines[i:n]...)
			}
			i = n
		}
		flush()
	}
	p.blocks = all
}

// leadingAt is the distance of a line to the next one; 0 = it is the last.
func leadingAt(lines []*line, i int) float64 {
	if i+1 < len(lines) {
		return lines[i+1].y - lines[i].y
	}
	return 0
}

// spans makes spans of the words of a line; links are kept.
func spans(words []*word) []document.Span {
	var all []document.Span
	var last *word
	inOrder(words, func(space bool, w *word) {
		if space {
			link := ""
			if last.link == w.link {
				link = w.link
			}
			all = document.Append(all, document.Span{Text: " ", Link: link})
		}
		all = document.Append(all, document.Span{Text: w.text, Link: w.link})
		last = w
	})
	return all
}

// together makes spans of lines that are one text.
func together(lines []*line) []document.Span {
	var all []document.Span
	for i, l := range lines {
		next := spans(l.words)
		if i > 0 {
			all = glue(all, lines[i-1], l.text())
		}
		all = extend(all, next)
	}
	return all
}

func extend(all, next []document.Span) []document.Span {
	for _, s := range next {
		all = document.Append(all, s)
	}
	return all
}

// glue adds what is between a line and the next one of a text: a space, or nothing in scripts
// without spaces and behind a hyphen. The hyphen of a line break goes.
func glue(all []document.Span, before *line, next string) []document.Span {
	if len(all) == 0 {
		return all
	}
	end := &all[len(all)-1]
	runes := []rune(end.Text)
	first := []rune(next)
	n := len(runes)
	if n > 2 && (runes[n-1] == '-' || runes[n-1] == '‐') && unicode.IsLetter(runes[n-2]) {
		soft := before.words[len(before.words)-1].soft || unicode.IsLower(runes[n-2])
		if soft && len(first) > 0 && unicode.IsLower(first[0]) {
			end.Text = string(runes[:n-1])
		}
		return all
	}
	if endsWide(end.Text) && startsWide(next) {
		return all
	}
	return document.Append(all, document.Span{Text: " "})
}

// textBlocks divides lines into paragraphs and items of lists.
func textBlocks(lines []*line) []document.Block {
	if len(lines) == 0 {
		return nil
	}
	t := texts{}
	var steps []float64
	t.right = lines[0].x1
	for i, l := range lines {
		t.right = max(t.right, l.x1)
		if i > 0 {
			steps = append(steps, l.y-lines[i-1].y)
		}
	}
	t.leading = quantile(steps, .4)
	for i, l := range lines {
		switch {
		case i == 0 || t.begins(lines, i):
			t.flush()
			t.begin(l)
		case t.breaks(lines[i-1], l):
			t.spans = document.Append(t.spans, document.Span{Text: "\n"})
			t.spans = extend(t.spans, t.lineSpans(l))
		default:
			t.spans = extend(glue(t.spans, lines[i-1], l.text()), t.lineSpans(l))
		}
	}
	t.flush()
	return t.blocks
}

// texts is the paragraphs of a region.
type texts struct {
	right, leading float64
	blocks         []document.Block
	spans          []document.Span
	item           bool
	label          string
	x              float64   // where the item begins
	inner          float64   // where its text begins; 0 = unknown
	indents        []float64 // of the items that are open
}

// begins reports whether a line begins a paragraph or an item.
func (t *texts) begins(lines []*line, i int) bool {
	const (
		far    = 1.35 // times the usual distance
		farEm  = 2.2
		indent = .8 // em
	)
	l, p := lines[i], lines[i-1]
	step := l.y - p.y
	if t.item && t.inner > 0 && l.x0 > t.inner-.5*l.size && l.x0 < t.inner+.5*l.size && step <= farEm*l.size && !marked(l) {
		return false // it goes on below its first word
	}
	if t.item && t.inner > 0 && l.x0 < t.inner-.5*l.size {
		return true
	}
	indented := l.x0 > p.x0+indent*l.size && l.x0 < p.x0+4*l.size && i+1 < len(lines) && lines[i+1].x0 < l.x0-.5*l.size
	return step > far*t.leading || step > farEm*max(l.size, p.size) || marked(l) || indented ||
		math.Abs(l.size-p.size) > .15*p.size
}

// marked reports whether a line begins with the mark of an item.
func marked(l *line) bool {
	return len(l.words) > 1 && listMark().MatchString(l.words[0].text) || bulletGlued().MatchString(l.words[0].text)
}

// bulletGlued is a bullet without space behind it.
var bulletGlued = pattern(`^[•◦▪▫‣●○■□➢✓]\S`)

// breaks reports whether the end of a line is meant: the next word would have fitted.
func (t *texts) breaks(p, l *line) bool {
	first := l.words[0]
	fits := p.x1+.3*l.size+(first.x1-first.x0) < t.right-.5*l.size
	parts := len(l.segments) > 1 && !t.justified(l) || len(p.segments) > 1 && !t.justified(p)
	return fits || parts
}

func (t *texts) begin(l *line) {
	t.item, t.label, t.inner = false, "", 0
	if !marked(l) {
		t.spans = t.lineSpans(l)
		return
	}
	t.item, t.x = true, l.x0
	mark := l.words[0]
	switch {
	case bulletGlued().MatchString(mark.text):
		rest := *mark
		rest.text = strings.TrimLeft(mark.text, "•◦▪▫‣●○■□➢✓")
		t.spans = spans(append([]*word{&rest}, l.words[1:]...))
		return
	case !bulletMark().MatchString(mark.text):
		t.label = mark.text
	}
	t.inner = l.words[1].x0
	rest := *l
	rest.words = l.words[1:]
	rest.finish()
	t.spans = t.lineSpans(&rest)
}

func (t *texts) flush() {
	spans := document.Trim(t.spans)
	t.spans = nil
	if len(spans) == 0 {
		return
	}
	if !t.item {
		t.indents = nil
		t.blocks = append(t.blocks, document.Block{Spans: spans})
		return
	}
	const near = 4 // points that marks of one level are apart
	for len(t.indents) > 0 && t.x < t.indents[len(t.indents)-1]-near {
		t.indents = t.indents[:len(t.indents)-1]
	}
	if len(t.indents) == 0 || t.x > t.indents[len(t.indents)-1]+near {
		t.indents = append(t.indents, t.x)
	}
	t.blocks = append(t.blocks, document.Block{Kind: document.Item, Level: len(t.indents) - 1, Label: t.label, Spans: spans})
}

// justified reports whether a line is as wide as the text and its gaps are alike: its words
// are spread, not its parts.
func (t *texts) justified(l *line) bool {
	const alike = 1.5
	if len(l.segments) < 2 || l.x1 < t.right-.5*l.size {
		return false
	}
	least, most := math.Inf(1), 0.0
	for i := 1; i < len(l.words); i++ {
		gap := l.words[i].x0 - l.words[i-1].x1
		least, most = min(least, gap), max(most, gap)
	}
	return most < alike*least
}

// lineSpans keeps the wide gaps of a line visible, so that a row stays on one line with its
// parts apart.
func (t *texts) lineSpans(l *line) []document.Span {
	if t.justified(l) {
		return spans(l.words)
	}
	var all []document.Span
	for i, s := range l.segments {
		if i > 0 {
			all = document.Append(all, document.Span{Text: "   "})
		}
		for _, span := range spans(s.words) {
			span.Text = leaders().ReplaceAllString(span.Text, "… ")
			all = document.Append(all, span)
		}
	}
	return all
}

// codeText sets the words of lines into columns.
func codeText(lines []*line) string {
	left, chars, wide := lines[0].x0, 0, 0.0
	for _, l := range lines {
		left = min(left, l.x0)
		for _, w := range l.words {
			wide += w.x1 - w.x0
			chars += w.chars
		}
	}
	column := wide / float64(max(chars, 1))
	if column <= 0 {
		column = 5
	}
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
			if l.y-lines[i-1].y > 1.8*l.size {
				b.WriteByte('\n')
			}
		}
		at := left
		for k, w := range l.words {
			const widest = 200
			n := int((w.x0-at)/column + .4)
			if k > 0 && n < 1 && (w.spaced || w.x0-at > .4*column) {
				n = 1
			}
			b.WriteString(strings.Repeat(" ", min(max(n, 0), widest)))
			b.WriteString(w.text)
			at = w.x1
		}
	}
	return b.String()
}
