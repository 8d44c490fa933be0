package textfile

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"toolcrib/tools/internal/text/textfile/internal/prose"
)

// bareUnicode recognises UTF-16 and UTF-32 without a mark, which have zero bytes: where
// all of it is characters, and at least half of these are ASCII or it reads as a language
// is written.
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

// graphic reports that a text has only characters that can be seen, and spaces.
func graphic(text []byte) bool {
	for _, r := range string(text) {
		if r == utf8.RuneError || !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && (r < '\a' || r > '\r') {
			return false
		}
	}
	return true
}

// mostlyASCII reports that half of a text is ASCII, and that no other character has a
// zero byte, as a half of one has where the bytes are something else.
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

// reads reports that a text reads as some language is written; a short one may do so by
// chance.
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
