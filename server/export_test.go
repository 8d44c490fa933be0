package server

import (
	"context"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// Names for the external tests.
var (
	AppendCallResult = appendCallResult
	AppendToolList   = appendToolList
	Define           = define
	AppendString     = appendString
)

const (
	MaxLine      = maxMessage
	MaxInFlight  = maxInFlight
	MaxRunning   = maxRunning
	MaxSessions  = maxSessions
	MaxTasksEach = maxTasksEach
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
