package markup

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// valid returns text as valid UTF-8 with line ends as XML has them.
func valid(text []byte) []byte {
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	if !utf8.Valid(text) {
		return bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	return text
}

// unescape replaces the entities that every XML has. It leaves others as they are.
func unescape(text []byte) []byte {
	text = valid(text)
	if bytes.IndexByte(text, '&') < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(out, text...)
		}
		out = append(out, text[:i]...)
		text = text[i:]
		end := bytes.IndexByte(text[:min(len(text), 12)], ';')
		if end < 0 {
			out = append(out, '&')
			text = text[1:]
			continue
		}
		r, ok := entity(string(text[1:end]))
		if !ok {
			out = append(out, '&')
			text = text[1:]
			continue
		}
		out = utf8.AppendRune(out, r)
		text = text[end+1:]
	}
}

func entity(name string) (rune, bool) {
	switch name {
	case "amp":
		return '&', true
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "quot":
		return '"', true
	case "apos":
		return '\'', true
	case "nbsp": // common in files that were HTML once
		return '\u00a0', true
	}
	if len(name) < 2 || name[0] != '#' {
		return 0, false
	}
	base, digits := 10, name[1:]
	if digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n > utf8.MaxRune || n == 0 {
		return 0, false
	}
	return rune(n), true
}
