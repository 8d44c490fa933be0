package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/follow"
	"toolcrib/server/outlet"
	"toolcrib/server/tasks"
	"toolcrib/tools"
)

// outbox is the most notifications of mcp-go that wait for a session.
const outbox = 16

// peer describes a client as it described itself in the handshake.
type peer struct {
	info    mcp.Implementation
	caps    mcp.ClientCapabilities
	version string
}

// maxPeerText is the most bytes kept of each text in which a client describes itself:
// sessions, consents and records of the audit log hold them.
const maxPeerText = 256

func clipped(text string) string {
	if len(text) <= maxPeerText {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:maxPeerText], ""))
}

// kept returns the part that the link keeps: only the fields that are used, with texts
// clipped, since a client can open thousands of sessions.
func (p peer) kept() *peer {
	k := &peer{version: p.version}
	k.info.Name, k.info.Version = clipped(p.info.Name), clipped(p.info.Version)
	k.caps.Roots, k.caps.Sampling, k.caps.Elicitation = p.caps.Roots, p.caps.Sampling, p.caps.Elicitation
	if _, ok := p.caps.Extensions[string(tools.Tasks)]; ok {
		k.caps.Extensions = map[string]any{string(tools.Tasks): struct{}{}}
	}
	return k
}

// session is the client as mcp-go sees it during one request. Requests do not share a
// session: in the stateless revision, a request describes its client for itself only.
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

// RequestElicitation shows a form of a native definition to the user.
func (s *session) RequestElicitation(ctx context.Context, req mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	result := new(mcp.ElicitationResult)
	return result, s.request(ctx, mcp.MethodElicitationCreate, req.Params, result)
}

// RequestSampling asks the model of a client that opened with initialize.
func (s *session) RequestSampling(ctx context.Context, req mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := new(mcp.CreateMessageResult)
	return result, s.request(ctx, mcp.MethodSamplingCreateMessage, req.CreateMessageParams, result)
}

// ListRoots asks a client that opened with initialize for its roots.
func (s *session) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	result := new(mcp.ListRootsResult)
	return result, s.request(ctx, mcp.MethodListRoots, struct{}{}, result)
}

// request sends a request to the client and waits for its result.
func (s *session) request(ctx context.Context, method mcp.MCPMethod, params, result any) error {
	raw, err := s.req.ask(ctx, string(method), params)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

// drain writes the waiting notifications, in order.
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

// A client follows resources in one of two ways: by resources/subscribe for as long as
// its link lasts, or by a subscriptions/listen request. For both, mcp-go calls the
// methods of subscriptions.

// subscriptions passes the resources that a client follows to a follower.
type subscriptions struct{ follower func() *follow.Follower }

var (
	_ mcpserver.SessionWithResourceSubscriptionsErr = (*session)(nil)
	_ mcpserver.SessionWithResourceSubscriptionsErr = (*listener)(nil)
)

func (s subscriptions) SubscribeToResourceErr(uri string) error { return s.follower().Follow(uri) }
func (s subscriptions) SubscribeToResource(uri string)          { _ = s.SubscribeToResourceErr(uri) }
func (s subscriptions) UnsubscribeFromResource(uri string)      { s.follower().Leave(uri) }
func (s subscriptions) SubscribedResources() []string           { return s.follower().URIs() }
func (s subscriptions) IsSubscribedToResource(uri string) bool {
	return slices.Contains(s.SubscribedResources(), uri)
}

// SubscribeToResourceErr lets the client follow a resource that it may read in the
// workspace of its request.
func (s *session) SubscribeToResourceErr(uri string) error {
	info := tools.SessionInfo{Principal: s.link.principal, Client: s.peer.client(), Workspace: s.req.workspace, May: granted(s.req.ctx)}
	if _, err := s.link.server.version(tools.WithSession(s.req.ctx, &info), uri); err != nil {
		return &follow.Error{URI: uri, Err: tools.AsError(err)}
	}
	return s.subscriptions.SubscribeToResourceErr(uri)
}

// following returns the follower of the link.
func (l *link) following() *follow.Follower {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.follower == nil {
		l.follower = l.follow(l.ctx, func(uri string) {
			l.tell(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": uri})
		})
		if l.closed {
			l.follower.Close()
		}
	}
	return l.follower
}

// follow makes a follower for the principal of the link's client.
func (l *link) follow(ctx context.Context, changed func(uri string)) *follow.Follower {
	info := tools.SessionInfo{Principal: l.principal, Workspace: l.base, May: granted(ctx)}
	if p := l.peer.Load(); p != nil {
		info.Client = p.client()
	}
	return l.server.poller.NewFollower(tools.WithSession(ctx, &info), changed)
}

// listener is the session of a subscriptions/listen request.
type listener struct {
	*session
	subscriptions
	heard *follow.Follower
	news  *tasks.News   // nil: it names no tasks
	begun chan struct{} // closed when the acknowledgement is written

	mu     sync.Mutex
	filter mcp.SubscriptionFilter
	acked  bool
}

var _ mcpserver.SessionWithSubscriptionFilter = (*listener)(nil)

func (l *link) newListener(ctx context.Context, s *session, news *tasks.News) *listener {
	heard := l.follow(ctx, func(uri string) {
		s.req.notify(mcp.MethodNotificationResourceUpdated, map[string]any{
			"_meta": map[string]any{mcp.MetaKeySubscriptionID: s.req.msg.ID}, "uri": uri,
		})
	})
	return &listener{session: s, heard: heard, news: news, begun: make(chan struct{}), subscriptions: subscriptions{func() *follow.Follower { return heard }}}
}

func (l *listener) close() {
	l.heard.Close()
	l.news.Close()
}

// SubscribeToResourceErr follows a resource for as long as the request lasts.
func (l *listener) SubscribeToResourceErr(uri string) error { return l.heard.Follow(uri) }

// SetSubscriptionFilter records which notifications the client wants.
func (l *listener) SetSubscriptionFilter(filter mcp.SubscriptionFilter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.filter = filter
}

// SubscriptionFilter returns the notifications that may be sent. Before the
// acknowledgement is written there are none, so that it comes first.
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
	n.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: l.req.msg.ID}
	if n.Method == mcp.MethodNotificationSubscriptionsAcknowledged {
		l.mu.Lock()
		l.acked = true
		l.mu.Unlock()
		if filter, ok := n.Params.AdditionalFields["notifications"].(mcp.SubscriptionFilter); ok {
			n.Params.AdditionalFields["notifications"] = honoured{filter, l.news.IDs()}
		}
	}
}

