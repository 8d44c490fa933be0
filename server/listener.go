package server

import (
	"context"
	"sync"

	"toolcrib/server/follow"
	"toolcrib/server/outlet"
	"toolcrib/server/tasks"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

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

// honoured is what of a request to listen is, as the acknowledgement says.
type honoured struct {
	mcp.SubscriptionFilter
	Tasks []string `json:"taskIds,omitempty"`
}

// written hears that a notification is written.
func (l *listener) written(method string) {
	if method == mcp.MethodNotificationSubscriptionsAcknowledged {
		close(l.begun)
	}
}

// listen serves a subscriptions/listen request: the stream lasts until the
// client or the transport ends it, or ends when nothing of what the client asks for
// can change any more.
func (l *link) listen(ctx context.Context, r *request, s *session, from *origin) mcp.JSONRPCMessage {
	if !r.out.Streams() {
		return mcp.JSONRPCError{Error: mcp.JSONRPCErrorDetails{Code: mcp.INVALID_REQUEST, Message: "a subscription needs a stream: the header Accept must have " + outlet.EventStream}}
	}
	news := l.taskNews(r, from)
	if from.fault != nil {
		return nil
	}
	ctx, stopListening := during(ctx, l.streaming)
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
