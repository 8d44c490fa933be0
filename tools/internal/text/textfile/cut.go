package textfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// LineChars is the most characters of a line that results show.
const LineChars = 2000

// CutLines shortens the lines of a text that have more than LineChars characters, as Cut
// does, and counts them. first is the number of the first of them, from 0.
func CutLines(text string) (short string, cut, first int) {
	if len(text) <= LineChars {
		return text, 0, 0
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		if kept := Cut(body, 0, 0, LineChars); kept != body {
			if body = kept; cut == 0 {
				first = n
			}
			cut++
		}
		b.WriteString(body)
		if ended {
			b.WriteByte('\n')
		}
		n++
	}
	return b.String(), cut, first
}

// Cut shortens a line to at most limit characters that include its bytes from..to, or their
// beginning if they are longer. Each cut end has a mark with the number of missing bytes:
// "…[+1,204 bytes]". Cuts are between characters.
func Cut(line string, from, to, limit int) string {
	if len(line) <= limit || utf8.RuneCountInString(line) <= limit {
		return line
	}
	from = min(max(from, 0), len(line))
	to = min(max(to, from), len(line))
	for from > 0 && from < len(line) && !utf8.RuneStart(line[from]) {
		from--
	}
	left := max(limit-utf8.RuneCountInString(line[from:to]), 0)
	// A third of the rest goes before, so that more of the text after is shown; each end
	// gets the room that the other does not need.
	before := min(utf8.RuneCountInString(line[:from]), left/3)
	if after := utf8.RuneCountInString(line[to:]); after < left-before {
		before = left - after
	}
	start := from
	for ; before > 0 && start > 0; before-- {
		_, size := utf8.DecodeLastRuneInString(line[:start])
		start -= size
	}
	end := start
	for n := limit; n > 0 && end < len(line); n-- {
		_, size := utf8.DecodeRuneInString(line[end:])
		end += size
	}
	text := line[start:end]
	if start > 0 {
		text = mark(start) + text
	}
	if end < len(line) {
		text += mark(len(line) - end)
	}
	return text
}

func mark(n int) string { return fmt.Sprintf("…[+%d bytes]", n) }
