package textfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Marks shows the characters that would deceive a reader and counts them:
// controls, direction marks, zero-width and other invisible characters become
// \u{202e}, bytes that are not UTF-8 become \x{e9}. Tab and line feed stay. The
// zero value is ready.
type Marks struct {
	runes map[rune]int
	bytes int
}

// Visible returns the text with its deceiving characters shown.
func Visible(text string) string {
	var m Marks
	if plain(text) == len(text) {
		return text
	}
	return string(m.Append(nil, []byte(text)))
}

// Append appends the text, with its deceiving characters shown, to dst.
func (m *Marks) Append(dst, text []byte) []byte {
	start := 0
	for i := plain(text); i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		bad := r == utf8.RuneError && size == 1
		if !bad && !deceives(r, text, i, size) {
			i += size
			continue
		}
		dst = append(dst, text[start:i]...)
		if bad {
			dst = fmt.Appendf(dst, `\x{%02x}`, text[i])
			m.bytes++
		} else {
			dst = append(strconv.AppendInt(append(dst, `\u{`...), int64(r), 16), '}')
			if m.runes == nil {
				m.runes = map[rune]int{}
			}
			m.runes[r]++
		}
		i += size
		start = i
	}
	return append(dst, text[start:]...)
}

// mostKinds bounds the kinds of characters that String names.
const mostKinds = 8

// String names the shown characters and their number, the most frequent first: "2 U+202E, 1
// byte that is not UTF-8"; "" if there are none.
func (m *Marks) String() string {
	kinds := slices.SortedFunc(maps.Keys(m.runes), func(a, b rune) int {
		return cmp.Or(m.runes[b]-m.runes[a], int(a-b))
	})
	var parts []string
	for i, r := range kinds {
		if i == mostKinds {
			parts = append(parts, fmt.Sprintf("%d kinds more", len(kinds)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %U", m.runes[r], r))
	}
	switch {
	case m.bytes == 1:
		parts = append(parts, "1 byte that is not UTF-8")
	case m.bytes > 1:
		parts = append(parts, fmt.Sprintf("%d bytes that are not UTF-8", m.bytes))
	}
	return strings.Join(parts, ", ")
}

// Merge adds the counts of other.
func (m *Marks) Merge(other Marks) {
	m.bytes += other.bytes
	if len(other.runes) == 0 { // true of almost every line
		return
	}
	for r, n := range other.runes {
		if m.runes == nil {
			m.runes = map[rune]int{}
		}
		m.runes[r] += n
	}
}

// plain returns the length of the beginning of printable ASCII, tabs and line feeds: all of
// most texts.
func plain[T string | []byte](text T) int {
	for i := 0; i < len(text); i++ {
		for i+8 <= len(text) && printable(word(text[i:i+8])) {
			i += 8
		}
		if i == len(text) {
			break
		}
		if c := text[i]; c < ' ' && c != '\t' && c != '\n' || c >= 0x7f {
			return i
		}
	}
	return len(text)
}

// word is eight bytes as a number.
func word[T string | []byte](b T) uint64 {
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// printable reports whether all bytes of a word are from space to tilde. It may return
// false where they are, never the other way round.
func printable(w uint64) bool {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	below := w - ' '*ones // borrows where a byte is less than a space
	del := w + ones       // carries into the high bit of a DEL
	return (w|below|del)&high == 0
}

// deceives reports whether the character at text[i:i+size] is shown as an escape. The
// joiners U+200C and U+200D are kept between characters beyond ASCII that are kept, where
// emoji and several scripts need them.
func deceives(r rune, text []byte, i, size int) bool {
	if !joiner(r) {
		return hides(r)
	}
	before, _ := utf8.DecodeLastRune(text[:i])
	after, _ := utf8.DecodeRune(text[i+size:])
	return slices.ContainsFunc([]rune{before, after}, func(r rune) bool {
		return r < utf8.RuneSelf || r == utf8.RuneError || joiner(r) || hides(r)
	})
}

// hides reports whether a character deceives in any place.
func hides(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n'
	case r < 0x7f:
		return false
	case r < 0xa0: // DEL and C1
		return true
	}
	_, found := slices.BinarySearchFunc(deceiving[:], r, func(span [2]rune, r rune) int {
		switch {
		case span[1] < r:
			return -1
		case span[0] > r:
			return 1
		}
		return 0
	})
	return found
}

// deceiving is the ranges of characters that are invisible, change the direction or break
// lines, after U+00A0, sorted.
var deceiving = [...][2]rune{
	{0xad, 0xad},       // soft hyphen
	{0x34f, 0x34f},     // grapheme joiner
	{0x61c, 0x61c},     // Arabic letter mark
	{0x115f, 0x1160},   // Hangul fillers
	{0x17b4, 0x17b5},   // Khmer inherent vowels
	{0x180b, 0x180f},   // Mongolian selectors and separator
	{0x200b, 0x200b},   // zero-width space
	{0x200e, 0x200f},   // direction marks
	{0x2028, 0x202e},   // line and paragraph separators, embeddings, overrides
	{0x2060, 0x206f},   // word joiner, invisible operators, isolates, deprecated
	{0x3164, 0x3164},   // Hangul filler
	{0xfeff, 0xfeff},   // byte order mark inside the text
	{0xffa0, 0xffa0},   // halfwidth Hangul filler
	{0xfff0, 0xfffb},   // annotations and unassigned
	{0xfffe, 0xffff},   // noncharacters
	{0x1bca0, 0x1bca3}, // shorthand controls
	{0x1d173, 0x1d17a}, // musical controls
	{0xe0000, 0xe0fff}, // tags, supplementary selectors
}
