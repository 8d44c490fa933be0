package textedit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/text/diff"
	"toolcrib/tools/internal/text/textfile"
)

// sideBySide shows numbered lines of the file next to the given ones.
func (s *session) sideBySide(file []string, first int, given []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the file (+, with line numbers) and %s (-); · is a space, → a tab where they differ:", s.what)
	left := 0
	row := func(op byte, number int, text string) {
		line := fmt.Sprintf("\n%c    \t%s", op, text)
		if number > 0 {
			line = fmt.Sprintf("\n%c%4d\t%s", op, number, text)
		}
		if left > 0 || b.Len()+len(line) > detailBytes-100 {
			left++
			return
		}
		b.WriteString(line)
	}
	pair := func(i, j int) {
		if file[i] == given[j] {
			row(' ', first+i+1, brief(file[i]))
			return
		}
		marked, was := diff.Marked(around(file[i], given[j]))
		row('-', 0, was)
		row('+', first+i+1, marked)
	}
	i, j := 0, 0
	for _, c := range append(diff.Lines(keys(file), keys(given)), diff.Change{A0: len(file), A1: len(file), B0: len(given), B1: len(given)}) {
		for ; i < c.A0; i, j = i+1, j+1 {
			pair(i, j)
		}
		for i < c.A1 && j < c.B1 {
			pair(i, j)
			i, j = i+1, j+1
		}
		for ; j < c.B1; j++ {
			row('-', 0, brief(given[j]))
		}
		for ; i < c.A1; i++ {
			row('+', first+i+1, brief(file[i]))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n… %s", textfile.Count(left, "more line"))
	}
	return b.String()
}

// aroundChars is the most bytes of a line that are shown around a difference.
const aroundChars = 300

// around cuts two lines to the text around their first difference.
func around(a, b string) (string, string) {
	if len(a) <= aroundChars && len(b) <= aroundChars {
		return a, b
	}
	prefix, _ := diff.Common(a, b)
	start := max(prefix-aroundChars/3, 0)
	cut := func(s string) string {
		from := min(start, len(s))
		for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
			from--
		}
		to := min(from+aroundChars, len(s))
		for to < len(s) && !utf8.RuneStart(s[to]) {
			to--
		}
		text := s[from:to]
		if from > 0 {
			text = "…" + text
		}
		if to < len(s) {
			text += "…"
		}
		return text
	}
	return cut(a), cut(b)
}
