package executor

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/agents/internal/model"
)

// brief is what a program is asked.
type brief struct {
	system, task string
	tools        []string // names
	cost         float64  // at most; 0 = no limit
	thinking     string
}

// kind is how a program is started and understood.
type kind interface {
	// job returns the command line of a task.
	job(e *Executor, b brief) inside.Job
	// reader returns what understands the lines of one process.
	reader() reader
}

// reader understands the lines that a process prints, one after the other.
type reader interface {
	// read returns the events of a line. The error says that the line is none of its language.
	read(line []byte) ([]event, error)
}

// kinds are the programs that are known.
var kinds = map[string]kind{"claude": claude{}, "codex": codex{}, "gemini": gemini{}, "lines": lines{}}

// event is what a program reports. One field is set.
type event struct {
	turn     bool   // a turn of the model begins: the program tells the turns apart
	text     string // a whole piece of what the model says
	thinking string
	call     *model.Call   // of a tool of the program itself
	result   *model.Result // likewise
	use      *model.Use    // of the turn so far
	model    string        // which one answers
	end      *ending
}

// ending is how a program says that it is done.
type ending struct {
	failed  string // why it could not do its task; "" = it did
	limit   string // the limit of its own that ended it
	text    string // its last word, where that was not said before
	use     *model.Use
	cost    float64
	working bool // it goes on: more endings may follow
}

// serverName is the name of the server of the tools for the program.
const serverName = "toolcrib"

// ours reports whether a name that the program has for a tool means one of its server.
func ours(name string) bool {
	return strings.HasPrefix(name, "mcp_") && strings.Contains(name, serverName)
}

// toolArgs are the arguments of the program that serves the tools.
func toolArgs() []string { return []string{inside.ToolsArgument, "@@socket@@", "@@key@@"} }

// waits is how long a call of a tool may take, in seconds: the run has limits of its own.
const waits = 3600

// encode returns JSON for a command line.
func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("executor: %v", err)) // of values of this package
	}
	return string(data)
}

type object = map[string]any

// rest returns what the settings add to every job.
func (e *Executor) rest(job inside.Job) inside.Job {
	job.Args = append(append([]string{e.program()}, job.Args...), e.Args...)
	// Nothing of the sandbox serves it but its tools, and those not over the network.
	job.Env = append(append([]string{"NO_PROXY=", "no_proxy="}, job.Env...), e.Env...)
	return job
}
