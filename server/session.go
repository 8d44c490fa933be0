package server

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/tools"
)

// outbox is how many notifications of mcp-go wait for a session.
const outbox = 16

// peer is what a client said of itself in the handshake.
type peer struct {
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	version string
}

// maxPeerText is how many bytes are taken of each text that a client says of itself:
// sessions, consents and records of the audit log hold them.
const maxPeerText = 256

func clipped(text string) string {
	if len(text) <= maxPeerText {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:maxPeerText], ""))
}

// kept is what of it is kept as long as the link: no more than is used of it, and no
// texts of any length, since a client can open thousands of sessions.
func (p peer) kept() *peer {
	k := &peer{version: p.version}
	k.info.Name, k.info.Version = clipped(p.info.Name), clipped(p.info.Version)
	k.caps.Roots, k.caps.Sampling, k.caps.Elicitation = p.caps.Roots, p.caps.Sampling, p.caps.Elicitation
	if _, ok := p.caps.Extensions[string(tools.Tasks)]; ok {
		k.caps.Extensions = map[string]any{string(tools.Tasks): struct{}{}}
	}
	return k
}

// session is the client as mcp-go sees it during one request. Requests do not
// share one: what a request of the stateless era says of its client ends with
// that request.
type session struct {
	subscriptions
	id     string
	link   *link
	req    *request // nil: the session of the link itself
	peer   peer
	outbox chan mcp.JSONRPCNotification
	mark   func(*mcp.JSONRPCNotification) // nil: notifications go out as they are
	sent   func(method string)            // hears that one is written; nil: nobody does
}

func (l *link) newSession(id string, r *request) *session {
	s := &session{subscriptions: subscriptions{l.following}, id: id, link: l, req: r, outbox: make(chan mcp.JSONRPCNotification, outbox)}
	if p := l.peer.Load(); p != nil {
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
func (s *session) SetLogLevel(level mcp.LoggingLevel)                { s.link.level.Store(&level) }
func (s *session) GetLogLevel() mcp.LoggingLevel                     { return *s.link.level.Load() }

var (
	_ mcpserver.SessionWithClientInfo      = (*session)(nil)
	_ mcpserver.SessionWithLogging         = (*session)(nil)
	_ mcpserver.SessionWithProtocolVersion = (*session)(nil)
	_ mcpserver.SessionWithElicitation     = (*session)(nil)
	_ mcpserver.SessionWithSampling        = (*session)(nil)
	_ mcpserver.SessionWithRoots           = (*session)(nil)
)

// RequestElicitation puts a form of a native definition before the user.
func (s *session) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	result := new(mcp.ElicitationResult)
	return result, s.request(ctx, mcp.MethodElicitationCreate, req.Params, result)
}

// RequestSampling asks the model of a client of the handshake's era.
func (s *session) RequestSampling(ctx context.Context, req mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := new(mcp.CreateMessageResult)
	return result, s.request(ctx, mcp.MethodSamplingCreateMessage, req.CreateMessageParams, result)
}

// ListRoots asks a client of the handshake's era for its roots.
func (s *session) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	result := new(mcp.ListRootsResult)
	return result, s.request(ctx, mcp.MethodListRoots, struct{}{}, result)
}

// request asks the client for a result.
func (s *session) request(ctx context.Context, method mcp.MCPMethod, params, result any) error {
	raw, err := s.req.ask(ctx, string(method), params)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
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
	if s.req == nil {
		s.link.tell(n.Method, n.Params)
		return
	}
	s.req.notify(n.Method, n.Params)
	if s.sent != nil {
		s.sent(n.Method)
	}
}
