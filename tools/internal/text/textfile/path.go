package textfile

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// NotUTF8 follows a path that no call can name: arguments are UTF-8.
const NotUTF8 = " [not UTF-8: no call can name it]"

// Path returns a path as it is printed. A path that would break its line, deceive a reader
// or be misread (line feeds, tabs, control and invisible characters, quotes, spaces at an
// end) is a JSON string, which is also a valid argument; every other path is bare. A path
// that is not valid UTF-8 cannot be named in a call: it is shown with escapes and with
// [NotUTF8].
func Path(path string) string {
	if bare(path) {
		return path
	}
	return Quoted(path)
}

// Quoted is [Path] with a JSON string for every path that is valid UTF-8: for texts in
// which the end of a bare path would not be clear.
func Quoted(path string) string {
	if !utf8.ValidString(path) {
		return strings.NewReplacer("\n", `\u{a}`, "\t", `\u{9}`).Replace(Visible(path)) + NotUTF8
	}
	raw := []byte(path)
	dst := append(make([]byte, 0, len(path)+16), '"')
	for i, r := range path {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n' || r == '\t' || joiner(r) || deceives(r, raw, i, utf8.RuneLen(r)):
			dst = appendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return string(append(dst, '"'))
}

// Escaped returns JSON with the deceiving characters in its texts escaped; it means the
// same.
func Escaped(text []byte) []byte {
	start := plain(text)
	if start == len(text) {
		return text
	}
	dst := append(make([]byte, 0, len(text)+64), text[:start]...)
	for i := start; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r >= utf8.RuneSelf && deceives(r, text, i, size) || r == 0x7f {
			dst = appendEscape(dst, r)
		} else {
			dst = append(dst, text[i:i+size]...)
		}
		i += size
	}
	return dst
}

// appendEscape appends a character as JSON escapes it.
func appendEscape(dst []byte, r rune) []byte {
	const plane = 0x10000
	if r < plane {
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	r -= plane
	return fmt.Appendf(dst, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
}

// joiner reports whether the effect of a character depends on its neighbours, which escapes
// change.
func joiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

func bare(path string) bool {
	if ordinary(path) {
		return true
	}
	return !strings.HasPrefix(path, " ") && !strings.HasSuffix(path, " ") &&
		strings.IndexByte(path, '\n') < 0 && strings.IndexByte(path, '\t') < 0 && strings.IndexByte(path, '"') < 0 &&
		Visible(path) == path
}

// ordinary is a quick check for nearly all paths: printable ASCII without quotes and
// spaces. It may return false where bare returns true, never the other way round.
func ordinary(path string) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	if len(path) < 8 {
		return false
	}
	bad := uint64(0)
	for i := 0; ; i += 8 {
		i = min(i, len(path)-8) // the last word may overlap the one before
		w := word(path[i : i+8])
		bad |= w | (w - '!'*ones) | (w + ones) | ((w ^ '"'*ones) - ones)
		if i == len(path)-8 {
			return bad&high == 0
		}
	}
}
