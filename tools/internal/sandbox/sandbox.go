// Package sandbox runs programs for the tools that run any: shells, interpreters,
// kernels. It contains what they can write, reach and leave behind; what they do is
// not looked at here.
//
// Start reading at [Engine.Start]. The package imports workspace, which says where a
// program may write, and nothing else of toolcrib.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"

	"toolcrib/workspace"
)

// Level is how far programs are contained.
type Level uint8

// The levels, the weakest first.
const (
	// None contains nothing but the processes: they end with the call.
	None Level = iota + 1
	// Landlock is Full without namespaces, where the kernel lets nobody make them.
	Landlock
	// Full is namespaces, Landlock, seccomp, no capabilities and limits.
	Full
)

var levelNames = [...]string{"", "none", "landlock", "full"}

func (l Level) String() string { return levelNames[l] }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *Level) UnmarshalText(text []byte) error {
	for i, name := range levelNames {
		if i > 0 && string(text) == name {
			*l = Level(i)
			return nil
		}
	}
	return fmt.Errorf("no sandbox level is called %q; there are: %s", text, strings.Join(levelNames[1:], ", "))
}

// Options is what whoever starts the server sets.
type Options struct {
	Level  Level // 0 = the best of this system
	Limits Limits
	Env    []string // names of variables of the server that programs get beside the usual ones
	Read   []string // directories of the host that programs may read beside the system's
	Log    *slog.Logger
}

// Limits bounds one program with all that it starts. Zero = the default.
type Limits struct {
	Memory    int64 // bytes of address space of a process
	FileSize  int64 // bytes of a file that it writes
	Files     int   // open files of a process
	Processes int   // processes and threads at a time
}

// Command is a program to run.
type Command struct {
	Args []string       // the program, found by the PATH of the sandbox, and its arguments
	Dir  workspace.Path // where it runs
	Env  []string       // KEY=VALUE, beside the variables that every program gets
	// Stdin, Stdout and Stderr go to the program; nil = the null device. Start does not
	// close them.
	Stdin, Stdout, Stderr *os.File
	// Terminal gives it a terminal of this size in their place, see Process.Terminal.
	Terminal *Size
	Network  bool   // it may reach the network, as far as Options allow
	Limits   Limits // zero fields: those of the options
}

// Size is the size of a terminal, in characters.
type Size struct{ Rows, Columns uint16 }

// Report says what contains a process.
type Report struct {
	Level   Level
	Network string // "off", "on", or by which hosts it is bounded
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // 128 + the number of the signal where one ended it, as shells have it
	Signal string // such as "SIGKILL"; "" = it ended by itself
	Left   int    // processes that it had left behind, which were ended
	Err    error  // why nothing is known of its end
}

// Engine runs programs. Its methods may be called by several goroutines. The zero value
// is not ready: see [New].
type Engine struct {
	mu     sync.Mutex
	opt    Options
	closed bool
	alive  map[*Process]struct{}
}

// New makes an Engine. It starts nothing.
func New() *Engine { return &Engine{alive: map[*Process]struct{}{}} }

// Configure sets the options of the programs that are started from now on.
func (e *Engine) Configure(opt Options) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opt = opt
}

// ErrClosed says that the engine has been closed.
var ErrClosed = errors.New("the server is ending")

// Start starts a program for the call of ctx, in its workspace. ctx bounds only the
// start. The error of a level that cannot be had says what is missing and the way out;
// nothing runs at a weaker one.
func (e *Engine) Start(ctx context.Context, c Command) (*Process, error) {
	return e.startPlain(ctx, c)
}

// Close ends all programs, and returns when they have ended.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	var all []*Process
	for p := range e.alive {
		all = append(all, p)
	}
	e.mu.Unlock()
	for _, p := range all {
		p.Kill()
	}
	for _, p := range all {
		<-p.Done()
	}
	return nil
}
