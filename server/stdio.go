package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/outlet"
	"toolcrib/server/wire"
	"toolcrib/server/workers"
	"toolcrib/tools"
)

const (
	// maxRunning is the most tools/call requests of one connection that run at once.
	maxRunning = 64
	// grace is how long running calls may go on once reading has ended, and
	// farewell how long they may take to end when it is over.
	grace    = 2 * time.Second
	farewell = 500 * time.Millisecond
)

// conn is one client over a pair of pipes.
type conn struct {
	*link
	out      *outlet.Writer
	workers  *workers.Pool
	endTasks context.CancelFunc
	gone     <-chan struct{} // see ServePeer
}

// ServeStdio serves one client until stdin ends or ctx is cancelled. Each message is a
// line. Then running calls get two seconds to end, and their answers are still written;
// after that their contexts are cancelled, and half a second later ServeStdio returns in
// any case. No message is begun after it has returned. In both cases it returns nil; an
// error means that stdin or stdout failed.
//
// A Read of stdin cannot be interrupted: after a cancelled ctx, one goroutine
// waits for it as long as stdin stays open.
func (s *Server) ServeStdio(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	return s.ServePeer(ctx, stdin, stdout, nil)
}

// ServePeer is [Server.ServeStdio] for a client whose departure is noticed. Calls then
// get no time to end, since nobody would read their answers.
func (s *Server) ServePeer(ctx context.Context, stdin io.Reader, stdout io.Writer, gone <-chan struct{}) error {
	id := fmt.Sprintf("stdio-%d", s.connections.Add(1))
	c := &conn{
		link:    s.newLink(context.WithoutCancel(ctx), id, caller{principal: tools.Local, base: s.workspace}, newAdmission(maxRunning)),
		out:     outlet.NewWriter(stdout),
		workers: workers.New(),
		gone:    gone,
	}
	c.home = c.out
	c.beyond = new(beyond)
	c.beyond.ctx, c.endTasks = context.WithCancel(c.ctx)
	defer c.endTasks()
	defer c.end()
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
	case err := <-c.out.Broken:
		c.shutdown(0) // no client can read the answers
		return fmt.Errorf("write to the client: %w", err)
	}
}

// read takes every line until stdin ends.
func (c *conn) read(stdin io.Reader) error {
	lines := wire.NewLineReader(stdin)
	for {
		line, tooLong, err := lines.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the client: %w", err)
		case tooLong:
			bad := wire.Refuse(mcp.INVALID_REQUEST, "the message is longer than %d bytes", wire.MaxMessage)
			bad.ID = line
			c.reject(bad)
		default:
			c.receive(line)
		}
	}
}

// receive handles one line. No line stops the reading.
func (c *conn) receive(line []byte) {
	defer func() {
		if p := recover(); p != nil {
			c.reject(c.server.panicked(p))
		}
	}()
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	raw, bad := wire.Text(line)
	if bad != nil {
		c.reject(bad)
		return
	}
	if raw[0] == '[' {
		if bad := c.acceptBatch(c.ctx, raw, c.out, c.workers.Go); bad != nil {
			c.rejectAll(raw, bad)
		}
		return
	}
	m, bad := wire.Parse(raw)
	switch {
	case bad != nil:
		c.reject(bad)
	case m != nil:
		c.admit(c.ctx, m, c.out, nil, c.workers.Go)
	}
}

// reject answers a message that cannot be read as a request.
func (c *conn) reject(bad *wire.Fault) { c.out.Write(bad.Line) }

// rejectAll refuses each request of a batch that is not accepted, since the sender may
// wait for every answer. If there are more than a batch may hold, one error refuses all.
func (c *conn) rejectAll(batch []byte, bad *wire.Fault) {
	answered := false
	items, more := wire.Elements(batch, maxBatch)
	for _, item := range items {
		if one := *bad; !more && item[0] == '{' {
			if one.ID = wire.IDOf(item); one.ID != nil {
				c.reject(&one)
				answered = true
			}
		}
	}
	if !answered {
		c.reject(bad)
	}
}

