package textfile

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile/internal/prose"
)

// bareUnicode recognises UTF-16 and UTF-32 without a mark, by their zero bytes: the whole
// text must be characters, and at least half of them ASCII, or the text must read like a
// language.
func bareUnicode(head []byte) (Encoding, bool) {
	head = head[:min(len(head), SniffLen)]
	if len(head) < 8 || bytes.IndexByte(head, 0) < 0 {
		return Encoding{}, false
	}
	for _, enc := range []Encoding{utf32Of(false), utf32Of(true), utf16(false), utf16(true)} {
		whole := head[:len(head)/enc.Unit()*enc.Unit()]
		text, _ := enc.DecodeWindow(whole, false)
		if graphic(text) && (mostlyASCII(text, whole, enc.Unit()) || reads(text)) {
			return enc, true
		}
	}
	return Encoding{}, false
}

// graphic reports whether a text has only visible characters and spaces.
func graphic(text []byte) bool {
	for _, r := range string(text) {
		if r == utf8.RuneError || !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && (r < '\a' || r > '\r') {
			return false
		}
	}
	return true
}

// mostlyASCII reports whether at least half of a text is ASCII and no other character has a
// zero byte. Other data has such bytes.
func mostlyASCII(text, encoded []byte, unit int) bool {
	ascii, low, total := 0, 0, 0
	for _, r := range string(text) {
		if r < utf8.RuneSelf {
			ascii++
		}
		if r < 0x100 {
			low++
		}
		total++
	}
	return 2*ascii >= total && (unit > 2 || bytes.Count(encoded, []byte{0}) == low)
}

// reads reports whether a text reads like some language; a short one may do so by chance.
func reads(text []byte) bool {
	if len(text) < 32 {
		return false
	}
	t := prose.OfRunes(telling(text))
	for _, m := range prose.All() {
		if m.Fit(t).Typical() {
			return true
		}
	}
	return false
}
