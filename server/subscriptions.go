package server

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server/follow"
	"toolcrib/tools"
)

// A client follows resources in one of two ways: by resources/subscribe for as
// long as its link lasts, or by a subscriptions/listen request. mcp-go hands both
// over by the methods of subscriptions.

// subscriptions passes what a client follows on to a follower.
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

// SubscribeToResourceErr lets the client follow what it may read: in the
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

// follow makes a follower in the name of the link's client.
func (l *link) follow(ctx context.Context, changed func(uri string)) *follow.Follower {
	info := tools.SessionInfo{Principal: l.principal, Workspace: l.base, May: granted(ctx)}
	if p := l.peer.Load(); p != nil {
		info.Client = p.client()
	}
	return l.server.poller.NewFollower(tools.WithSession(ctx, &info), changed)
}
