package scan

import (
	"errors"
	"io"
	"sync"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

const (
	windowSize = 256 << 10         // read at once
	firstSize  = 32 << 10          // read first where the first match is enough
	soonSize   = textfile.SniffLen // likewise, where that is mostly in it
	mostLuck   = 4                 // files of the other kind after which that is judged anew
	keepSize   = 1 << 20           // a buffer above it is given back after its file
)

var errTooLarge = errors.New("too large to be held")

// Buffers has buffers for reading files, which searches reuse. The zero value is ready for
// use, by several goroutines.
type Buffers struct{ free sync.Pool } // of *[]byte, of windowSize to keepSize

// take returns a buffer, nil if there is none.
func (b *Buffers) take() []byte {
	if b == nil {
		return nil
	}
	if buf, ok := b.free.Get().(*[]byte); ok {
		return *buf
	}
	return nil
}

func (b *Buffers) give(buf []byte) {
	if b != nil && buf != nil && len(buf) <= keepSize {
		b.free.Put(&buf)
	}
}

// window is the part of a file that is in memory. Its buffer is reused for every file and
// grows only for text that must be held in one piece.
type window struct {
	buf []byte
	n   int // bytes of buf that hold text
	r   io.Reader
	had int64 // bytes read
	eof bool

	lent bool   // buf is not the window's own, and must not be changed
	idle []byte // meanwhile the one that is
}

// lend makes text, the whole content of r, the window.
func (w *window) lend(r io.Reader, text []byte) {
	if !w.lent {
		w.idle, w.lent = w.buf, true
	}
	w.buf, w.n, w.r, w.had, w.eof = text, len(text), r, int64(len(text)), true
}

// back ends the use of the lent text.
func (w *window) back() {
	if w.lent {
		w.buf, w.idle, w.n, w.lent = w.idle, nil, 0, false
	}
}

// own makes a copy of the lent text.
func (w *window) own() {
	if !w.lent {
		return
	}
	text := w.text()
	w.back()
	if w.n = len(text); w.n > len(w.buf) {
		w.buf = make([]byte, max(w.n, windowSize))
	}
	copy(w.buf, text)
}

func (w *window) reset(r io.Reader) {
	w.back()
	if w.buf == nil || len(w.buf) > keepSize {
		w.buf = make([]byte, windowSize)
	}
	w.n, w.r, w.had, w.eof = 0, r, 0, false
}

func (w *window) text() []byte { return w.buf[:w.n] }

// left returns how many bytes the file should still have; below 0 = not known. Most files end
// before the system call for it pays.
func (w *window) left() int64 {
	if f, ok := w.r.(workspace.File); ok {
		return f.Info().Size - w.had
	}
	return -1
}

// fill reads until the buffer is full or the file ends. A full buffer grows first, at
// once to the size of a file that is not much larger.
func (w *window) fill() error {
	if w.n == len(w.buf) {
		size := 2 * len(w.buf)
		if left := w.left(); left >= 0 {
			size = int(min(int64(w.n)+left+1, int64(8*w.n)))
		}
		if err := w.grow(size); err != nil {
			return err
		}
	}
	return w.read(len(w.buf))
}

// grow makes room for size bytes, or for as many as may be held if there is more.
func (w *window) grow(size int) error {
	if w.n >= MaxText {
		return errTooLarge
	}
	if size = min(size, MaxText); size > len(w.buf) {
		grown := make([]byte, size)
		copy(grown, w.text())
		w.buf = grown
	}
	return nil
}

// read reads until the window holds size bytes or the file ends.
func (w *window) read(size int) error {
	for !w.eof && w.n < size {
		n, err := w.r.Read(w.buf[w.n:size])
		w.n += n
		w.had += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			w.eof = true
		case err != nil:
			return err
		}
	}
	return nil
}

// fillAll reads the whole file.
func (w *window) fillAll() error {
	if w.eof {
		return nil
	}
	left := w.left()
	if left > int64(MaxText-w.n) {
		return errTooLarge
	}
	if err := w.grow(w.n + int(max(left, 0)) + 1); err != nil {
		return err
	}
	for !w.eof {
		if err := w.fill(); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets the first n bytes.
func (w *window) drop(n int) {
	if w.lent {
		w.buf, w.n = w.buf[n:], w.n-n
		return
	}
	copy(w.buf, w.buf[n:w.n])
	w.n -= n
}
