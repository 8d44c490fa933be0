package textedit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/diff"
)

// draft is a text that is being changed.
type draft struct {
	content
	// hunks lead from the original text to the present one.
	hunks []Hunk
	// preferCRLF says how new lines end if no line shows it: as most of the removed lines
	// did.
	preferCRLF bool
}

func (t *Text) draft() *draft {
	d := &draft{content: t.content}
	d.stored = slices.Clip(d.stored) // appending must not write to the Text's array
	d.preferCRLF = d.majority(d.lines) == crlf
	return d
}

// change replaces n lines from first on, counted from 0.
type change struct {
	first, n int
	lines    []newLine
}

// newLine is an added line. If it equals a removed line, that one stays.
type newLine struct {
	text  string
	ended bool
	end   ending // fixed by the file; none = the edit decides
}

// unwritable says that a new line cannot be stored in the file's encoding.
type unwritable struct {
	line int // in the new text, from 0
	err  error
}

func (e *unwritable) Error() string { return e.err.Error() }
func (e *unwritable) Unwrap() error { return e.err }

// apply makes changes, which are in order and do not overlap, and reports whether any line
// differs then. After an error, an *unwritable, nothing has changed.
func (d *draft) apply(changes []change) (bool, error) {
	changes = d.refine(changes)
	if len(changes) == 0 {
		return false, nil
	}
	size := len(d.lines)
	for _, c := range changes {
		size += len(c.lines) - c.n
	}
	lines := make([]line, 0, size)
	hunks := make([]Hunk, 0, len(changes))
	major := d.majority(d.lines)
	var text strings.Builder
	text.Grow(len(d.text) + 256)
	at, pos := 0, 0 // lines and bytes of text taken
	keep := func(to int) {
		start := pos
		for _, l := range d.lines[at:to] {
			pos += l.size()
		}
		text.WriteString(d.text[start:pos])
		lines = append(lines, d.lines[at:to]...)
		at = to
	}
	for _, c := range changes {
		keep(c.first)
		hunks = append(hunks, Hunk{OldLine: c.first + 1, OldLines: c.n, NewLine: len(lines) + 1, NewLines: len(c.lines)})
		for i, n := range c.lines {
			l, err := d.store(c, i)
			if err != nil {
				return false, &unwritable{len(lines), err}
			}
			if n.ended {
				if l.end = d.endingOf(c, i, major); l.end == lf && strings.HasSuffix(l.text, "\r") {
					d.foldCR(&l)
				}
			}
			text.WriteString(l.text)
			if n.ended {
				text.WriteByte('\n')
			}
			lines = append(lines, l)
		}
		for _, l := range d.lines[c.first : c.first+c.n] {
			pos += l.size()
		}
		at = c.first + c.n
	}
	keep(len(d.lines))
	d.lines, d.text, d.hunks = lines, text.String(), compose(d.hunks, hunks)
	return true, nil
}

// size is the bytes of the line in the text.
func (l line) size() int {
	if l.end == none {
		return len(l.text)
	}
	return len(l.text) + 1
}

// refine drops the lines that a change replaces by equal ones.
func (d *draft) refine(changes []change) []change {
	out := make([]change, 0, len(changes))
	for _, c := range changes {
		if c.n == 1 && len(c.lines) == 1 {
			if l := d.lines[c.first]; c.lines[0].String() != l.String() {
				out = append(out, c)
			}
			continue
		}
		before := make([]string, c.n)
		for i, l := range d.lines[c.first : c.first+c.n] {
			before[i] = l.String()
		}
		after := make([]string, len(c.lines))
		for i, l := range c.lines {
			after[i] = l.String()
		}
		for _, part := range diff.Lines(before, after) {
			out = append(out, change{c.first + part.A0, part.A1 - part.A0, c.lines[part.B0:part.B1]})
		}
	}
	return out
}

func (l newLine) String() string {
	if l.ended {
		return l.text + "\n"
	}
	return l.text
}

