package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// outbox is how many notifications of mcp-go wait for a session.
const outbox = 16

// peer is what a client said of itself in the handshake.
type peer struct {
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	version string
}

// session is the client as mcp-go sees it during one request. Requests do not
// share one: what a request of the stateless era says of its client ends with
// that request.
type session struct {
	id     string
	conn   *conn
	req    *request // nil: the session of the connection itself
	peer   peer
	outbox chan mcp.JSONRPCNotification
	mark   func(*mcp.JSONRPCNotification) // nil: notifications go out as they are
}

func (c *conn) newSession(id string, r *request) *session {
	s := &session{id: id, conn: c, req: r, outbox: make(chan mcp.JSONRPCNotification, outbox)}
	if p := c.peer.Load(); p != nil {
		s.peer = *p
	}
	return s
}

func (s *session) SessionID() string                                   { return s.id }
func (s *session) Initialize()                                         {}
func (s *session) Initialized() bool                                   { return true }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.outbox }

func (s *session) GetClientInfo() mcp.Implementation                 { return s.peer.info }
func (s *session) SetClientInfo(info mcp.Implementation)             { s.peer.info = info }
func (s *session) GetClientCapabilities() mcp.ClientCapabilities     { return s.peer.caps }
func (s *session) SetClientCapabilities(caps mcp.ClientCapabilities) { s.peer.caps = caps }
func (s *session) ProtocolVersion() string                           { return s.peer.version }
func (s *session) SetProtocolVersion(version string)                 { s.peer.version = version }
func (s *session) SetLogLevel(level mcp.LoggingLevel)                { s.conn.level.Store(&level) }
func (s *session) GetLogLevel() mcp.LoggingLevel                     { return *s.conn.level.Load() }

var (
	_ mcpserver.SessionWithClientInfo         = (*session)(nil)
	_ mcpserver.SessionWithLogging            = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion    = (*session)(nil)
	_ mcpserver.SessionWithElicitation        = (*session)(nil)
	_ mcpserver.SessionWithSubscriptionFilter = (*listener)(nil)
)

// RequestElicitation puts a form before the user of a client of the handshake's
// era. A client that answers with an error counts as a user who gives no
// answer.
func (s *session) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	raw, err := s.conn.ask(ctx, s.req, string(mcp.MethodElicitationCreate), req.Params)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var result mcp.ElicitationResult
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	if err != nil {
		s.conn.server.log.Warn("the client did not put the form before its user", "error", err)
		result = mcp.ElicitationResult{}
		result.Action = mcp.ElicitationResponseActionCancel
	}
	return &result, nil
}

// drain writes the notifications that wait, in order.
func (s *session) drain() {
	for {
		select {
		case n := <-s.outbox:
			s.deliver(n)
		default:
			return
		}
	}
}

// pump writes the session's notifications as they come, until ctx ends.
func (s *session) pump(ctx context.Context) {
	for {
		select {
		case n := <-s.outbox:
			s.deliver(n)
		case <-ctx.Done():
			return
		}
	}
}

func (s *session) deliver(n mcp.JSONRPCNotification) {
	if s.mark != nil {
		s.mark(&n)
	}
	s.conn.notify(s.req, n.Method, n.Params)
}

// listener is the session of a subscriptions/listen request.
type listener struct {
	*session
	mu     sync.Mutex
	filter mcp.SubscriptionFilter
	acked  bool
}

// SetSubscriptionFilter records what the client wants to hear of.
func (l *listener) SetSubscriptionFilter(filter mcp.SubscriptionFilter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filter = filter
}

// SubscriptionFilter returns what may be sent: nothing before the
// acknowledgement is written, so that it comes first.
func (l *listener) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.acked {
		return mcp.SubscriptionFilter{}, true
	}
	return l.filter, true
}

// tag marks a notification with the id of the listen request as it was written.
func (l *listener) tag(n *mcp.JSONRPCNotification) {
	n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: l.req.msg.id}
	if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		l.mu.Lock()
		l.acked = true
		l.mu.Unlock()
	}
}

// asks are the requests of ours that wait for the client's response.
type asks struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan *message // nil: the client is gone
}

var errClientGone = errors.New("the client is gone")

// ask sends a request to the client on behalf of r and waits for the response.
func (c *conn) ask(ctx context.Context, r *request, method string, params any) (json.RawMessage, error) {
	response := make(chan *message, 1)
	c.asks.mu.Lock()
	if c.asks.waiting == nil {
		c.asks.mu.Unlock()
		return nil, errClientGone
	}
	c.asks.last++
	id := fmt.Sprintf("ask-%d", c.asks.last)
	c.asks.waiting[id] = response
	c.asks.mu.Unlock()
	defer func() {
		c.asks.mu.Lock()
		defer c.asks.mu.Unlock()
		delete(c.asks.waiting, id)
	}()

	line, err := appendCall(nil, id, method, params)
	if err != nil {
		return nil, err
	}
	c.send(r, line)
	select {
	case m, ok := <-response:
		switch {
		case !ok:
			return nil, errClientGone
		case m.err != nil:
			return nil, fmt.Errorf("%s: the client answered %s", method, m.err)
		}
		return m.result, nil
	case <-ctx.Done():
		// The dialog must not stay open for a call that nobody waits for.
		c.notify(nil, string(mcp.MethodNotificationCancelled), map[string]string{"requestId": id, "reason": "the call has ended"})
		return nil, ctx.Err()
	}
}

// answered hands a response of the client to whom it concerns. One that nobody
// waits for is dropped: its call may have ended.
func (c *conn) answered(m *message) {
	c.asks.mu.Lock()
	defer c.asks.mu.Unlock()
	if m.id[0] != '"' {
		return
	}
	if response, ok := c.asks.waiting[unquote(m.id)]; ok {
		response <- m
		delete(c.asks.waiting, unquote(m.id))
	}
}

// end lets everybody who waits for the client go on without it.
func (a *asks) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, response := range a.waiting {
		close(response)
	}
	a.waiting = nil
}
