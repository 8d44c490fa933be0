package tools

import (
	"context"
	"log/slog"
)

// Category is a toolset: what its package offers, as one value. Its constructor opens and
// starts nothing, so that a list of the catalog costs nothing; fields that are not set do
// nothing.
type Category struct {
	ID    string // the name of its package, which its tools have as their Category
	Title string // what its tools are for, in a few plain words, for the list of categories
	// Guide helps a model to choose: one line for the instructions, of clauses that a
	// semicolon ends. A clause that names a tool which cannot be called is left out.
	Guide string
	// Outlasting is one more clause, said where what the tools start outlasts the client.
	Outlasting string

	Settings Settings // what of it the configuration can set; nil = nothing
	Tools    []Tool
	Sources  []Source
	Prompts  []Prompt

	// Start lets the category work in the background until ctx ends or stop is called,
	// which waits for what it began. While busy reports that calls go on, it leaves the
	// processor to these.
	Start func(ctx context.Context, busy func() bool) (stop func())
	// Close ends all that its tools have started.
	Close func() error
	// Load returns what would be lost if the process ended.
	Load func() Load
	// Doctor looks at what its tools need of this machine, once its settings are applied.
	// The context has a session, with the workspace.
	Doctor func(ctx context.Context) []Finding
}

// Load is what a process holds: jobs that run, those that have ended whose output can be
// read, shells and interpreters that keep something.
type Load struct{ Running, Kept, Sessions int }

// Plus returns the sum of two loads.
func (l Load) Plus(m Load) Load {
	return Load{l.Running + m.Running, l.Kept + m.Kept, l.Sessions + m.Sessions}
}

// Finding is one line of what `toolcrib doctor` says.
type Finding struct {
	State FindingState
	What  string // one word
	Say   string
}

// FindingState says what a Finding is.
type FindingState string

// The states of findings.
const (
	Fine    FindingState = "ok"
	Missing FindingState = "missing" // it could be better
	Broken  FindingState = "broken"  // what the configuration needs does not work
)

// Setup is what a server that starts, or reads its configuration again, tells its
// categories beside their settings.
type Setup struct {
	Log *slog.Logger // nil = discard
	// Hide are the server's own files, which no program that a tool starts may see.
	Hide []string
	// Read are files that programs must be able to read: those of Settings with Reads.
	Read []string
	// Outlasts reports that what the tools start outlasts the client.
	Outlasts bool
	// Neighbours tells of the jobs that other servers of the user have, a line each; nil =
	// there are none.
	Neighbours func() []string
}
