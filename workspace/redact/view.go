package redact

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// maxLayers is how many layers of escapes a view can remove.
const maxLayers = 5

// view is a text from which some layers of escapes were removed.
type view struct {
	text   string
	layers [][]jump // the outermost first
}

// jump gives the position, in the layer above, of the text behind an escape.
type jump struct{ at, above int }

// source returns the position in the source for one in the view.
func (v *view) source(i int) int {
	for _, jumps := range slices.Backward(v.layers) {
		n, exact := slices.BinarySearchFunc(jumps, i, func(j jump, at int) int { return j.at - at })
		if !exact {
			n--
		}
		if n >= 0 {
			i += jumps[n].above - jumps[n].at
		}
	}
	return i
}

// unescape removes a layer of escapes and reports whether there was any.
func (v *view) unescape() bool {
	if len(v.layers) == maxLayers || strings.IndexByte(v.text, '\\') < 0 && strings.IndexByte(v.text, '%') < 0 && strings.IndexByte(v.text, '&') < 0 {
		return false
	}
	var out []byte
	var jumps []jump
	copied := 0
	for i := 0; i < len(v.text); {
		if !inEscapes[v.text[i]] {
			i++
			continue
		}
		char, n := escape(v.text[i:])
		if n == 0 {
			i++
			continue
		}
		if out == nil {
			out = make([]byte, 0, len(v.text))
		}
		out = append(append(out, v.text[copied:i]...), char...)
		i += n
		copied = i
		jumps = append(jumps, jump{len(out), i})
	}
	if out == nil {
		return false
	}
	v.text = string(append(out, v.text[copied:]...))
	v.layers = append(v.layers, jumps)
	return true
}

// unescaped removes all layers of escapes.
func unescaped(text string) string {
	v := view{text: text}
	for v.unescape() {
	}
	return v.text
}

// entities are the HTML entities that encoders write for ASCII.
var entities = [...]struct{ name, char string }{
	{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&apos;", "'"},
}

// escape returns the text of the escape at the beginning of s, and the length of the
// escape, 0 if there is none.
func escape(s string) (string, int) {
	switch s[0] {
	case '\\':
		return backslash(s)
	case '%':
		if n, ok := hexadecimal(s, 1, 2); ok {
			return oneByte(n), 3
		}
	case '&':
		for _, e := range entities {
			if strings.HasPrefix(s, e.name) {
				return e.char, len(e.name)
			}
		}
		return numbered(s)
	case '\'': // a shell's way to have one inside two
		if strings.HasPrefix(s, `'\''`) {
			return "'", 4
		}
	}
	return "", 0
}

// numbered reads an entity of HTML that is a number.
func numbered(s string) (string, int) {
	digits, ok := strings.CutPrefix(s[:min(len(s), 12)], "&#")
	digits, _, ends := strings.Cut(digits, ";")
	if !ok || !ends {
		return "", 0
	}
	base, number := 10, digits
	if len(digits) > 1 && (digits[0] == 'x' || digits[0] == 'X') {
		base, number = 16, digits[1:]
	}
	n, err := strconv.ParseUint(number, base, 32)
	if err != nil || n == 0 || n > unicode.MaxRune {
		return "", 0
	}
	return string(rune(n)), len("&#;") + len(digits)
}

// backslash reads an escape of JSON, Go or a shell.
func backslash(s string) (string, int) {
	if len(s) < 2 {
		return "", 0
	}
	switch c := s[1]; c {
	case 'n':
		return "\n", 2
	case 't':
		return "\t", 2
	case 'r':
		return "\r", 2
	case 'b':
		return "\b", 2
	case 'f':
		return "\f", 2
	case 'x':
		if n, ok := hexadecimal(s, 2, 2); ok {
			return oneByte(n), 4
		}
	case 'u':
		n, ok := hexadecimal(s, 2, 4)
		if !ok {
			return "", 0
		}
		if low, ok := hexadecimal(s, 8, 4); ok && utf16.IsSurrogate(n) && s[6:8] == `\u` {
			return string(utf16.DecodeRune(n, low)), 12
		}
		return string(n), 6
	case 'U':
		if n, ok := hexadecimal(s, 2, 8); ok {
			return string(n), 10
		}
	default:
		if c >= ' ' && c < 0x7f && !isAlnum(c) {
			return s[1:2], 2
		}
	}
	return "", 0
}

func oneByte(n rune) string { return string([]byte{byte(n)}) }

// hexadecimal reads n digits at a position of s.
func hexadecimal(s string, at, n int) (v rune, ok bool) {
	if len(s) < at+n {
		return 0, false
	}
	for _, c := range []byte(s[at : at+n]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | rune(c)
	}
	return v, true
}
