package textfile

import (
	"bytes"
	"regexp"
	"sync"
	"unicode/utf8"
)

// SniffLen is how many bytes of the head decide whether a file is binary.
const SniffLen = 8 << 10

// Source says how an encoding was found.
type Source string

const (
	// Certain by a byte order mark, or because all bytes are valid UTF-8.
	Certain Source = ""
	// Declared by the file: an XML prolog, an HTML meta, a coding comment.
	Declared Source = "declared"
	// Detected from its form, or because it reads like a language, and nearly as well in no
	// other encoding.
	Detected Source = "detected"
	// Guessed as the likeliest one: it may be wrong.
	Guessed Source = "guessed"
)

// Form is what a file is, judged by its head.
type Form struct {
	// Binary reports whether the file is not text that can be decoded; the other fields are
	// then zero, except Undecodable.
	Binary bool
	// Undecodable is the encoding of a text without a decoder for it.
	Undecodable string
	Encoding    Encoding
	BOM         int // bytes of the byte order mark, 0 = none
	Source      Source
}

// Sniff returns the form of a file by its head, the first [SniffLen] bytes or more; whole
// says that the head is the whole file. Encodings are found in this order: byte order mark,
// valid UTF-8, declared, detected.
func Sniff(head []byte, whole bool) Form {
	if enc, n := BOM(head); n > 0 {
		return Form{Encoding: enc, BOM: n}
	}
	if enc, ok := bareUnicode(head); ok {
		return Form{Encoding: enc, Source: Detected}
	}
	if Binary(head) {
		return Form{Binary: true}
	}
	if !whole {
		head = head[:len(head)-cutOff(head)]
	}
	if utf8.Valid(head) {
		return shifted(head)
	}
	multi, bad := census(head)
	if multi >= 4*bad { // UTF-8 with some damage
		return Form{}
	}
	if enc, ok := declared(head); ok {
		return Form{Encoding: enc, Source: Declared}
	}
	return detect(head)
}

// BOM returns the encoding of a byte order mark and the mark's length, 0 if the head has
// none.
func BOM(head []byte) (Encoding, int) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return Encoding{}, 3
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")):
		return utf32Of(false), 4
	case bytes.HasPrefix(head, []byte("\x00\x00\xfe\xff")):
		return utf32Of(true), 4
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return utf16(false), 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return utf16(true), 2
	}
	return Encoding{}, 0
}

// Binary reports whether a head without a byte order mark is not text: it has a NUL or many
// control characters in the first SniffLen bytes, or is a PDF, whose head can be text.
func Binary(head []byte) bool {
	head = head[:min(len(head), SniffLen)]
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("%PDF-")) {
		return true
	}
	controls := 0
	for _, c := range head {
		if c < ' ' && (c < '\a' || c > '\r') && c != '\x1b' || c == 0x7f {
			controls++
		}
	}
	return controls > len(head)/16 && !utf8.Valid(head[:len(head)-cutOff(head)])
}

var declaration = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\A<\?xml[^>]*encoding\s*=\s*["']([\w.:-]+)` +
		`|<meta[^>]*charset\s*=\s*["']?([\w.:-]+)` +
		`|\A@charset "([\w.:-]+)"` +
		`|\A(?:[^\n]*\n)?[^\n\w]*[^\n]*coding[:=]\s*([\w.-]+)`)
})

func declared(head []byte) (Encoding, bool) {
	m := declaration().FindSubmatch(head[:min(len(head), 1024)])
	if m == nil {
		return Encoding{}, false
	}
	enc, ok := Lookup(string(bytes.Join(m[1:], nil)))
	if !ok || enc.UTF8() || enc.Unit() > 1 {
		return Encoding{}, false
	}
	return enc, !bytes.Contains(enc.Decode(head), []byte("\ufffd"))
}

// census counts the characters of several bytes and the bytes that are not UTF-8.
func census(text []byte) (multi, bad int) {
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
		} else {
			multi++
		}
		i += size
	}
	return multi, bad
}

// cutOff returns how many bytes at the end of p begin a UTF-8 character without its end.
func cutOff(p []byte) int {
	for n := 1; n <= min(len(p), utf8.UTFMax-1); n++ {
		if tail := p[len(p)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}
