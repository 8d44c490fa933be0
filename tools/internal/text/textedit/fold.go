package textedit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold writes typographic quotes, dashes, spaces and the ellipsis in ASCII, and the rest in
// NFC.
func fold(s string) string {
	if asciiLen(s) == len(s) {
		return s
	}
	if norm.NFC.QuickSpanString(s) < len(s) {
		s = norm.NFC.String(s)
	}
	if !strings.ContainsFunc(s, func(r rune) bool { return foldRune(r) != "" }) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i, r := range s {
		if plain := foldRune(r); plain != "" {
			b.WriteString(plain)
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:]) // 1 for an invalid byte
		b.WriteString(s[i : i+size])
	}
	return b.String()
}

func asciiLen(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// segment returns the length of the first character with the marks that it carries.
func segment(s string) int {
	if len(s) == 1 || s[0] < utf8.RuneSelf && s[1] < utf8.RuneSelf {
		return 1
	}
	return max(norm.NFC.NextBoundaryInString(s, true), 1)
}

// foldRune returns the ASCII form of a typographic character, "" for others.
func foldRune(r rune) string {
	switch class(r) {
	case quote:
		if r == '“' || r == '”' || r == '„' || r == '‟' || r == '″' {
			return `"`
		}
		return "'"
	case dash:
		return "-"
	case ellipsis:
		return "..."
	case noBreak, space:
		return " "
	}
	return ""
}

// runeClass is a kind of characters that are easily confused.
type runeClass uint8

const (
	ordinary runeClass = iota
	noBreak
	space
	quote
	dash
	ellipsis
	invisible
)

func class(r rune) runeClass {
	switch {
	case r < utf8.RuneSelf:
		return ordinary
	case r == 0xa0 || r == 0x202f:
		return noBreak
	case r == 0x2bc || r >= 0x2018 && r <= 0x201f || r == 0x2032 || r == 0x2033:
		return quote
	case r >= 0x2010 && r <= 0x2015 || r == 0x2212 || r == 0xfe58 || r == 0xfe63:
		return dash
	case r == 0x2026:
		return ellipsis
	case r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x205f || r == 0x3000:
		return space
	case r == 0x85 || r == 0xad || r == 0x2028 || r == 0x2029:
		return invisible
	case r < 0x600 || r >= 0x2070 && r < 0xfe00: // no format characters
		return ordinary
	case unicode.Is(unicode.Cf, r):
		return invisible
	}
	return ordinary
}

// split divides a line into indentation, body and trailing whitespace. A blank line is all
// indentation.
func split(s string) (indent, body, trail string) {
	body = strings.TrimLeftFunc(s, unicode.IsSpace)
	indent = s[:len(s)-len(body)]
	whole := body
	body = strings.TrimRightFunc(body, unicode.IsSpace)
	return indent, body, whole[len(body):]
}

func isBlank(s string) bool { return strings.TrimSpace(s) == "" }

// align returns the positions up to which two texts correspond, ends included; they are
// equal when folded, except for spaces.
func align(a, b string) [][2]int {
	at := [][2]int{{0, 0}}
	i, j := 0, 0
	foldedA, foldedB := 0, 0
	for i < len(a) || j < len(b) {
		n, m := 0, 0
		var textA, textB string
		if i < len(a) {
			n = segment(a[i:])
			textA = strings.TrimSpace(fold(a[i : i+n]))
		}
		if j < len(b) {
			m = segment(b[j:])
			textB = strings.TrimSpace(fold(b[j : j+m]))
		}
		switch {
		case foldedA == foldedB && n > 0 && m > 0 && textA == "" && textB == "": // a space in both
			i, j = i+n, j+m
		case n > 0 && (foldedA < foldedB || m == 0 || foldedA == foldedB && (textA == "" || textB != "")):
			foldedA += len(textA)
			i += n
		default:
			foldedB += len(textB)
			j += m
		}
		if foldedA == foldedB {
			at = append(at, [2]int{i, j})
		}
	}
	return at
}
