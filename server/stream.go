package server

import (
	"bytes"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const eventStream = "text/event-stream"

// retryAfter is how many seconds a client should wait that came at a busy time.
const retryAfter = "1"

// aliveEvery is how often a stream says that it is alive while it says nothing
// else, so that no proxy between takes it for dead.
const aliveEvery = 15 * time.Second

// accepted is what a client takes as an answer.
type accepted struct{ json, events bool }

// accepts reads the Accept header; without one the client takes anything.
func accepts(r *http.Request) (a accepted) {
	values := r.Header.Values("Accept")
	if len(values) == 0 {
		return accepted{true, true}
	}
	for _, value := range values {
		for item := range strings.SplitSeq(value, ",") {
			media, _, _ := strings.Cut(item, ";")
			switch strings.ToLower(strings.TrimSpace(media)) {
			case "*/*":
				a = accepted{true, true}
			case "application/json", "application/*":
				a.json = true
			case eventStream, "text/*":
				a.events = true
			}
		}
	}
	return a
}

// stream is the answer to one HTTP request: one message as JSON or, where
// something goes before it or it takes long, server-sent events. It is the outlet
// of the requests in it.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	accepted accepted
	batch    bool          // an answer without messages is no stream without events
	over     chan struct{} // closed when the answer is complete

	mu      sync.Mutex
	flowing bool // events were begun
	done    bool
	alive   *time.Timer
}

func newStream(w http.ResponseWriter, a accepted) *stream {
	st := &stream{w: w, control: http.NewResponseController(w), accepted: a, over: make(chan struct{})}
	if a.events {
		st.mu.Lock()
		defer st.mu.Unlock()
		st.alive = time.AfterFunc(aliveEvery, st.sayAlive)
	}
	return st
}

func (st *stream) streams() bool { return st.accepted.events }
func (st *stream) lumps() bool   { return false }
func (st *stream) room() []byte  { return nil }

// write sends a message as an event. A client that takes no events gets none.
func (st *stream) write(take func() []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.done || !st.accepted.events {
		return
	}
	if line := take(); line != nil {
		st.event(line)
	}
}

// finish sends the last message.
func (st *stream) finish(end ending, take func() []byte) {
	st.mu.Lock()
	defer st.mu.Unlock()
	line := take() // also where nobody reads it: the request is over
	if st.done {
		return
	}
	switch {
	case line == nil && !st.flowing && st.batch:
		st.w.WriteHeader(http.StatusAccepted)
	case line == nil && !st.flowing && st.accepted.events:
		st.begin()
	case line == nil:
	case !st.flowing && st.accepted.json:
		st.json(end, line)
	default:
		st.event(line)
	}
	st.complete()
}

// end completes the answer in any case: after it, nothing is written.
func (st *stream) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.complete()
	}
}

func (st *stream) complete() {
	st.done = true
	if st.alive != nil {
		st.alive.Stop()
	}
	close(st.over)
}

// open begins the events before there is one.
func (st *stream) open() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.done {
		st.begin()
		st.flush()
	}
}

func (st *stream) begin() {
	if st.flowing {
		return
	}
	st.flowing = true
	header := st.w.Header()
	header.Set("Content-Type", eventStream)
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
	st.w.WriteHeader(http.StatusOK)
}

func (st *stream) event(line []byte) {
	st.begin()
	var b bytes.Buffer
	b.Grow(len(line) + 32)
	b.WriteString("event: message\ndata: ")
	b.Write(line)
	b.WriteString("\n\n")
	st.send(b.Bytes())
}

func (st *stream) sayAlive() {
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
func (st *stream) send(data []byte) {
	_ = st.control.SetWriteDeadline(time.Now().Add(writeWait))
	_, _ = st.w.Write(data)
	st.flush()
}

func (st *stream) flush() { _ = st.control.Flush() }

func (st *stream) json(end ending, line []byte) {
	_ = st.control.SetWriteDeadline(time.Now().Add(writeWait))
	header := st.w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(line)))
	switch {
	case end.wait > 0:
		header.Set("Retry-After", strconv.Itoa(int(math.Ceil(end.wait.Seconds()))))
	case end.status == http.StatusServiceUnavailable:
		header.Set("Retry-After", retryAfter)
	}
	st.w.WriteHeader(end.status)
	_, _ = st.w.Write(line)
}

// statusOf returns the HTTP status that revision 2026-07-28 has for the code of
// an error; 0 is a result.
func statusOf(code int) int {
	switch code {
	case mcp.METHOD_NOT_FOUND:
		return http.StatusNotFound
	case mcp.HEADER_MISMATCH, mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, mcp.UNSUPPORTED_PROTOCOL_VERSION,
		mcp.INVALID_REQUEST, mcp.INVALID_PARAMS, mcp.PARSE_ERROR:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
