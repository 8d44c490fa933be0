package outlet

import (
	"io"
	"sync"
	"sync/atomic"
)

// Writer is the only writer of stdout: every message is one Write of one line.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	closed atomic.Bool // nothing is written any more
	Broken chan error  // the error of the write that failed
	spare  chan []byte // holds the memory of an answer that has been written
}

// NewWriter makes a writer of an open pipe.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, Broken: make(chan error, 1), spare: make(chan []byte, 1)}
}

// End makes the writer drop all later messages.
func (w *Writer) End() { w.closed.Store(true) }

// maxSpare is how many bytes of memory a writer keeps for the next answer.
const maxSpare = 128 << 10

// Write writes the line that take returns, without its line feed; nil is
// nothing. take runs while nobody else writes.
func (w *Writer) Write(take func() []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed.Load() {
		return
	}
	line := take()
	if line == nil {
		return
	}
	if _, err := w.w.Write(append(line, '\n')); err != nil {
		w.closed.Store(true)
		w.Broken <- err
	}
}

// Finish is Write: the pipe goes on after an answer, whose memory is kept.
func (w *Writer) Finish(_ Ending, take func() []byte) {
	var line []byte
	w.Write(func() []byte {
		line = take()
		return line
	})
	if line == nil || cap(line) > maxSpare {
		return
	}
	select {
	case w.spare <- line[:0]:
	default:
	}
}

// Room implements [Outlet].
func (w *Writer) Room() []byte {
	select {
	case b := <-w.spare:
		return b
	default:
		return nil
	}
}

// Streams implements [Outlet].
func (w *Writer) Streams() bool { return true }

// Lumps implements [Outlet].
func (w *Writer) Lumps() bool { return true }
