package tools

import (
	"context"
	"io"
	"log/slog"

	"toolcrib/workspace/redact"
)

// Category is a toolset: everything that its package offers, as one value. Its constructor
// opens and starts nothing, so that listing the catalog costs nothing. Every field but ID,
// Title and Tools may be zero.
type Category struct {
	ID    string // the name of its package, and the Category of its tools
	Title string // what its tools are for, in a few words, for the list of categories
	// Guide helps a model to choose a tool: one line of the server's instructions, in
	// clauses separated by semicolons. A clause is left out if it names a tool that cannot
	// be called.
	Guide string
	// Outlasting is one more clause. It is added if the processes that the tools start
	// outlast the client.
	Outlasting string

	Settings Settings // nil = the configuration can set nothing
	Tools    []Tool
	Sources  []Source
	Prompts  []Prompt
	// Commands are what the command line offers beside calls of the tools.
	Commands []UserCommand

	// Start starts background work, which goes on until ctx ends or stop is called. stop
	// waits for the work to end. While busy reports that calls are running, the work
	// pauses and leaves them the processor.
	Start func(ctx context.Context, busy func() bool) (stop func())
	// Close ends everything that the tools have started.
	Close func() error
	// CallsTools says that what the tools have started may call tools of other categories. Such
	// a category is closed before those without it.
	CallsTools bool
	// Load returns what would be lost if the process ended.
	Load func() Load
	// Doctor checks the needs of the tools from this machine. It is called after the settings
	// were applied; its context has a session with the workspace.
	Doctor func(ctx context.Context) []Finding
}

// UserCommand is one of the command line, for the user of the machine: "toolcrib NAME ARGS".
type UserCommand struct {
	Name  string
	Args  string // shown after the flags in its usage line
	Short string // one line, for the list of commands
	Long  string // the rest of its help; it begins with a line break
	// JSON: it takes the flag --json. Run is then called with --json before the arguments.
	JSON bool
	// Run carries it out. ctx has a session with the workspace, and the settings were applied.
	// Its error is one line; a [UsageError] says how the command line is wrong.
	Run func(ctx context.Context, args []string, in io.Reader, out io.Writer) error
}

// UsageError says that the arguments of a [UserCommand] are wrong.
type UsageError struct{ Msg, Hint string }

func (e *UsageError) Error() string { return e.Msg }

// Load counts what a process holds for its clients: running jobs, ended jobs whose output
// can still be read, and shells and interpreters with state.
type Load struct{ Running, Kept, Sessions int }

// Plus returns the sum of two loads.
func (l Load) Plus(m Load) Load {
	return Load{l.Running + m.Running, l.Kept + m.Kept, l.Sessions + m.Sessions}
}

// Finding is one line of the output of `toolcrib doctor`.
type Finding struct {
	State FindingState
	What  string // one word
	Say   string
}

// FindingState is the state of a Finding.
type FindingState string

// The states of findings.
const (
	Fine    FindingState = "ok"
	Missing FindingState = "missing" // something optional is absent
	Broken  FindingState = "broken"  // something that the configuration needs does not work
)

// Setup has the values that a server passes to its categories together with their settings, when it
// starts and when it reloads its configuration.
type Setup struct {
	Log *slog.Logger // nil = discard
	// Version is that of the program, for other hosts that it asks; "" = unknown.
	Version string
	// Redactor removes secrets of the configuration; nil = those that look like secrets.
	Redactor *redact.Redactor
	// Hide are the server's own files. Programs that tools start must not see them.
	Hide []string
	// Read are files that programs must be able to read, from the Reads of all Settings.
	Read []string
	// Outlasts reports whether processes that tools start outlast the client.
	Outlasts bool
	// Neighbours describes the jobs of the user's other servers, one line each; nil = there
	// are none.
	Neighbours func() []string
}