// shutdown ends the connection: streams and tasks at once, since nobody could ask for the
// results of tasks, and calls after patience or when the client has gone.
func (c *conn) shutdown(patience time.Duration) {
	c.close()
	c.endTasks()
	c.mu.Lock()
	var streams []*request
	for _, r := range c.inflight {
		if r.msg.Lasting() {
			streams = append(streams, r)
		}
	}
	c.mu.Unlock()
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
	gone := c.gone
	for _, wait := range []time.Duration{patience, farewell} {
		select {
		case <-done:
		case <-time.After(wait):
		case <-gone:
		}
		c.cancel()
		gone = nil // cancelled calls may still end
	}
	c.out.End()
}

// endStream ends a stream for the server. Over pipes it sends the one
// notifications/cancelled that a server may send, and no answer.
func (c *conn) endStream(r *request) {
	line := c.server.notification(string(mcp.MethodNotificationCancelled), map[string]any{
		"requestId": r.msg.ID, "reason": "the server is shutting down",
	})
	c.out.Write(func() []byte {
		if r.abandoned.Swap(true) {
			return nil
		}
		return line
	})
	r.cancel()
}

// maxBatch is the most messages of a batch.
const maxBatch = 1000

// batch gathers the answers to a batch of requests, which are sent as one line.
type batch struct {
	out outlet.Outlet

	mu    sync.Mutex
	open  int    // parts that are not there yet, and one while the batch is read
	parts []part // in the order of the requests
}

type part struct {
	req  *request // nil: the answer to a message that is refused
	line []byte
}

// acceptBatch handles an array of messages, which only revision 2025-03-26 allows. The
// answer goes to out as one line.
func (l *link) acceptBatch(ctx context.Context, raw json.RawMessage, out outlet.Outlet, spawn func(func())) *wire.Fault {
	if p := l.peer.Load(); p == nil || p.version != mcp.ProtocolVersion20250326 {
		return wire.Refuse(mcp.INVALID_REQUEST, "batches exist only in protocol revision %s; send one message at a time", mcp.ProtocolVersion20250326)
	}
	items, more := wire.Elements(raw, maxBatch)
	if len(items) == 0 || more {
		return wire.Refuse(mcp.INVALID_REQUEST, "a batch holds 1 to %d messages", maxBatch)
	}
	b := &batch{out: out, open: 1}
	for _, item := range items {
		m, bad := wire.Parse(item)
		if m != nil && m.Method == string(mcp.MethodInitialize) {
			bad = &wire.Fault{ID: m.ID, Code: mcp.INVALID_REQUEST, Msg: "initialize cannot be part of a batch"}
		}
		if m != nil && (m.Modern() || m.Lasting()) {
			bad = &wire.Fault{ID: m.ID, Code: mcp.INVALID_REQUEST, Msg: "a request of revision " + mcp.ProtocolVersion20260728 + " cannot be part of a batch"}
		}
		switch {
		case bad != nil:
			b.set(b.expect(), part{line: bad.Line()})
		case m != nil:
			l.admit(ctx, m, out, b, spawn)
		}
	}
	b.done()
	return nil
}

// expect adds a part that is still to come and returns its index.
func (b *batch) expect() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open++
	b.parts = append(b.parts, part{})
	return len(b.parts) - 1
}

// set stores an expected part.
func (b *batch) set(index int, p part) {
	b.mu.Lock()
	b.parts[index] = p
	b.mu.Unlock()
	b.done()
}

// done writes the answer once it has the last part. A batch whose requests were all
// abandoned, or that has only notifications, is not answered.
func (b *batch) done() {
	b.mu.Lock()
	b.open--
	last := b.open == 0
	b.mu.Unlock()
	if !last {
		return
	}
	b.out.Finish(outlet.Ending{Status: http.StatusOK}, func() []byte {
		line := []byte{'['}
		for _, p := range b.parts {
			if p.req != nil && !p.req.leave() {
				continue
			}
			line = append(append(line, p.line...), ',')
		}
		if len(line) == 1 {
			return nil
		}
		return slices.Replace(line, len(line)-1, len(line), ']')
	})
}
