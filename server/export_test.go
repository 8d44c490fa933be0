package server

import (
	"context"

	"toolcrib/server/follow"
	"toolcrib/server/run"
	"toolcrib/server/tasks"
	"toolcrib/server/wire"
	"toolcrib/tools"
)

// Define is define for the external tests.
var Define = define

// Bounds for the external tests.
const (
	MaxLine      = wire.MaxMessage
	MaxInFlight  = maxInFlight
	MaxRunning   = maxRunning
	MaxSessions  = maxSessions
	MaxFollowed  = follow.Max
	MaxTasksEach = tasks.MaxEach
)

// RunnerFunc is a runner of a test.
type RunnerFunc func(ctx context.Context, call run.Call) run.Outcome

// Run implements runner.
func (f RunnerFunc) Run(ctx context.Context, call run.Call) run.Outcome { return f(ctx, call) }

// Start is not for tests: their tools do not stream.
func (RunnerFunc) Start(context.Context, run.Call) *run.Running { panic("a test started a call") }

// View leaves the session as it is.
func (RunnerFunc) View(s tools.SessionInfo, _ ...*tools.Tool) (tools.SessionInfo, bool) {
	return s, true
}

// Watch lets everything be followed.
func (RunnerFunc) Watch(call run.Call) (tools.SessionInfo, error) { return call.Session, nil }

// SetRunner replaces the runner of a server that serves nobody yet.
func (s *Server) SetRunner(f RunnerFunc) { s.runner = f }

// NewFollower makes a follower of the server's resources.
func (s *Server) NewFollower(ctx context.Context, changed func(uri string)) *follow.Follower {
	return s.poller.NewFollower(ctx, changed)
}

// Looks reports whether the goroutine runs that looks at what is followed.
func (s *Server) Looks() bool { return s.poller.Looks() }
