package server

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// listener is the session of a subscriptions/listen request.
type listener struct {
	*session
	subscriptions
	heard *follower

	mu     sync.Mutex
	filter mcp.SubscriptionFilter
	acked  bool
}

var _ mcpserver.SessionWithSubscriptionFilter = (*listener)(nil)

func (l *link) newListener(ctx context.Context, s *session) *listener {
	heard := l.follow(ctx, func(uri string) {
		s.req.notify(mcp.MethodNotificationResourceUpdated, map[string]any{
			"_meta": map[string]any{mcp.MetaKeySubscriptionID: s.req.msg.id}, "uri": uri,
		})
	})
	return &listener{session: s, heard: heard, subscriptions: subscriptions{func() *follower { return heard }}}
}

func (l *listener) close() { l.heard.close() }

// SubscribeToResourceErr follows a resource for as long as the request lasts.
func (l *listener) SubscribeToResourceErr(uri string) error { return l.heard.follow(uri) }

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
