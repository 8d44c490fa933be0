// Package screen turns the output of programs for a terminal into text: [Clean] for output
// in a log, [Screen] for the contents of a terminal of a fixed size.
//
// It must not import tools or any category. Neither panics for any bytes.
package screen

import (
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"
)

// Clean returns output as readable without a terminal: control sequences, NUL and bells are
// removed, and so is text overwritten after a carriage return or backspaces. Each run of
// bytes that are not UTF-8 is one U+FFFD. Deceiving characters are shown as
// [textfile.Visible] shows them.
func Clean(raw []byte) string {
	if plain(raw) {
		return string(raw)
	}
	c := cleaner{}
	for len(raw) > 0 {
		raw = raw[c.step(raw):]
	}
	c.line()
	return textfile.Visible(c.out.String())
}

// plain reports whether raw is printable ASCII, tabs and line feeds: most output.
func plain(raw []byte) bool {
	for _, b := range raw {
		if b < ' ' && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}

// widest is the most columns of a line that can be overwritten: for a program that goes
// back, the rest is another line.
const widest = 1 << 16

type cleaner struct {
	out    strings.Builder
	cells  []rune // of the line
	column int
	broken bool // the last character replaces bytes that are not UTF-8
}

// step takes the next character or sequence and returns its length.
func (c *cleaner) step(raw []byte) int {
	b := raw[0]
	broken := c.broken
	c.broken = false
	switch {
	case b == '\n':
		c.line()
		c.out.WriteByte('\n')
	case b == '\r':
		c.column = 0
	case b == '\b':
		c.column = max(c.column-1, 0)
	case b == esc:
		n, final, args := sequence(raw)
		c.control(final, args)
		return n
	case b == '\t' || b >= ' ' && b < 0x7f:
		c.put(rune(b))
	case b < utf8.RuneSelf: // NUL, bell, shifts, DEL
		c.broken = broken
	default:
		r, n := utf8.DecodeRune(raw)
		if r == utf8.RuneError && n == 1 {
			if c.broken = true; !broken {
				c.put(utf8.RuneError)
			}
			return 1
		}
		c.put(r)
		return n
	}
	return 1
}

func (c *cleaner) put(r rune) {
	if c.column >= widest {
		c.flush()
	}
	if c.column < len(c.cells) {
		c.cells[c.column] = r
	} else {
		c.cells = append(c.cells, r)
	}
	c.column++
}

// line ends the line.
func (c *cleaner) line() {
	c.flush()
	c.broken = false
}

func (c *cleaner) flush() {
	for _, r := range c.cells {
		c.out.WriteRune(r)
	}
	c.cells, c.column = c.cells[:0], 0
}

// control carries out the sequences that move in the line or erase parts of it; it ignores
// others.
func (c *cleaner) control(final byte, args []int) {
	switch final {
	case 'K':
		c.erase(arg(args, 0, 0))
	case 'G':
		c.move(arg(args, 0, 1) - 1)
	case 'C':
		c.move(c.column + arg(args, 0, 1))
	case 'D':
		c.move(c.column - arg(args, 0, 1))
	}
}

// move goes to a column; the gap after the end of the line becomes blank.
func (c *cleaner) move(to int) {
	to = min(max(to, 0), widest-1, len(c.cells)+256)
	for len(c.cells) < to {
		c.cells = append(c.cells, ' ')
	}
	c.column = to
}

func (c *cleaner) erase(mode int) {
	switch mode {
	case 0:
		c.cells = c.cells[:min(c.column, len(c.cells))]
	case 1:
		for i := range min(c.column+1, len(c.cells)) {
			c.cells[i] = ' '
		}
	case 2:
		c.cells = c.cells[:0]
		to := c.column
		c.column = 0
		c.move(to)
	}
}
