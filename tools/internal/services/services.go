// Package services holds what the categories of a process share: the sandbox for programs,
// the jobs, the client for the web, the readers of documents, the lists of files, the database
// of what lasts, and the caller of other tools.
//
// A service is made at its first use; making one opens and starts nothing. The package
// imports the contract, sandbox, jobs, outbound, database and the readers, and must not import
// a category. Start at [Services]; [Services.Programs] has the settings of all programs that
// tools start, and the database has its own.
package services

import (
	"context"
	"fmt"
	"os"
	"sync"

	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/document/linked"
	"toolcrib/tools/internal/filelists"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/outbound"
)

// Services are owned by a process. The zero value works: it builds the whole catalog without
// an environment. A Services must not be copied.
type Services struct {
	// Caller lists and calls tools; nil = there are none.
	Caller tools.Caller
	// Restarts reports whether tools can start this binary as a program, because it calls
	// catalog.Program at its start.
	Restarts bool
	// Page reads a file of the web as web_fetch does, at most so many bytes of it; what a call
	// read shortly before is not fetched again. nil = no tool reads the web.
	Page func(ctx context.Context, url string, most int64) (*outbound.Page, error)

	// Works is what goes on in other categories behind the calls, beside the jobs.
	Works []tools.Works

	once     sync.Once
	sandbox  *sandbox.Engine
	jobs     *jobs.Manager
	outbound outbound.Client
	database database.Source
	readers  linked.Readers
	lists    filelists.Lists
	build    struct {
		once sync.Once
		name string
	}
}

func (s *Services) make() {
	s.once.Do(func() {
		s.sandbox = sandbox.New()
		s.jobs = jobs.New(s.sandbox)
		s.readers.Restarts = s.Restarts
		s.readers.Tesseract.Sandbox = s.sandbox
	})
}

// Sandbox returns the engine that runs the programs of tools.
func (s *Services) Sandbox() *sandbox.Engine {
	s.make()
	return s.sandbox
}

// Jobs returns the manager of programs that may outlast their call.
func (s *Services) Jobs() *jobs.Manager {
	s.make()
	return s.jobs
}

// Build tells the program from others whose results may differ, by its file; "" = the file was
// replaced while it runs.
func (s *Services) Build() string {
	s.build.once.Do(func() {
		file, err := os.Executable()
		if err != nil {
			return
		}
		if info, err := os.Stat(file); err == nil {
			s.build.name = fmt.Sprint(info.ModTime().UnixNano(), info.Size())
		}
	})
	return s.build.name
}

// Outbound returns the client for everything that tools ask over HTTP.
func (s *Services) Outbound() *outbound.Client { return &s.outbound }

// Lists returns the lists of files that are kept up to date.
func (s *Services) Lists() *filelists.Lists { return &s.lists }

// Database returns the database of what must last.
func (s *Services) Database() *database.Source { return &s.database }

// Documents returns the readers of documents.
func (s *Services) Documents() *linked.Readers {
	s.make()
	return &s.readers
}
