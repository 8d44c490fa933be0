package server

import (
	"bufio"
	"errors"
	"io"
)

// maxMessage is the longest message in bytes.
const maxMessage = 16 << 20

// lineReader reads lines of at most maxMessage bytes. What is longer is skipped to
// its end without being kept.
type lineReader struct{ r *bufio.Reader }

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line, which the caller may keep. Of a line that is too
// long comes the id alone, nil where it has none, with tooLong set. The last line
// needs no line feed; after it, the error is io.EOF.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	var skipped idFinder
	for {
		part, err := l.r.ReadSlice('\n')
		switch {
		case tooLong:
			skipped.feed(part)
		case len(line)+len(part) > maxMessage:
			skipped.feed(line)
			skipped.feed(part)
			line, tooLong = nil, true
		default:
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && (tooLong || len(line) > 0) {
			err = nil
		}
		if tooLong {
			line = skipped.found()
		}
		return line, tooLong, err
	}
}
