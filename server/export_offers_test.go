package server

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/tools"
)

// MaxFollowed for the external tests.
const MaxFollowed = maxFollowed

// Follower is a follower for the external tests.
type Follower struct{ f *follower }

// NewFollower makes a follower.
func (s *Server) NewFollower(ctx context.Context, changed func(uri string)) Follower {
	return Follower{s.poller.newFollower(ctx, changed)}
}

func (f Follower) Follow(uri string) error { return f.f.follow(uri) }
func (f Follower) Leave(uri string)        { f.f.leave(uri) }
func (f Follower) URIs() []string          { return f.f.uris() }
func (f Follower) Close()                  { f.f.close() }

// Looks reports whether the goroutine runs that looks at what is followed.
func (s *Server) Looks() bool {
	s.poller.mu.Lock()
	defer s.poller.mu.Unlock()
	return s.poller.stop != nil
}

// NewLogger is newLogger; send gets the params as JSON.
func NewLogger(level mcp.LoggingLevel, send func(params string)) *slog.Logger {
	return newLogger(level, func(params any) {
		data, err := json.Marshal(params)
		if err != nil {
			panic(err)
		}
		send(string(data))
	})
}

// FormSchema is formSchema as JSON.
func FormSchema(form tools.Form, revision string) string {
	data, err := json.Marshal(formSchema(form, revision))
	if err != nil {
		panic(err)
	}
	return string(data)
}