// honoured returns the part of a listen request that the server honours, for the
// acknowledgement.
type honoured struct {
	mcp.SubscriptionFilter
	Tasks []string `json:"taskIds,omitempty"`
}

// written is called when a notification is written.
func (l *listener) written(method string) {
	if method == mcp.MethodNotificationSubscriptionsAcknowledged {
		close(l.begun)
	}
}

// listen serves a subscriptions/listen request: the stream lasts until the client or the
// transport ends it, or until none of the requested things can change any more.
func (l *link) listen(r *request, from *origin) mcp.JSONRPCMessage {
	if !r.out.Streams() {
		return mcp.JSONRPCError{Error: mcp.JSONRPCErrorDetails{Code: mcp.INVALID_REQUEST, Message: "a subscription needs a stream: the header Accept must have " + outlet.EventStream}}
	}
	news := l.taskNews(r, from)
	if from.fault != nil {
		return nil
	}
	s := l.newSession(l.id+"/"+r.key, r)
	defer s.drain()
	ctx, stopListening := during(withOrigin(r.ctx, from), l.streaming)
	defer stopListening()
	heard := l.newListener(ctx, s, news)
	defer heard.close()
	s.mark, s.sent = heard.tag, heard.written
	if err := l.server.mcp.RegisterSession(ctx, heard); err != nil {
		return mcp.JSONRPCError{Error: mcp.JSONRPCErrorDetails{Code: mcp.INTERNAL_ERROR, Message: err.Error()}}
	}
	defer l.server.mcp.UnregisterSession(ctx, heard.SessionID())
	pumping, stop := context.WithCancel(ctx)
	var pump sync.WaitGroup
	pump.Go(func() { s.pump(pumping) })
	var telling sync.WaitGroup
	if news != nil {
		telling.Go(func() { news.Run(pumping, heard.begun) })
	}
	defer func() {
		stop()
		pump.Wait()
		telling.Wait()
	}()
	response := l.server.mcp.HandleMessage(l.server.mcp.WithContext(ctx, heard), r.msg.Raw)
	if _, failed := response.(mcp.JSONRPCError); !failed {
		telling.Wait() // nothing else can change where mcp-go ends the stream by itself
	}
	if ok, is := response.(mcp.JSONRPCResponse); is {
		if result, is := ok.Result.(mcp.SubscriptionsListenResult); is && result.Meta != nil {
			result.Meta.SetSubscriptionID(r.msg.ID) // as written, not as a float
		}
	}
	return response
}
