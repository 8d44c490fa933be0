package textfile

import (
	"errors"
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"
)

// Encoding is a character encoding. The zero value is UTF-8.
type Encoding struct {
	name string
	enc  encoding.Encoding // nil is UTF-8
	unit int               // bytes of a code unit, 0 means 1
	big  bool              // units of several bytes have the high byte first
	// unshift is the sequence that returns to ASCII, for an encoding with states.
	unshift string
}

// encodings lists the encodings that have names. Decoders of x/text keep no state between
// calls of NewDecoder, so the values are shared.
var encodings = sync.OnceValue(func() []Encoding {
	list := []Encoding{
		{},
		utf16(false), utf16(true), utf32Of(false), utf32Of(true),
		{name: "gb18030", enc: simplifiedchinese.GB18030},
		{name: "big5", enc: traditionalchinese.Big5},
		{name: "shift_jis", enc: japanese.ShiftJIS},
		{name: "euc-jp", enc: japanese.EUCJP},
		{name: "iso-2022-jp", enc: japanese.ISO2022JP, unshift: "\x1b(B"},
		{name: "hz-gb-2312", enc: simplifiedchinese.HZGB2312, unshift: "~}"},
		{name: "euc-kr", enc: korean.EUCKR},
		{name: "koi8-r", enc: charmap.KOI8R},
		{name: "koi8-u", enc: charmap.KOI8U},
		{name: "ibm866", enc: charmap.CodePage866},
		{name: "ibm437", enc: charmap.CodePage437},
		{name: "ibm850", enc: charmap.CodePage850},
		{name: "ibm852", enc: charmap.CodePage852},
		{name: "ibm855", enc: charmap.CodePage855},
		{name: "ibm858", enc: charmap.CodePage858},
		{name: "ibm860", enc: charmap.CodePage860},
		{name: "ibm862", enc: charmap.CodePage862},
		{name: "ibm863", enc: charmap.CodePage863},
		{name: "ibm865", enc: charmap.CodePage865},
		{name: "macintosh", enc: charmap.Macintosh},
		{name: "x-mac-cyrillic", enc: charmap.MacintoshCyrillic},
		{name: "iso-8859-1", enc: charmap.ISO8859_1},
		{name: "iso-8859-9", enc: charmap.ISO8859_9},
	}
	for _, name := range []string{
		"windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254",
		"windows-1255", "windows-1256", "windows-1257", "windows-1258", "windows-874",
		"iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7",
		"iso-8859-8", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16",
	} {
		if enc, err := htmlindex.Get(name); err == nil {
			list = append(list, Encoding{name: name, enc: enc})
		}
	}
	return list
})

func utf16(big bool) Encoding {
	if big {
		return Encoding{name: "utf-16be", enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), unit: 2, big: true}
	}
	return Encoding{name: "utf-16le", enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), unit: 2}
}

func utf32Of(big bool) Encoding {
	if big {
		return Encoding{name: "utf-32be", enc: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), unit: 4, big: true}
	}
	return Encoding{name: "utf-32le", enc: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), unit: 4}
}

// Names returns the names of the encodings. [Lookup] knows aliases too.
func Names() []string {
	list := encodings()
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}

