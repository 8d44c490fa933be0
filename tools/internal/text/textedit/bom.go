package textedit

import (
	"slices"
	"strings"
)

// mark is the byte order mark as a character.
const mark = "\ufeff"

// marked reports whether chunks have the byte order mark as part of an old line, as git
// shows the first line of a file that begins with one.
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