func (l line) String() string { return newLine{text: l.text, ended: l.end != none}.String() }

// store encodes the i-th new line of a change. Characters that the replaced line has too
// keep its bytes.
func (d *draft) store(c change, i int) (line, error) {
	l := line{text: c.lines[i].text}
	if d.enc.UTF8() {
		return l, nil
	}
	if i < c.n {
		if raw, ok := d.splice(d.lines[c.first+i], l.text); ok {
			d.keep(&l, raw)
			return l, nil
		}
	}
	data, err := d.enc.Encode(l.text)
	d.keep(&l, string(data))
	return l, err
}

// splice changes the bytes of a line so that it has another text. It fails if the encoding
// lacks a character, or if a character depends on the bytes before it.
func (d *draft) splice(old line, text string) (raw string, ok bool) {
	if old.text == text {
		return d.raw(old), true
	}
	prefix, suffix := diff.Common(old.text, text)
	middle, err := d.enc.Encode(text[prefix : len(text)-suffix])
	if err != nil {
		return "", false
	}
	stored := []byte(d.raw(old))
	_, head := d.enc.Prefix(stored, utf8.RuneCountInString(old.text[:prefix]))
	_, tail := d.enc.Prefix(stored, utf8.RuneCountInString(old.text[:len(old.text)-suffix]))
	if suffix == 0 {
		tail = len(stored)
	}
	raw = string(stored[:head]) + string(middle) + string(stored[tail:])
	return raw, decode(d.enc, raw) == text
}

// endingOf returns how the i-th new line of a change ends: as the change says, else as the
// line that it replaces, as most of the removed lines, as its neighbour, or as most lines
// of the file.
func (d *draft) endingOf(c change, i int, major ending) ending {
	if end := c.lines[i].end; end != none {
		return end
	}
	gone := d.lines[c.first : c.first+c.n]
	if len(gone) == len(c.lines) && gone[i].end != none {
		return gone[i].end
	}
	if end := d.majority(gone); end != none {
		return end
	}
	if c.first > 0 && d.lines[c.first-1].end != none {
		return d.lines[c.first-1].end
	}
	if after := c.first + c.n; after < len(d.lines) && d.lines[after].end != none {
		return d.lines[after].end
	}
	switch {
	case major != none:
		return major
	case d.preferCRLF:
		return crlf
	}
	return lf
}

// majority returns the commonest ending of lines, none if no line has one.
func (d *draft) majority(lines []line) ending {
	var n [3]int
	for _, l := range lines {
		n[l.end]++
	}
	switch {
	case n[lf] == 0 && n[crlf] == 0:
		return none
	case n[crlf] > n[lf]:
		return crlf
	}
	return lf
}

// unended reports whether the text has a last line without an ending.
func (d *draft) unended() bool {
	return len(d.lines) > 0 && d.lines[len(d.lines)-1].end == none
}

// whole returns a change of whole lines. At the end of the text the last line ends as
// before, unless final says otherwise; a former last line that others follow now gets an
// ending.
func (d *draft) whole(first, n int, texts []string, final *bool) change {
	c := change{first: first, n: n, lines: make([]newLine, len(texts))}
	for i, text := range texts {
		c.lines[i] = newLine{text: text, ended: true}
	}
	switch {
	case first+n < len(d.lines) || len(texts) == 0 && (final == nil || first == 0):
		return c
	case len(texts) == 0: // the line before becomes the last
		c.first, c.n, c.lines = first-1, n+1, []newLine{{text: d.lines[first-1].text, ended: *final}}
		return c
	}
	unended := d.unended()
	if n == 0 && unended {
		last := d.lines[first-1].text
		c.first, c.n, c.lines = first-1, 1, slices.Insert(c.lines, 0, newLine{text: last, ended: true})
	}
	c.lines[len(c.lines)-1].ended = !unended
	if final != nil {
		c.lines[len(c.lines)-1].ended = *final
	}
	return c
}