// Lookup returns the encoding of a name or alias ("latin1", "cp1251", "gbk",
// "sjis"), in any case, with "_" or "-".
func Lookup(name string) (Encoding, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	switch name {
	case "ascii", "us-ascii", "utf8", "utf_8", "utf-8-sig":
		return Encoding{}, true
	case "latin1", "latin-1", "iso8859-1", "iso_8859-1", "iso-8859_1":
		name = "iso-8859-1"
	case "utf-16", "utf16", "utf16le", "utf-16-le", "ucs-2":
		name = "utf-16le"
	case "utf16be", "utf-16-be":
		name = "utf-16be"
	case "utf-32", "utf32", "utf32le", "utf-32-le", "ucs-4":
		name = "utf-32le"
	case "utf32be", "utf-32-be":
		name = "utf-32be"
	case "gbk", "gb2312", "gb-18030", "cp936":
		// GB18030 contains the older two, and files that name these often use more of it.
		name = "gb18030"
	case "cp932", "windows-31j":
		name = "shift_jis"
	case "cp949", "uhc":
		name = "euc-kr"
	case "hz":
		name = "hz-gb-2312"
	case "maccyrillic", "mac-cyrillic":
		name = "x-mac-cyrillic"
	case "macroman", "mac-roman":
		name = "macintosh"
	}
	list := encodings()
	same := strings.NewReplacer("_", "-")
	for _, e := range list {
		if own := e.Name(); same.Replace(own) == same.Replace(name) || strings.HasPrefix(own, "ibm") && own[3:] == strings.TrimPrefix(name, "cp") {
			return e, true
		}
	}
	enc, err := htmlindex.Get(name)
	if err != nil {
		return Encoding{}, false
	}
	for _, e := range list {
		if e.enc == enc {
			return e, true
		}
	}
	return Encoding{}, false
}

// Name returns the name, lower case, that of the WHATWG if there is one.
func (e Encoding) Name() string {
	if e.enc == nil {
		return "utf-8"
	}
	return e.name
}

// UTF8 reports whether the bytes need no decoding.
func (e Encoding) UTF8() bool { return e.enc == nil }

// Unit returns the bytes of a code unit: 1, 2 or 4. A position in a file is at a unit if it
// is a multiple of Unit, also after a byte order mark, which has whole units.
func (e Encoding) Unit() int { return max(e.unit, 1) }

// Decode returns the text as UTF-8. Invalid bytes become U+FFFD, but UTF-8 is returned
// unchanged: [Marks] shows its invalid bytes.
func (e Encoding) Decode(src []byte) []byte {
	text, _ := e.DecodeWindow(src, true)
	return text
}

// DecodeWindow decodes a part of a file and returns how many bytes it took: unless the part
// is the last one, a character that is cut off at the end is left for the next part.
func (e Encoding) DecodeWindow(src []byte, last bool) (text []byte, n int) {
	if e.enc == nil {
		if !last {
			src = src[:len(src)-cutOff(src)]
		}
		return src, len(src)
	}
	dec := e.enc.NewDecoder()
	dst := make([]byte, 0, len(src)+len(src)/2+16)
	for n < len(src) {
		nDst, nSrc, err := dec.Transform(dst[len(dst):cap(dst)], src[n:], last)
		dst, n = dst[:len(dst)+nDst], n+nSrc
		switch {
		case errors.Is(err, transform.ErrShortDst):
			dst = append(dst, make([]byte, cap(dst)+16)...)[:len(dst)]
		case err != nil || nSrc == 0: // a cut off character
			return dst, n
		}
	}
	return dst, n
}

// Prefix decodes at most the given number of characters from the start of src
// and returns how many bytes they take.
func (e Encoding) Prefix(src []byte, chars int) (text []byte, n int) {
	if e.enc == nil && len(src) <= chars {
		return src, len(src)
	}
	text, n = e.DecodeWindow(src, true)
	end := 0
	for ; chars > 0 && end < len(text); chars-- {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	if end == len(text) {
		return text, n
	}
	if e.enc == nil {
		return text[:end], end
	}
	dst := make([]byte, end)
	nDst, nSrc, err := e.enc.NewDecoder().Transform(dst, src, true)
	if err != nil && !errors.Is(err, transform.ErrShortDst) {
		return nil, 0
	}
	return dst[:nDst], nSrc
}

// Reader returns a reader of the text as UTF-8; UTF-8 is read unchanged.
func (e Encoding) Reader(r io.Reader) io.Reader {
	if e.enc == nil {
		return r
	}
	return transform.NewReader(r, e.enc.NewDecoder())
}
