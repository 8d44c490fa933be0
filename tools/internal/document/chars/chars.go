// Package chars decodes the texts that files have.
//
// It must not import a reader. Start at [Decode].
package chars

import (
	"bytes"
	"unicode/utf8"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/text/textfile"
)

// Decode returns a text as valid UTF-8 with plain line ends, and the name of its encoding.
// declared is what surrounds the text says of it; "" = nothing. Bytes that contradict a
// declaration are trusted more.
func Decode(data []byte, declared string) (text []byte, name string, err error) {
	if enc, n := textfile.BOM(data); n > 0 {
		return clean(enc.Decode(data[n:])), enc.Name(), nil
	}
	if utf8.Valid(data) && !shifts(data) && bytes.IndexByte(data, 0) < 0 {
		return clean(data), "utf-8", nil
	}
	if enc, ok := textfile.Lookup(declared); ok && !enc.UTF8() {
		return clean(enc.Decode(data)), enc.Name(), nil
	}
	form := textfile.Sniff(sample(data), false)
	switch {
	case form.Undecodable != "":
		return nil, "", document.Errorf(document.Unsupported, "the text is in %s, which cannot be decoded", form.Undecodable)
	case form.Binary:
		return nil, "", document.Errorf(document.Unsupported, "the file is no text")
	}
	return clean(form.Encoding.Decode(data)), form.Encoding.Name(), nil
}

// shifts reports whether a text in ASCII may be one in which bytes are shifted.
func shifts(data []byte) bool {
	return bytes.Contains(data, []byte("\x1b$")) || bytes.Contains(data, []byte("~{"))
}

// sample returns the start of a text, where it declares its encoding, and the surroundings of
// its first character beyond ASCII.
func sample(data []byte) []byte {
	const head, more = 2 << 10, 32 << 10
	first := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
	if first < head+more || bytes.IndexByte(data[:head], 0) >= 0 {
		return data[:min(len(data), head+more)]
	}
	return append(bytes.Clone(data[:head]), data[first-head:min(len(data), first+more)]...)
}

func clean(text []byte) []byte {
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
		text = bytes.ReplaceAll(text, []byte("\r"), []byte("\n"))
	}
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text
}
