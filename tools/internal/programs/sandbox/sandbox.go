// Package sandbox runs programs for the tools that run any: shells, interpreters,
// kernels. It contains what they can write, reach and leave behind; what they do is
// not looked at here.
//
// Start reading at [Engine.Start]; for Linux then at view_linux.go, which says what a
// program sees, and at internal/sandboxinit, which makes it so. The package imports workspace,
// which says where a program may write, tools, which says whose call it is, and nothing
// else of toolcrib.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/workspace"
)

// Level is how far programs are contained.
type Level uint8

// The levels, the weakest first.
const (
	// None contains nothing but the processes: they end with the call.
	None Level = iota + 1
	// Landlock is Full without namespaces, where the kernel lets nobody make them; on
	// macOS the rules of its sandbox-exec, which are written for it and not run by the
	// tests.
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
	Hide   []string // what they must not see, such as logs and configuration of the server
	// Hosts are the only ones that programs with the network reach, Private those whose
	// addresses may be private, see egress.Options.
	Hosts, Private []string
	// Idle is how long what holds the sandbox of a workspace lasts without a program; 0 =
	// ten minutes, less = as long as the engine. The next program starts it again.
	Idle time.Duration
	Log  *slog.Logger
}

// network returns the options of the way to the network.
func (o Options) network() egress.Options { return egress.Options{Hosts: o.Hosts, Private: o.Private} }

// Check says what is wrong with the options, before anything runs.
func (o Options) Check() error { return o.network().Check() }

// Limits bounds one program with all that it starts. Zero = the default, less = none.
type Limits struct {
	Memory    int64 // bytes of data that a process can write to
	FileSize  int64 // bytes of a file that it writes
	Files     int   // open files of a process
	Processes int   // processes and threads at a time
}

// Or fills in what is zero.
func (l Limits) Or(other Limits) Limits {
	return Limits{
		Memory: cmp.Or(l.Memory, other.Memory), FileSize: cmp.Or(l.FileSize, other.FileSize),
		Files: cmp.Or(l.Files, other.Files), Processes: cmp.Or(l.Processes, other.Processes),
	}
}

// usual are the limits where nobody sets others.
func usual() Limits {
	return Limits{Memory: 16 << 30, FileSize: 64 << 30, Files: 16 << 10, Processes: 2048}
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
	Self     bool   // the program is this binary, whatever the first of Args is
	Limits   Limits // where the options have none
}

// Size is the size of a terminal, in characters.
type Size struct{ Rows, Columns uint16 }

// Engine runs programs. Its methods may be called by several goroutines. The zero value
// is not ready: see [New].
type Engine struct {
	mu       sync.Mutex
	opt      Options
	closed   bool
	alive    map[*Process]struct{}
	platform platform
}

// New makes an Engine. It starts nothing.
func New() *Engine { return &Engine{alive: map[*Process]struct{}{}} }

// Configure sets the options of the programs that are started from now on. Which hosts the
// others reach changes with it.
func (e *Engine) Configure(opt Options) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opt = opt
	e.reach(opt)
}

// options returns the options, with those in the place of zero that this system has.
func (e *Engine) options() (Options, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	opt := e.opt
	if opt.Level == 0 {
		opt.Level = best
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if e.closed {
		return opt, ErrClosed
	}
	return opt, nil
}

// ErrClosed says that the engine has been closed.
var ErrClosed = errors.New("the server is ending")

// UnavailableError says that the level that is asked for cannot be had. Nothing ran.
type UnavailableError struct {
	Level   Level
	Missing string
	Place   bool // a directory of the user's is in the way, which Missing names
	Err     error
}

func (e *UnavailableError) Error() string {
	msg := fmt.Sprintf("the sandbox cannot be made at level %s: %s", e.Level, e.Missing)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Hint says what whoever runs the server can do.
func (e *UnavailableError) Hint() string {
	if e.Place {
		return "no other level would be right for this; tell the user to give the owner all rights to what is named (chmod u+rwx), or to move it aside, and call again"
	}
	if e.Level == Full && best == Full {
		return "toolcrib doctor tells more; whoever runs the server can allow user namespaces, or choose less with --sandbox=landlock or, with nothing contained, --sandbox=none"
	}
	return "whoever runs the server can let programs run uncontained with --sandbox=none"
}

// Start starts a program for the call of ctx, in its workspace. ctx bounds only the
// start. The error of a level that cannot be had is an [UnavailableError], which says
// what is missing and the way out; nothing runs at a weaker one.
func (e *Engine) Start(ctx context.Context, c Command) (*Process, error) {
	opt, err := e.options()
	if err != nil {
		return nil, err
	}
	p, err := e.start(ctx, opt, c)
	return p, worded(err)
}

// worded gives the errors of levels that cannot be had the words for a model.
func worded(err error) error {
	if e, ok := errors.AsType[*UnavailableError](err); ok {
		return &tools.Error{Code: tools.Unavailable, Msg: e.Error(), Hint: e.Hint(), Err: err}
	}
	return err
}

// Refused words for a model why a program could not be started.
func Refused(err error) error {
	if own, ok := errors.AsType[*tools.Error](err); ok {
		return own
	}
	e := tools.AsError(err)
	switch {
	case errors.Is(err, ErrClosed):
		return tools.Errorf(tools.Unavailable, "%v", err)
	case e.Code == tools.Internal:
		e = tools.Errorf(tools.Unavailable, "the program could not be started: %v", err)
		e.Err = err
	}
	return e
}

// Check says whether programs can be run for the call of ctx, at the level that is set,
// without running one.
func (e *Engine) Check(ctx context.Context) (Level, error) {
	opt, err := e.options()
	if err != nil {
		return opt.Level, err
	}
	return opt.Level, worded(e.check(ctx, opt))
}

// Countless says why programs may have any number of processes although a limit is set, ""
// where that holds, or nothing is contained at all.
func (e *Engine) Countless() string {
	opt, err := e.options()
	if err != nil || opt.Level == None {
		return ""
	}
	return countless(opt.Level, opt.Limits.Or(usual()).Processes)
}

// keep enters a process that runs; false = the engine has been closed meanwhile.
func (e *Engine) keep(p *Process) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.alive[p] = struct{}{}
	return !e.closed
}

func (e *Engine) forget(p *Process) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.alive, p)
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
	return e.release()
}

// Level returns the level that is set; 0 = the best of this system.
func (e *Engine) Level() Level {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.opt.Level
}
