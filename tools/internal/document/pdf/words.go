package pdf

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolcrib/tools/internal/document/pdf/pdfium"
)

// word is a run of characters without a gap.
type word struct {
	text      string
	x0, x1, y float64 // y is that of the baseline
	size      float64
	style     *pdfium.Text
	chars     int
	spaced    bool    // a space precedes it
	soft      bool    // it ends with the hyphen of a line break
	link      string  // where it leads to
	insert    *insert // a word that is none
}

// insert is a drawn table, a frame or an image in the place of text.
type insert struct {
	area  area
	grid  *grid
	frame []*word // the words of a frame, to be laid out by themselves
	image string  // its name
}

// area is a rectangle, y down.
type area struct{ x0, y0, x1, y1 float64 }

// holds reports whether the middle of a word lies in an area, or as near as slack.
func (a area) holds(w *word, slack float64) bool {
	x, y := w.middle()
	return x >= a.x0-slack && x <= a.x1+slack && y >= a.y0-slack && y <= a.y1+slack
}

func (w *word) middle() (x, y float64) { return (w.x0 + w.x1) / 2, w.y - .3*w.size }

// place makes a word of an insert.
func (i *insert) place() *word {
	return &word{x0: i.area.x0, x1: i.area.x1, y: i.area.y0 + 8, size: 10, style: plainStyle, insert: i}
}

var plainStyle = &pdfium.Text{Font: &pdfium.Font{}, Size: 10}

// upright turns a point of a page, y up, so that text of a direction runs to the right.
func upright(x, y float64, direction int) (float64, float64) {
	switch direction {
	case 90:
		return y, x
	case 180:
		return -x, y
	case 270:
		return -y, -x
	}
	return x, -y
}

// uprightArea turns a box.
func uprightArea(b pdfium.Box, direction int) area {
	x0, y0 := upright(b.X0, b.Y0, direction)
	x1, y1 := upright(b.X1, b.Y1, direction)
	return area{min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)}
}

// words returns the words of one direction in the order of the content. A word ends at a
// space, at a jump of the baseline, and at a gap.
func words(p *pdfium.Page, direction int) []*word {
	const (
		jump    = .25 // em
		gapEm   = .3
		overlap = -.6
	)
	var all []*word
	var w *word
	var last *pdfium.Char
	spaced := false
	for i := range p.Chars {
		c := &p.Chars[i]
		r := c.Rune
		if unicode.IsSpace(r) {
			if w == nil || !hidden(p.Chars, i, direction) {
				w, spaced = nil, true
			}
			continue
		}
		soft := r == 0x02 || r == 0xfffe || r == 0xad // how a hyphen of a line break comes
		if soft {
			r = '-'
		}
		if r < ' ' || r == 0xfeff || r == 0xffff || !utf8.ValidRune(r) {
			continue
		}
		if c.Object == 0 {
			if soft && w != nil {
				w.text += "-"
				w.soft = true
			}
			continue
		}
		if c.Text.Direction != direction {
			w = nil
			continue
		}
		box := uprightArea(c.Box, direction)
		_, y := upright(c.X, c.Y, direction)
		size := c.Text.Size
		if w != nil {
			gap := box.x0 - w.x1
			if pdfium.RightToLeft(r) || unicode.Is(unicode.Mn, r) {
				gap = max(gap, w.x0-box.x1)
			}
			ligature := c.Object == last.Object && c.Box == last.Box
			if !ligature && (math.Abs(y-w.y) > jump*size || gap > gapEm*size || gap < overlap*size) {
				w = nil
			}
		}
		if w == nil {
			w = &word{x0: box.x0, x1: box.x1, y: y, size: size, style: c.Text, spaced: spaced}
			all = append(all, w)
		}
		spaced, last = false, c
		w.text += string(r)
		w.soft = soft
		w.x0, w.x1 = min(w.x0, box.x0), max(w.x1, box.x1)
		w.chars++
	}
	return all
}

// hidden reports whether a space is drawn below the character that follows it.
func hidden(chars []pdfium.Char, i, direction int) bool {
	if i+1 == len(chars) || chars[i].Object == 0 || chars[i+1].Object == 0 {
		return false
	}
	space, next := uprightArea(chars[i].Box, direction), uprightArea(chars[i+1].Box, direction)
	wide := space.x1 - space.x0
	return wide > .1*chars[i].Text.Size && math.Abs(next.x0-space.x0) < .3*wide && !unicode.IsSpace(chars[i+1].Rune) && !pdfium.RightToLeft(chars[i+1].Rune)
}

// slanted returns the text that runs in no direction of an axis, a word for each line as
// PDFium found it.
func slanted(p *pdfium.Page) []*word {
	var all []*word
	var w *word
	for i := range p.Chars {
		c := &p.Chars[i]
		switch {
		case c.Text.Direction >= 0 || c.Rune == '\r' || c.Rune == '\n':
			w = nil
		case c.Rune < ' ' || !utf8.ValidRune(c.Rune):
		case w == nil && c.Object == 0:
		case w == nil:
			w = &word{text: string(c.Rune), x0: c.Box.X0, x1: c.Box.X1, y: -c.Y, size: c.Text.Size, style: c.Text, chars: 1}
			all = append(all, w)
		default:
			w.text += string(c.Rune)
			w.chars++
		}
	}
	return all
}

// setLinks gives words the addresses of the links that lie over them.
func setLinks(words []*word, links []pdfium.Link, direction int) {
	for _, l := range links {
		a := uprightArea(l.Box, direction)
		for _, w := range words {
			if a.holds(w, 0) {
				w.link = l.URI
			}
		}
	}
}

// joined returns the text of words in their order on the line.
func joined(words []*word) string {
	var b strings.Builder
	inOrder(words, func(space bool, w *word) {
		if space {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
	})
	return b.String()
}

// inOrder calls yield for words in reading order: where most are written from right to left,
// the last one is first.
func inOrder(words []*word, yield func(space bool, w *word)) {
	const least = .15 // em, between words without a space
	right := 0
	for _, w := range words {
		if strings.ContainsFunc(w.text, pdfium.RightToLeft) {
			right++
		}
	}
	if right*2 > len(words) {
		for i, w := range slices.Backward(words) {
			yield(i < len(words)-1, w)
		}
		return
	}
	for i, w := range words {
		space := false
		if i > 0 {
			p := words[i-1]
			gap := w.x0 - p.x1
			space = (w.spaced || gap > least*w.size) && !(endsWide(p.text) && startsWide(w.text) && gap < .9*w.size)
		}
		yield(space, w)
	}
}

// wide reports whether a character is of a script that has no spaces between words.
func wide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303f || r >= 0xff00 && r <= 0xffef
}

func startsWide(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return wide(r)
}

func endsWide(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return wide(r)
}

// width is how many columns of a terminal a text takes.
func width(text string) int {
	n := 0
	for _, r := range text {
		if n++; wide(r) {
			n++
		}
	}
	return n
}
