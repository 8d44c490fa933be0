package scan

import (
	"errors"
	"io"
)

const (
	windowSize = 256 << 10 // read at once
	keepSize   = 1 << 20   // a buffer above it is given back after its file
)

var errTooLarge = errors.New("too large to be held")

// window is the part of a file that is in memory. Its buffer serves file after
// file and grows only for what must be held in one piece.
type window struct {
	buf  []byte
	n    int // bytes of buf that hold text
	r    io.Reader
	left int64 // bytes that the file should still have; below 0 = not known
	eof  bool
}

func (w *window) reset(r io.Reader, size int64) {
	if w.buf == nil || len(w.buf) > keepSize {
		w.buf = make([]byte, windowSize)
	}
	w.n, w.r, w.left, w.eof = 0, r, size, false
}

func (w *window) text() []byte { return w.buf[:w.n] }

// fill reads until the buffer is full or the file ends. A full buffer grows first.
func (w *window) fill() error {
	if w.n == len(w.buf) {
		if len(w.buf) >= MaxText {
			return errTooLarge
		}
		grown := make([]byte, 2*len(w.buf))
		copy(grown, w.buf)
		w.buf = grown
	}
	for !w.eof && w.n < len(w.buf) {
		n, err := w.r.Read(w.buf[w.n:])
		w.n += n
		w.left -= int64(n)
		switch {
		case errors.Is(err, io.EOF):
			w.eof = true
		case err != nil:
			return err
		case n > 0 && w.left == 0 && w.n < len(w.buf):
			// A short read that reaches the known size: asking once more would
			// cost a system call a file.
			w.eof = true
		}
	}
	return nil
}

// fillAll reads the whole file.
func (w *window) fillAll() error {
	for !w.eof {
		if err := w.fill(); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets the first n bytes.
func (w *window) drop(n int) {
	copy(w.buf, w.buf[n:w.n])
	w.n -= n
}
