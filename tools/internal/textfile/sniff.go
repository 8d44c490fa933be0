package textfile

import (
	"bytes"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/wlynxg/chardet"
)

// SniffLen is how many bytes of the head decide whether a file is binary.
const SniffLen = 8 << 10

// Source is how an encoding is known.
type Source string

const (
	// Certain by a byte order mark, or since all bytes are valid UTF-8.
	Certain Source = ""
	// Declared by the file: an XML prolog, an HTML meta, a coding comment.
	Declared Source = "declared"
	// Detected from the frequencies of enough bytes.
	Detected Source = "detected"
	// Assumed from too few bytes to detect anything: it may well be wrong.
	Assumed Source = "assumed"
)

// Form is what the head of a file tells of it.
type Form struct {
	// Binary reports that the file is no text; the other fields are then zero.
	Binary   bool
	Encoding Encoding
	BOM      int // bytes of the byte order mark, 0 without
	Source   Source
}

// Sniff tells the form of a file from its head, the first [SniffLen] bytes or
// more; whole says that the head is all of it. For an encoding the order is:
// byte order mark, valid UTF-8, declared, detected.
func Sniff(head []byte, whole bool) Form {
	if enc, n := BOM(head); n > 0 {
		return Form{Encoding: enc, BOM: n}
	}
	if enc, ok := bareUTF16(head); ok {
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
	multi, bad, single := census(head)
	if multi >= 4*bad { // UTF-8 with some damage
		return Form{}
	}
	if enc, ok := declared(head); ok {
		return Form{Encoding: enc, Source: Declared}
	}
	return detect(head, bad, single)
}

// shifted tells ISO-2022-JP, whose bytes are all ASCII, from UTF-8 by its escape
// sequences.
func shifted(head []byte) Form {
	i := bytes.Index(head, []byte("\x1b$"))
	if i < 0 || i+2 >= len(head) || head[i+2] != 'B' && head[i+2] != '@' {
		return Form{}
	}
	enc, ok := Lookup("iso-2022-jp")
	if !ok {
		return Form{}
	}
	if text, _ := enc.DecodeWindow(head, false); bytes.Contains(text, []byte("\ufffd")) {
		return Form{}
	}
	return Form{Encoding: enc, Source: Detected}
}

// BOM returns the encoding that a byte order mark names and the mark's length,
// 0 where the head has none.
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

// Binary reports whether a head without a byte order mark is no text: a NUL or
// many control characters in the first SniffLen bytes, or a PDF, whose head can
// be text.
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

// bareUTF16 recognises UTF-16 without a mark by the zero bytes of the Latin
// letters, digits, spaces and line ends, if at least half of it are such.
func bareUTF16(head []byte) (Encoding, bool) {
	head = head[:min(len(head), SniffLen)&^1]
	if len(head) < 8 || bytes.IndexByte(head, 0) < 0 {
		return Encoding{}, false
	}
	var zeros [2]int
	for i, c := range head {
		if c == 0 {
			zeros[i&1]++
		}
	}
	big := zeros[0] > 0
	if zeros[0] > 0 && zeros[1] > 0 || max(zeros[0], zeros[1]) < len(head)/4 {
		return Encoding{}, false
	}
	enc := utf16(big)
	text, _ := enc.DecodeWindow(head, false)
	for _, r := range string(text) {
		if r < ' ' && (r < '\a' || r > '\r') || r == utf8.RuneError || r >= 0xe000 && r <= 0xf8ff {
			return Encoding{}, false
		}
	}
	return enc, true
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

// enough is how many bytes beyond ASCII make a detection worth its name.
const enough = 24

// detect guesses. Bytes that stand alone among ASCII are a Latin alphabet,
// which no detector tells apart: windows-1252 is the commonest.
func detect(head []byte, high int, single bool) Form {
	if single {
		enc, _ := Lookup("windows-1252")
		return Form{Encoding: enc, Source: Assumed}
	}
	for _, r := range chardet.DetectAll(telling(head)) {
		enc, ok := Lookup(r.Encoding)
		if !ok || enc.UTF8() || enc.Unit() > 1 {
			continue
		}
		if high < enough || r.Confidence < 0.5 {
			return Form{Encoding: enc, Source: Assumed}
		}
		return Form{Encoding: enc, Source: Detected}
	}
	enc, _ := Lookup("windows-1252")
	return Form{Encoding: enc, Source: Assumed}
}

// sampleSize is how much is looked at to detect an encoding: a detector takes a
// millisecond for a few thousand bytes.
const sampleSize = 16 << 10

// telling returns the lines that have bytes beyond ASCII, up to sampleSize.
func telling(head []byte) []byte {
	if len(head) <= sampleSize {
		return head
	}
	var sample []byte
	for line := range bytes.Lines(head) {
		if len(sample)+len(line) > sampleSize {
			line = line[:sampleSize-len(sample)]
		}
		if bytes.ContainsFunc(line, func(r rune) bool { return r >= utf8.RuneSelf }) {
			sample = append(sample, line...)
		}
		if len(sample) == sampleSize {
			break
		}
	}
	return sample
}

// census counts the characters of several bytes and the bytes that are not
// UTF-8; single says that each of these stands alone.
func census(text []byte) (multi, bad int, single bool) {
	single = true
	last := -2
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			bad++
			single = single && last != i-1
			last = i
		} else {
			multi++
		}
		i += size
	}
	return multi, bad, single
}

// cutOff returns how many bytes at the end of p begin a UTF-8 character that
// goes on after it.
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
