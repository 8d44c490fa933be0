package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/run"
)

// Bounds of one connection.
const (
	// maxRunning is how many tools/call run at once; others wait.
	maxRunning = 64
	// maxInFlight and maxInFlightBytes bound the requests that are not answered
	// yet; what is over is refused, so that reading never waits for a tool.
	maxInFlight      = 4096
	maxInFlightBytes = 64 << 20
	// grace is how long running calls may go on once reading has ended, and
	// farewell how long they may take to end when it is over.
	grace    = 2 * time.Second
	farewell = 500 * time.Millisecond
)

// conn is one client over a pair of pipes.
type conn struct {
	server  *Server
	id      string
	out     *writer
	ctx     context.Context // of all calls; outlives stdin by the grace period
	cancel  context.CancelFunc
	peer    atomic.Pointer[peer] // nil before the handshake
	level   atomic.Pointer[mcp.LoggingLevel]
	running chan struct{}
	workers *run.Workers
	asks    asks

	mu       sync.Mutex
	inflight map[string]*request
	bytes    int  // of the requests in flight
	closed   bool // reading has ended
	news     bool // the session of the connection is registered
	wg       sync.WaitGroup
}

// ServeStdio serves one client until stdin ends or ctx is cancelled: a message
// is a line. Calls that run then get two seconds to end, and their answers are
// still written; after that their contexts are cancelled, and half a second
// later ServeStdio returns in any case. No message is begun after it has
// returned. Both ends are ordinary; an error means that stdin or stdout broke.
//
// A Read of stdin cannot be interrupted: after a cancelled ctx, one goroutine
// waits for it as long as stdin stays open.
func (s *Server) ServeStdio(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	c := &conn{
		server:   s,
		id:       fmt.Sprintf("stdio-%d", s.connections.Add(1)),
		out:      &writer{w: stdout, broken: make(chan error, 1)},
		running:  make(chan struct{}, maxRunning),
		workers:  run.NewWorkers(),
		asks:     asks{waiting: map[string]chan *message{}},
		inflight: map[string]*request{},
	}
	level := mcp.LoggingLevelError
	c.level.Store(&level)
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer c.cancel()
	defer c.workers.Close()

	ended := make(chan error, 1)
	go func() { ended <- c.read(stdin) }()
	select {
	case err := <-ended:
		c.shutdown(grace)
		return err
	case <-ctx.Done():
		c.shutdown(grace)
		return nil
	case err := <-c.out.broken:
		c.shutdown(0) // nobody is there to read the answers
		return fmt.Errorf("write to the client: %w", err)
	}
}

// read takes every line until stdin ends.
func (c *conn) read(stdin io.Reader) error {
	lines := newLineReader(stdin)
	for {
		line, tooLong, err := lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		case tooLong:
			bad := refuse(mcp.INVALID_REQUEST, "the message is longer than %d bytes", maxLine)
			bad.id = idOf(line)
			c.reject(bad)
		default:
			c.receive(line)
		}
	}
}

// receive takes one line. Whatever is in it, the next line is read.
func (c *conn) receive(line []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.reject(c.panicked(p))
		}
	}()
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	raw, bad := text(line)
	if bad != nil {
		c.reject(bad)
		return
	}
	if raw[0] == '[' {
		c.batch(raw)
		return
	}
	m, bad := parse(raw)
	switch {
	case bad != nil:
		c.reject(bad)
	case m != nil:
		c.accept(m, nil)
	}
}

// accept starts what a message asks for.
func (c *conn) accept(m *message, b *batch) {
	switch {
	case m.method == "":
		c.answered(m)
	case m.id == nil:
		c.notified(m)
	default:
		c.start(m, b)
	}
}

// notified takes a notification.
func (c *conn) notified(m *message) {
	switch m.method {
	case string(mcp.MethodNotificationCancelled):
		c.abandon(m)
	case string(mcp.MethodNotificationInitialized):
		c.tellNews()
	}
}

// abandon cancels the request that a notification names. Nothing more is sent
// for it. An id that is not in flight is none of ours or already answered.
func (c *conn) abandon(m *message) {
	id, ok := m.params.get("requestId")
	if !ok || !validID(id) {
		return
	}
	c.mu.Lock()
	r := c.inflight[idKey(id)]
	c.mu.Unlock()
	if r != nil {
		r.abandoned.Store(true)
		r.cancel()
	}
}

// tellNews lets a client of the handshake's era hear of changes of the list,
// which need no subscription there.
func (c *conn) tellNews() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.news || c.peer.Load() == nil {
		return
	}
	s := c.newSession(c.id, nil)
	if err := c.server.mcp.RegisterSession(c.ctx, s); err != nil {
		c.server.log.Error("register session", "error", err)
		return
	}
	c.news = true
	go s.pump(c.ctx)
}

// shutdown ends the connection: streams at once, calls after patience.
func (c *conn) shutdown(patience time.Duration) {
	c.mu.Lock()
	c.closed = true
	var streams []*request
	for _, r := range c.inflight {
		if r.msg.method == string(mcp.MethodSubscriptionsListen) {
			streams = append(streams, r)
		}
	}
	news := c.news
	c.mu.Unlock()
	if news {
		c.server.mcp.UnregisterSession(c.ctx, c.id)
	}
	c.asks.end()
	c.wg.Go(func() {
		for _, r := range streams {
			c.endStream(r)
		}
	})
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	for _, wait := range []time.Duration{patience, farewell} {
		select {
		case <-done:
		case <-time.After(wait):
		}
		c.cancel()
	}
	c.out.closed.Store(true)
}

// panicked logs a panic under an id and returns the error that names it.
func (c *conn) panicked(p any) *fault {
	id := rand.Text()[:8]
	c.server.log.Error("panic", "id", id, "panic", p, "stack", string(debug.Stack()))
	return refuse(mcp.INTERNAL_ERROR, "internal error %s; the log of the server has the details", id)
}

// writer owns stdout: every message is one Write of one line.
type writer struct {
	mu     sync.Mutex
	w      io.Writer
	closed atomic.Bool // nothing is written any more
	broken chan error
}

// write writes the line that take returns, without its line feed; nil is
// nothing. take runs while nobody else writes.
func (w *writer) write(take func() []byte) {
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
		w.broken <- err
	}
}
