package outlet

import (
	"bytes"
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// RetryAfter is how many seconds a client should wait if the server was busy.
const RetryAfter = "1"

// aliveEvery is how often a stream without messages sends a sign of life, so that no
// proxy takes it for dead.
const aliveEvery = 15 * time.Second

// WriteWait is how long one write may take if the client does not read.
const WriteWait = 30 * time.Second

// Accepted is the kinds of answer that a client accepts.
type Accepted struct{ JSON, Events bool }

// Accepts reads the Accept header; without one the client accepts anything.
func Accepts(r *http.Request) (a Accepted) {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return Accepted{true, true}
	}
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			media, _, _ := strings.Cut(item, ";")
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "*/*":
				a = Accepted{true, true}
			case "application/json", "application/*":
				a.JSON = true
			case EventStream, "text/*":
				a.Events = true
			}
		}
	}
	return a
}

// Stream is the answer to one HTTP request: one message as JSON or, where
// something goes before it or it takes long, server-sent events. It is the outlet
// of the requests in it.
type Stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	accepted Accepted
	Batch    bool          // an answer without messages is no stream without events
	Over     chan struct{} // closed when the answer is complete

	mu      sync.Mutex
	flowing bool // events were begun
	done    bool
	alive   *time.Timer
}

// NewStream begins the answer to an HTTP request whose client accepts a.
func NewStream(w http.ResponseWriter, a Accepted) *Stream {
	st := &Stream{w: w, control: http.NewResponseController(w), accepted: a, Over: make(chan struct{})}
	if a.Events {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.alive = time.AfterFunc(aliveEvery, st.sayAlive)
	}
	return st
}

// Streams implements [Outlet].
func (st *Stream) Streams() bool { return st.accepted.Events }

// Settle implements [Outlet]: over HTTP, each message is read by itself.
func (st *Stream) Settle(context.Context, time.Time) {}

// Room implements [Outlet].
func (st *Stream) Room() []byte { return nil }

// Write sends a message as an event. A client that takes no events gets none.
func (st *Stream) Write(take func() []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || !st.accepted.Events {
		return
	}
	if line := take(); line != nil {
		st.event(line)
	}
}

// Finish sends the last message.
func (st *Stream) Finish(end Ending, take func() []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	line := take() // also where nobody reads it: the request is over
	if st.done {
		return
	}
	switch {
	case line == nil && !st.flowing && st.Batch:
		st.w.WriteHeader(http.StatusAccepted)
	case line == nil && !st.flowing && st.accepted.Events:
		st.begin()
	case line == nil:
	case !st.flowing && st.accepted.JSON:
		st.json(end, line)
	default:
		st.event(line)
	}
	st.complete()
}

// End completes the answer in any case: after it, nothing is written.
func (st *Stream) End() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.complete()
	}
}

func (st *Stream) complete() {
	st.done = true
	if st.alive != nil {
		st.alive.Stop()
	}
	close(st.Over)
}

// Open begins the events before there is one.
func (st *Stream) Open() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.begin()
		st.flush()
	}
}

func (st *Stream) begin() {
	if st.flowing {
		return
	}
	st.flowing = true
	header := st.w.Header()
	header.Set("Content-Type", EventStream)
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	st.w.WriteHeader(http.StatusOK)
}

func (st *Stream) event(line []byte) {
	st.begin()
	var b bytes.Buffer
	b.Grow(len(line) + 32)
	b.WriteString("event: message\ndata: ")
	b.Write(line)
	b.WriteString("\n\n")
	st.send(b.Bytes())
}

func (st *Stream) sayAlive() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done {
		return
	}
	st.begin()
	st.send([]byte(": alive\n\n"))
	st.alive.Reset(aliveEvery)
}

// send writes and flushes. An error is not looked at: it ends the context of the
// HTTP request, and with that the calls in it.
func (st *Stream) send(data []byte) {
	_ = st.control.SetWriteDeadline(time.Now().Add(WriteWait))
	_, _ = st.w.Write(data)
	st.flush()
}

func (st *Stream) flush() { _ = st.control.Flush() }

func (st *Stream) json(end Ending, line []byte) {
	_ = st.control.SetWriteDeadline(time.Now().Add(WriteWait))
	header := st.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(line)))
	switch {
	case end.Wait > 0:
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(end.Wait.Seconds()))))
	case end.Status == http.StatusServiceUnavailable:
		header.Set("Retry-After", RetryAfter)
	}
	st.w.WriteHeader(end.Status)
	_, _ = st.w.Write(line)
}
