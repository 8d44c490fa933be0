package server

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/tools"
)

// request is one request of the client from its line to its answer.
type request struct {
	msg       *message
	key       string // of its id among the requests in flight; "" where it is not among them
	batch     *batch // nil: answered by itself
	place     int    // in the batch
	ctx       context.Context
	cancel    context.CancelFunc
	progress  *reporter // nil: the client wants none
	abandoned atomic.Bool
}

// start enters a request among those in flight and serves it. The handshake is
// served at once, since what follows it depends on it.
func (c *conn) start(m *message, b *batch) {
	r := &request{msg: m, batch: b}
	if b != nil {
		r.place = b.expect()
	}
	bad := c.server.refuses(m)
	if bad == nil {
		var token json.RawMessage
		if token, bad = m.progressToken(); token != nil {
			r.progress = newReporter(token, c.server.progressRate, func(params any) {
				c.notify(r, string(mcp.MethodNotificationProgress), params)
			})
		}
	}
	if bad == nil {
		bad = c.enter(r)
	}
	if bad != nil {
		bad.id = m.id
		c.answer(r, c.faultLine(bad))
		return
	}
	if m.method == string(mcp.MethodInitialize) {
		c.serve(r)
	}
}

// enter admits a request and, unless it is the handshake, serves it on its own.
func (c *conn) enter(r *request) *fault {
	key := idKey(r.msg.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
		return refuse(mcp.INTERNAL_ERROR, "the server is shutting down")
	case c.inflight[key] != nil:
		return refuse(mcp.INVALID_REQUEST, "id %s belongs to a request that is not answered yet", r.msg.id)
	case len(c.inflight) >= maxInFlight || c.bytes+len(r.msg.raw) > maxInFlightBytes:
		return refuse(mcp.INTERNAL_ERROR, "too many requests are in flight (%d); wait for answers", len(c.inflight))
	}
	r.key = key
	r.ctx, r.cancel = context.WithCancel(c.ctx)
	c.inflight[key] = r
	c.bytes += len(r.msg.raw)
	if r.msg.method != string(mcp.MethodInitialize) {
		c.wg.Add(1)
		c.workers.Go(func() {
			defer c.wg.Done()
			c.serve(r)
		})
	}
	return nil
}

// serve carries out a request and answers it.
func (c *conn) serve(r *request) {
	defer r.cancel()
	if r.msg.method == string(mcp.MethodToolsCall) {
		select {
		case c.running <- struct{}{}:
			defer func() { <-c.running }()
		case <-r.ctx.Done():
		}
	}
	c.answer(r, c.respond(r))
}

// respond lets mcp-go carry out a request, and writes what belongs before the
// response that it returns.
func (c *conn) respond(r *request) (line []byte) {
	defer func() {
		if p := recover(); p != nil {
			bad := c.panicked(p)
			bad.id = r.msg.id
			line = c.faultLine(bad)
		}
	}()
	s := c.newSession(c.id+"/"+r.key, r)
	from := &origin{principal: tools.Local, workspace: c.server.workspace, progress: r.progress}
	ctx := withOrigin(r.ctx, from)
	var response mcp.JSONRPCMessage
	if r.msg.method == string(mcp.MethodSubscriptionsListen) {
		response = c.listen(ctx, r, s)
	} else {
		response = c.server.mcp.HandleMessage(c.server.mcp.WithContext(ctx, s), r.msg.raw)
	}
	if _, ok := response.(mcp.JSONRPCResponse); ok && r.msg.method == string(mcp.MethodInitialize) {
		c.peer.Store(&s.peer)
	}
	if r.progress != nil {
		r.progress.close()
	}
	s.drain()
	if from.fault != nil {
		from.fault.id = r.msg.id
		return c.faultLine(from.fault)
	}
	return c.responseLine(r, response)
}

// listen serves a subscriptions/listen request: the stream lasts until the
// client or the connection ends it, or ends at once if nothing of what the
// client asks for can change.
func (c *conn) listen(ctx context.Context, r *request, s *session) mcp.JSONRPCMessage {
	l := &listener{session: s}
	s.mark = l.tag
	if err := c.server.mcp.RegisterSession(ctx, l); err != nil {
		return mcp.JSONRPCError{Error: mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: err.Error()}}
	}
	defer c.server.mcp.UnregisterSession(ctx, l.SessionID())
	pumping, stop := context.WithCancel(ctx)
	var pump sync.WaitGroup
	pump.Go(func() { s.pump(pumping) })
	defer func() {
		stop()
		pump.Wait()
	}()
	response := c.server.mcp.HandleMessage(c.server.mcp.WithContext(ctx, l), r.msg.raw)
	if ok, is := response.(mcp.JSONRPCResponse); is {
		if result, is := ok.Result.(mcp.SubscriptionsListenResult); is && result.Meta != nil {
			result.Meta.SetSubscriptionID(r.msg.id) // as written, not as a float
		}
	}
	return response
}

// endStream ends a stream on behalf of the server: over pipes by the one
// notification/cancelled that a server may send, and without an answer.
func (c *conn) endStream(r *request) {
	line, err := appendCall(nil, "", string(mcp.MethodNotificationCancelled), map[string]any{
		"requestId": r.msg.id, "reason": "the server is shutting down",
	})
	c.out.write(func() []byte {
		if err != nil || r.abandoned.Swap(true) {
			return nil
		}
		return line
	})
	r.cancel()
}

// answer writes the response of a request unless the client has abandoned it,
// and takes it from those in flight.
func (c *conn) answer(r *request, line []byte) {
	if r.batch != nil {
		r.batch.set(r.place, part{r, line})
		return
	}
	c.out.write(func() []byte {
		if !c.leave(r) {
			return nil
		}
		return line
	})
}

// leave takes a request from those in flight and reports whether its client
// still waits. The id is free again before the client can read the answer.
func (c *conn) leave(r *request) bool {
	if r.key != "" {
		c.mu.Lock()
		delete(c.inflight, r.key)
		c.bytes -= len(r.msg.raw)
		c.mu.Unlock()
	}
	return !r.abandoned.Load()
}

// send writes a line that belongs to r, if anybody still wants it; a line that
// belongs to the connection has a nil r.
func (c *conn) send(r *request, line []byte) {
	c.out.write(func() []byte {
		if r != nil && r.abandoned.Load() {
			return nil
		}
		return line
	})
}

// notify writes a notification that belongs to r.
func (c *conn) notify(r *request, method string, params any) {
	line, err := appendCall(nil, "", method, params)
	if err != nil {
		c.server.log.Error("encode notification", "method", method, "error", err)
		return
	}
	c.send(r, line)
}

// reject answers a message that is not a request of anybody.
func (c *conn) reject(bad *fault) { c.send(nil, c.faultLine(bad)) }

// responseLine encodes a response. One that cannot be encoded becomes an
// internal error, since a request is always answered.
func (c *conn) responseLine(r *request, response mcp.JSONRPCMessage) []byte {
	line, err := appendResponse(nil, r.msg.id, response)
	if err != nil {
		c.server.log.Error("encode response", "method", r.msg.method, "error", err)
		return c.faultLine(&fault{id: r.msg.id, code: mcp.INTERNAL_ERROR, msg: "the result cannot be written as JSON"})
	}
	return line
}

func (c *conn) faultLine(bad *fault) []byte {
	line, err := appendFault(nil, bad)
	if err != nil { // the data of a fault is ours and can be encoded
		panic(err)
	}
	return line
}
