package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	// maxMessage is the longest message in bytes.
	maxMessage = 16 << 20
	// headLine is how much of a longer one is kept to find its id.
	headLine = 4 << 10
)

// lineReader reads lines of at most maxMessage bytes. What is longer is skipped to
// its end without being kept.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line, which the caller may keep. A line that is too
// long comes as its first bytes with tooLong set. The last line needs no line
// feed; after it, the error is io.EOF.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong: // skip
		case len(line)+len(part) > maxMessage:
			line, tooLong = bytes.Clone(append(line, part...)[:headLine]), true
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) > 0 && errors.Is(err, io.EOF):
			return line, tooLong, nil
		default:
			return line, tooLong, err
		}
	}
}

// idOf finds the id in the first bytes of a message that is not read further;
// nil if it does not stand there.
func idOf(head []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(head))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil
	}
	for {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil
		}
		if key == "id" {
			if cut := int(dec.InputOffset()) == len(head); cut || !validID(value) {
				return nil // a number at the end may go on
			}
			return value
		}
	}
}
