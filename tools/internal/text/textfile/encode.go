package textfile

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// EncodeError says which character an encoding cannot express.
type EncodeError struct {
	Encoding string // its name
	Rune     rune   // utf8.RuneError = the byte at Offset begins no character
	Offset   int    // in bytes of the text
}

func (e *EncodeError) Error() string {
	if e.Rune == utf8.RuneError {
		return fmt.Sprintf("byte %d of the text is not a character that %s can express", e.Offset, e.Encoding)
	}
	return fmt.Sprintf("%s cannot express %s (%U)", e.Encoding, Visible(string(e.Rune)), e.Rune)
}

// Encode returns the bytes of a text, without a byte order mark; decoding them gives the
// text again. UTF-8 is kept unchanged. An encoding with shifts begins and ends in its first
// state, so that the bytes fit anywhere between lines. An error is an *[EncodeError] about
// the first character that the encoding cannot express.
func (e Encoding) Encode(text string) ([]byte, error) {
	if e.enc == nil {
		return []byte(text), nil
	}
	if data, ok := e.encode(text); ok {
		return data, nil
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if _, ok := e.encode(text[i : i+size]); !ok {
			return nil, &EncodeError{Encoding: e.Name(), Rune: r, Offset: i}
		}
		i += size
	}
	return nil, &EncodeError{Encoding: e.Name(), Rune: utf8.RuneError}
}

// encode reports whether decoding the bytes gives the text again: some encoders replace a
// missing character by a similar one.
func (e Encoding) encode(text string) ([]byte, bool) {
	data, err := e.enc.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, false
	}
	if e.Shift(data) != nil {
		data = append(data, e.unshift...)
	}
	return data, string(e.Decode(data)) == text
}

// Shifts reports whether the encoding has states, which escape sequences change: the
// meaning of bytes depends on those before them in their line.
func (e Encoding) Shifts() bool { return e.unshift != "" }

const esc = 0x1b

// Shift returns the escape sequence in force after the beginning of a line, nil in the
// first state.
func (e Encoding) Shift(line []byte) []byte {
	switch {
	case !e.Shifts():
		return nil
	case e.unshift[0] == '~':
		return shiftHZ(line)
	}
	i := bytes.LastIndexByte(line, esc)
	if i < 0 || bytes.HasPrefix(line[i:], []byte(e.unshift)) {
		return nil
	}
	n := len(e.unshift)
	if bytes.HasPrefix(line[i:], []byte("\x1b$(")) {
		n++
	}
	return bytes.Clone(line[i:min(i+n, len(line))])
}

// shiftHZ reads character by character, as a tilde may be part of one.
func shiftHZ(line []byte) []byte {
	const begin = "~{"
	chinese := false
	for i := 0; i+1 < len(line); {
		switch pair := string(line[i : i+2]); {
		case pair == begin:
			chinese = true
		case pair == "~}":
			chinese = false
		case !chinese && line[i] != '~':
			i++
			continue
		}
		i += 2
	}
	if chinese {
		return []byte(begin)
	}
	return nil
}
