// Package services has what categories of tools share in a process: the sandbox that
// programs run in, the jobs that commands become, the way to call other tools.
//
// A service makes itself when it is first asked for; making one opens and starts nothing.
// The package imports the contract and the engines below tools/internal, and must not
// import a category. Start at [Services]; [Services.Programs] has the settings that all
// programs of tools share.
package services

import (
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
)

// Services is what a process owns for its tools. The zero value works: it builds the whole
// catalog without an environment. It is not to be copied.
type Services struct {
	// Caller knows which tools there are and calls them; nil = there are none.
	Caller tools.Caller
	// Restarts reports that this binary can be started again for a program of a tool: it
	// calls catalog.Program as it starts.
	Restarts bool

	once    sync.Once
	sandbox *sandbox.Engine
	jobs    *jobs.Manager
}

func (s *Services) make() {
	s.once.Do(func() {
		s.sandbox = sandbox.New()
		s.jobs = jobs.New(s.sandbox)
	})
}

// Sandbox runs the programs that tools start.
func (s *Services) Sandbox() *sandbox.Engine {
	s.make()
	return s.sandbox
}

// Jobs keeps the commands that outlast the call which started them.
func (s *Services) Jobs() *jobs.Manager {
	s.make()
	return s.jobs
}
