package outlet

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Writer is the only writer of stdout: every message is one Write of one line.
type Writer struct {
	mu     sync.Mutex
	w      io.Writer
	closed atomic.Bool  // nothing is written any more
	sent   atomic.Int64 // bytes that have been written
	Broken chan error   // the error of the write that failed
	spare  chan []byte  // holds the memory of an answer that has been written
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
	n, err := w.w.Write(append(line, '\n'))
	w.sent.Add(int64(n))
	if err != nil {
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

// settleTime is the least time between the last event of a call and its answer, which
// matters where the kernel does not tell what a client has read. Measured with the
// TypeScript SDK 1.32 and 2.4: of 300 calls, 239 lost the event without it, 2 with 1 ms,
// none with 3 ms.
const settleTime = 5 * time.Millisecond

// settleMost is about how long an answer waits for a client that does not read.
const settleMost = time.Second

// Settle waits until the client has read what was written, and settleTime has passed. It
// looks ever less often, since a client that does not read lacks a processor.
// If clients of the TypeScript SDK read an event and the answer together, they handle the
// event after the answer and no longer know its call; Claude Code then logs a lost
// connection.
func (w *Writer) Settle(ctx context.Context, last time.Time) {
	sent := w.sent.Load()
	for wait := settleTime - time.Since(last); ; wait = max(time.Millisecond, time.Since(last)/8) {
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return
			}
		}
		if w.read(sent) || time.Since(last) > settleMost {
			return
		}
	}
}

// read reports whether the client has read the first sent bytes; later ones may be unread.
func (w *Writer) read(sent int64) bool {
	all := w.sent.Load()
	return all-unread(w.w) >= sent
}
