// Package textedit changes text and keeps every byte that an edit does not change: byte
// order mark, encoding, each untouched line's own ending, the final newline or its absence.
//
// Matching works on UTF-8 with line feeds; matches are mapped back to the original bytes.
// An unchanged line keeps its bytes, also inside of a replaced region; a changed line keeps
// the bytes of its unchanged characters.
//
// Start at [Parse]. [Text.Apply] makes edits (edit.go), [Text.Patch] chunks of a
// patch (patch.go); both end in draft.apply (draft.go), the only place that changes
// lines. The package imports textfile, diff and nothing else of toolcrib.
package textedit

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"
)

// Text is a text file for editing. It never changes, so it can be used again.
type Text struct {
	content
	bom string
}

// content is the lines of a text.
type content struct {
	enc   textfile.Encoding
	lines []line
	text  string // all lines; each line ending is a line feed
	// stored is the bytes of lines, without their endings, for lines whose text is not
	// their bytes because the encoding is not UTF-8.
	stored []string
}

// line is a line of a file. Only the last one may have no ending. It is small, since a file
// has many.
type line struct {
	text   string // with invalid bytes unchanged
	stored int32  // index of content.stored
	end    ending
}

// ending is how a line ends. A carriage return without a line feed is an ordinary
// character.
type ending uint8

const (
	none ending = iota
	lf
	crlf
)

// Parse reads a file of the given form. An error means that it is not text.
func Parse(data []byte, form textfile.Form) (*Text, error) {
	if form.Binary {
		return nil, errors.New("the file is binary, not text")
	}
	t := &Text{bom: string(data[:form.BOM])}
	data = data[form.BOM:]
	t.enc = form.Encoding
	t.lines = make([]line, 0, t.enc.CountLF(data)+1)
	all := string(data)
	same := t.enc.UTF8() // whether the text is the file
	for at := 0; at < len(data); {
		l, n, next := line{}, len(data)-at, len(data)
		if i := t.enc.IndexLF(data[at:]); i >= 0 {
			l.end, n, next = lf, i, at+i+t.enc.Unit()
		}
		l.text = t.keep(&l, all[at:at+n])
		if l.end == lf && strings.HasSuffix(l.text, "\r") {
			t.foldCR(&l)
			same = same && l.end == lf
		}
		t.lines = append(t.lines, l)
		at = next
	}
	if same {
		t.text = all
	} else {
		t.text = join(t.lines)
	}
	return t, nil
}

// keep remembers the bytes of a line and returns its text.
func (c *content) keep(l *line, raw string) string {
	if c.enc.UTF8() {
		return raw
	}
	l.stored = int32(len(c.stored))
	c.stored = append(c.stored, raw)
	return decode(c.enc, raw)
}

// raw returns the bytes of a line without its ending.
func (c *content) raw(l line) string {
	if c.enc.UTF8() {
		return l.text
	}
	return c.stored[l.stored]
}

// foldCR makes a carriage return at the end of a line part of its ending.
func (c *content) foldCR(l *line) {
	raw, ok := strings.CutSuffix(c.raw(*l), encoded(c.enc, "\r"))
	if !ok {
		return
	}
	l.text, l.end = strings.TrimSuffix(l.text, "\r"), crlf
	if !c.enc.UTF8() {
		c.stored[l.stored] = raw
	}
}

func decode(enc textfile.Encoding, raw string) string {
	if enc.UTF8() {
		return raw
	}
	text, n := enc.DecodeWindow([]byte(raw), true)
	if n < len(raw) {
		text = append(text, string(utf8.RuneError)...)
	}
	return string(text)
}

// encoded returns ASCII characters as a file of the encoding stores them.
func encoded(enc textfile.Encoding, ascii string) string {
	if enc.Unit() == 1 {
		return ascii
	}
	data, err := enc.Encode(ascii)
	if err != nil { // every encoding with units of several bytes has ASCII
		return ascii
	}
	return string(data)
}

func join(lines []line) string {
	n := 0
	for _, l := range lines {
		n += len(l.text) + 1
	}
	var b strings.Builder
	b.Grow(n)
	for _, l := range lines {
		b.WriteString(l.text)
		if l.end != none {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// bytes returns the content as the file stores it.
func (c *content) bytes(bom string) []byte {
	ends := [...]string{lf: encoded(c.enc, "\n"), crlf: encoded(c.enc, "\r\n")}
	n := len(bom)
	for _, l := range c.lines {
		n += len(c.raw(l)) + len(ends[l.end])
	}
	data := append(make([]byte, 0, n), bom...)
	for _, l := range c.lines {
		data = append(append(data, c.raw(l)...), ends[l.end]...)
	}
	return data
}

// mark is the byte order mark as a character.
const mark = "\ufeff"

// marked reports whether an old line of the chunks has the byte order mark, as git shows
// the first line of such a file.
func marked(chunks []Chunk) bool {
	return slices.ContainsFunc(chunks, func(c Chunk) bool {
		return slices.ContainsFunc(c.Lines, func(l ChunkLine) bool { return l.Op != '+' && strings.HasPrefix(l.Text, mark) })
	})
}

// foldBOM makes the byte order mark a character of the first line.
func (d *draft) foldBOM(bom string) {
	if d.lines = slices.Clone(d.lines); len(d.lines) == 0 {
		l := line{}
		d.keep(&l, "")
		d.lines = []line{l}
	}
	l := &d.lines[0]
	l.text = mark + l.text
	d.text = mark + d.text
	if !d.enc.UTF8() {
		d.stored = slices.Clone(d.stored)
		d.stored[l.stored] = bom + d.stored[l.stored]
	}
}
