package server

import (
	"sync"

	"toolcrib/server/wire"

	"github.com/mark3labs/mcp-go/mcp"
)

// Requests that are not answered yet are bounded in number and in the bytes of
// their messages; what is over is refused, so that reading never waits for a
// tool. Large messages leave room for small ones, and streams count apart, since
// they last.
const (
	maxInFlight      = 4096
	maxStreams       = 1024
	maxInFlightBytes = 64 << 20
	maxLargeBytes    = 48 << 20
	largeMessage     = 64 << 10
)

// admission bounds what a transport works on at once.
type admission struct {
	running chan struct{} // calls and reads that run; others wait

	mu       sync.Mutex
	requests int
	streams  int
	bytes    int
}

func newAdmission(running int) *admission {
	return &admission{running: make(chan struct{}, running)}
}

// enter admits the request of a message.
func (a *admission) enter(m *wire.Message) *wire.Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	size, count, most := len(m.Raw), &a.requests, maxInFlight
	if m.Lasting() {
		count, most = &a.streams, maxStreams
	}
	room := maxInFlightBytes
	if size > largeMessage {
		room = maxLargeBytes
	}
	if *count >= most || a.bytes+size > room {
		return &wire.Fault{Code: mcp.INTERNAL_ERROR, Busy: true, Msg: "too many requests are in flight; wait for answers"}
	}
	*count++
	a.bytes += size
	return nil
}

func (a *admission) leave(m *wire.Message) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if m.Lasting() {
		a.streams--
	} else {
		a.requests--
	}
	a.bytes -= len(m.Raw)
}
