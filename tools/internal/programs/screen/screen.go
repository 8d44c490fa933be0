package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"toolcrib/tools/internal/text/textfile"
)

// Screen is the text of an xterm of a fixed size: no colours, no mouse. It is not safe for
// use by several goroutines.
type Screen struct {
	rows, columns int
	lines         [][]cell // the shown screen
	other         [][]cell // the hidden screen
	alternate     bool     // the second screen is shown
	at, saved     cursor
	top, bottom   int  // of the region that scrolls, bottom inclusive
	wraps, insert bool // as DECAWM and IRM set them
	keypad        bool // cursor keys send the codes for applications, DECCKM
	bracketed     bool // pasted text needs brackets
	last          rune // printed, for REP
	scrolled      int  // lines that went over the top of the first screen
	rest          []byte
	replies       []byte
}

// cell is the content of a position: "" nothing, wide the right half of the character
// before.
type cell string

const wide cell = "\x00"

type cursor struct {
	row, column int
	full        bool // the next character goes to the next line
	drawing     bool // letters are lines, as DEC has them
}

// Limits.
const (
	most       = 1000 // rows and columns
	mostAnswer = 1024 // bytes of replies that nobody reads
)

// New makes an empty screen.
func New(rows, columns int) *Screen {
	s := &Screen{rows: min(max(rows, 1), most), columns: min(max(columns, 2), most)}
	s.reset()
	return s
}

func (s *Screen) reset() {
	*s = Screen{rows: s.rows, columns: s.columns, bottom: s.rows - 1, wraps: true, scrolled: s.scrolled, replies: s.replies}
	s.lines, s.other = s.blank(), s.blank()
}

func (s *Screen) blank() [][]cell {
	lines := make([][]cell, s.rows)
	for i := range lines {
		lines[i] = make([]cell, s.columns)
	}
	return lines
}

// Write implements [io.Writer]. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	n := len(p)
	if len(s.rest) > 0 {
		p = append(s.rest, p...)
		s.rest = nil
	}
	for len(p) > 0 {
		k := s.step(p)
		if k == 0 { // incomplete
			s.rest = append([]byte(nil), p...)
			break
		}
		p = p[k:]
	}
	return n, nil
}

// step takes the next character or sequence and returns its length, 0 if it is incomplete.
func (s *Screen) step(p []byte) int {
	switch b := p[0]; {
	case b == esc:
		n, final, mark, args := parse(p)
		if n > 0 {
			s.carry(final, mark, args, p[:n])
		}
		return n
	case b < ' ' || b == 0x7f:
		s.plain(b)
		return 1
	case b < utf8.RuneSelf:
		s.put(rune(b))
		return 1
	case !utf8.FullRune(p):
		return 0
	default:
		r, n := utf8.DecodeRune(p)
		s.put(r)
		return n
	}
}

// plain carries out a control character.
func (s *Screen) plain(b byte) {
	switch b {
	case '\n', '\v', '\f':
		s.feed()
	case '\r':
		s.at.column, s.at.full = 0, false
	case '\b':
		s.at.column, s.at.full = max(s.at.column-1, 0), false
	case '\t':
		s.at.column = min((s.at.column/8+1)*8, s.columns-1)
	case 0x0e, 0x0f: // shift out, shift in
		s.at.drawing = b == 0x0e && s.at.drawing
	}
}

// put prints a character.
func (s *Screen) put(r rune) {
	if s.at.drawing {
		r = drawn(r)
	}
	cells := 1
	switch k := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		s.join(r)
		return
	case k == width.EastAsianWide || k == width.EastAsianFullwidth:
		cells = 2
	}
	if s.at.full && s.wraps || s.at.column+cells > s.columns {
		s.at.column = 0
		s.feed()
	}
	s.at.full = false
	line := s.lines[s.at.row]
	if s.insert {
		copy(line[s.at.column+cells:], line[s.at.column:])
	}
	s.clearHalf(s.at.column)
	line[s.at.column] = cell(r)
	if cells == 2 {
		s.clearHalf(s.at.column + 1)
		line[s.at.column+1] = wide
	}
	s.last = r
	if s.at.column += cells; s.at.column >= s.columns {
		s.at.column, s.at.full = s.columns-1, true
	}
}

// join puts a mark on the character before.
func (s *Screen) join(r rune) {
	column := s.at.column - 1
	if s.at.full {
		column = s.at.column
	}
	line := s.lines[s.at.row]
	for column >= 0 && line[column] == wide {
		column--
	}
	const longestCell = 32
	if column >= 0 && line[column] != "" && len(line[column]) < longestCell {
		line[column] += cell(r)
	}
}

// clearHalf empties the other half of a wide character that is overwritten.
func (s *Screen) clearHalf(column int) {
	line := s.lines[s.at.row]
	if line[column] == wide && column > 0 {
		line[column-1] = ""
	}
	if column+1 < s.columns && line[column+1] == wide {
		line[column+1] = ""
	}
}

// feed goes to the next line, and scrolls at the end of the region.
func (s *Screen) feed() {
	s.at.full = false
	switch {
	case s.at.row == s.bottom:
		if s.top == 0 && !s.alternate {
			s.scrolled++
		}
		s.scroll(s.top, s.bottom, 1)
	case s.at.row < s.rows-1:
		s.at.row++
	}
}

// scroll moves the lines of a region up, or down if n is negative.
func (s *Screen) scroll(top, bottom, n int) {
	region := s.lines[top : bottom+1]
	n = min(max(n, -len(region)), len(region))
	for range max(n, -n) {
		if n > 0 {
			first := region[0]
			copy(region, region[1:])
			clear(first)
			region[len(region)-1] = first
		} else {
			last := region[len(region)-1]
			copy(region[1:], region)
			clear(last)
			region[0] = last
		}
	}
}

// String returns the shown text, without blanks at the ends of lines and without empty
// lines at the end.
func (s *Screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		text := strings.Builder{}
		for _, c := range line {
			switch c {
			case "":
				text.WriteByte(' ')
			case wide:
			default:
				text.WriteString(string(c))
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " "))
		b.WriteByte('\n')
	}
	text := strings.TrimRight(b.String(), "\n")
	if text == "" {
		return ""
	}
	return textfile.Visible(text) + "\n"
}

// Cursor returns the position of the next character, from 1.
func (s *Screen) Cursor() (row, column int) { return s.at.row + 1, s.at.column + 1 }

// Size returns the rows and columns.
func (s *Screen) Size() (rows, columns int) { return s.rows, s.columns }

// Scrolled returns how many lines were scrolled off the top.
func (s *Screen) Scrolled() int { return s.scrolled }

// Replies returns the terminal's answers to the program's queries, once.
func (s *Screen) Replies() []byte {
	r := s.replies
	s.replies = nil
	return r
}

func (s *Screen) reply(format string, args ...any) {
	if len(s.replies) < mostAnswer {
		s.replies = fmt.Appendf(s.replies, format, args...)
	}
}
