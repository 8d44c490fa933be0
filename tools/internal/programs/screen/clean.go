// Package screen makes text of what programs print for a terminal: [Clean] of output as
// it stands in a log, [Screen] of what a terminal of a fixed size would show.
//
// It must not import tools or any category. Neither panics, whatever the bytes are.
package screen

import (
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile"
)

// Clean returns output as a reader sees it who has no terminal: without control
// sequences, what a carriage return or backspaces wrote over gone, each run of bytes that
// are not UTF-8 one U+FFFD, NUL and bells left out. Characters that deceive are shown, as
// [textfile.Visible] does.
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

// plain reports printable ASCII, tabs and line feeds: most output.
func plain(raw []byte) bool {
	for _, b := range raw {
		if b < ' ' && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}

// widest is the most columns of a line that can be written over: what is beyond is a
// line of its own to a program that goes back.
const widest = 1 << 16

type cleaner struct {
	out    strings.Builder
	cells  []rune // of the line
	column int
	broken bool // the last character is one for bytes that are not UTF-8
}

// step takes what comes first and returns how long it is.
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

// line ends the line as it stands.
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

// control carries out what moves on the line or erases of it; the rest only looks.
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

// move goes to a column; what lies between it and the end of the line is blank.
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
