package diff

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"

	"toolcrib/tools/internal/text/textfile"
)

// mostChars is how many characters of a text are compared one by one.
const mostChars = 4000

// Marked compares two short texts of one or few lines by character and returns
// both with the whitespace of their differences visible: a space as ·, a tab as →,
// a carriage return as ␍, others by their code point, as are combining marks and
// punctuation beyond ASCII that differs. The rest is shown as [textfile.Visible]
// does.
func Marked(a, b string) (string, string) {
	charsA, charsB := characters(a), characters(b)
	markA, markB := make([]bool, len(charsA)), make([]bool, len(charsB))
	for _, d := range charDiffs(charsA, charsB) {
		if !hidden(charsA[d.Start:d.End]) && !hidden(charsB[d.ReplStart:d.ReplEnd]) {
			continue
		}
		a0, a1 := widen(charsA, d.Start, d.End)
		b0, b1 := widen(charsB, d.ReplStart, d.ReplEnd)
		mark(markA[a0:a1])
		mark(markB[b0:b1])
	}
	return show(charsA, markA), show(charsB, markB)
}

func charDiffs(a, b []rune) []lcs.Diff {
	if len(a)+len(b) > mostChars {
		return nil
	}
	return lcs.DiffRunes(a, b)
}

// badByte is added to a byte that is not UTF-8 to make it a character of its own.
const badByte = unicode.MaxRune + 1

func characters(s string) []rune {
	chars := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			r = badByte + rune(s[i])
		}
		chars = append(chars, r)
		i += size
	}
	return chars
}

// widen extends a span over the whitespace that it touches, as a run of whitespace
// is compared by eye as a whole.
func widen(chars []rune, from, to int) (int, int) {
	for from > 0 && blank(chars[from-1]) {
		from--
	}
	for to < len(chars) && blank(chars[to]) {
		to++
	}
	return from, to
}

func blank(r rune) bool { return r != '\n' && unicode.IsSpace(r) }

// hidden reports whether a span has characters whose difference the eye misses.
func hidden(chars []rune) bool {
	for _, r := range chars {
		if blank(r) || subtle(r) {
			return true
		}
	}
	return false
}

// subtle reports whether a character is told from similar ones by its code point
// only.
func subtle(r rune) bool {
	return r >= utf8.RuneSelf && r <= unicode.MaxRune && (unicode.IsSpace(r) || unicode.Is(unicode.M, r) || unicode.IsPunct(r) || unicode.Is(unicode.Cf, r))
}

func mark(span []bool) {
	for i := range span {
		span[i] = true
	}
}

func show(chars []rune, marked []bool) string {
	var out, plain strings.Builder
	flush := func() {
		out.WriteString(textfile.Visible(plain.String()))
		plain.Reset()
	}
	for i, r := range chars {
		text := ""
		switch {
		case r > unicode.MaxRune:
			plain.WriteByte(byte(r - badByte))
			continue
		case !marked[i]:
		case r == ' ':
			text = "·"
		case r == '\t':
			text = "→"
		case r == '\r':
			text = "␍"
		case blank(r) || subtle(r):
			text = fmt.Sprintf(`\u{%x}`, r)
		}
		if text == "" {
			plain.WriteRune(r)
			continue
		}
		flush()
		out.WriteString(text)
	}
	flush()
	return out.String()
}
