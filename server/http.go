package server

import (
	"context"
	"errors"
	"net"
	"time"
)

// HTTP configures streamable HTTP.
type HTTP struct {
	// Token is the bearer token that every request must carry; "" = none is
	// wanted.
	Token string
	// Hosts are names by which clients may call the server, beside localhost and
	// the addresses of its listener.
	Hosts []string
	// Origins are the web origins whose pages may call the server.
	Origins []string
	// SessionIdle is how long a session of the older revisions lives without a
	// request; 0 = DefaultSessionIdle.
	SessionIdle time.Duration
}

// ServeHTTP serves clients over streamable HTTP at /mcp until ctx ends; running
// calls may then end.
func (s *Server) ServeStreamable(ctx context.Context, ln net.Listener, opt HTTP) error {
	return errors.ErrUnsupported
}
