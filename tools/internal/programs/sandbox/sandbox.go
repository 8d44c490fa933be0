// Package sandbox runs programs for tools: shells, interpreters, kernels. It limits what
// they can write, reach and leave behind. It does not judge what they do.
//
// Start reading at [Engine.Start]; for Linux then at view_linux.go, which decides what a
// program sees, and at internal/sandboxinit, which makes that view. The package imports
// workspace for the directories that a program may write, workspace/repository for the
// files that git runs, tools for the session of a call, and egress for the network. It must
// not import a category.
package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/outbound"
	"toolcrib/workspace"
)

// Level says how strictly programs are contained.
type Level uint8

// The levels, the weakest first.
const (
	// None only makes sure that the processes end with the call.
	None Level = iota + 1
	// Landlock is Full without namespaces, for kernels that let nobody make them. On macOS
	// it is sandbox-exec with rules of ours, which the tests do not run.
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

// Options are set by the operator of the server.
type Options struct {
	Level  Level // 0 = the best of this system
	Limits Limits
	Env    []string // more variables of the server's environment that programs get, by name
	Read   []string // more directories of the host that programs may read
	Hide   []string // paths that programs must not see, such as the server's logs
	// Hosts are the only hosts that programs with the network may reach; Private are hosts
	// that may have private addresses. See egress.Options.
	Hosts, Private []string
	// Idle is how long the zygote of a workspace lasts without a program; 0 = ten minutes,
	// less = as long as the engine. The next program starts it again.
	Idle time.Duration
	// Unrecorded programs run without a record of what they change: nothing of it can be
	// undone.
	Unrecorded bool
	Log        *slog.Logger
}

// network returns the options of the proxy.
func (o Options) network() egress.Options { return egress.Options{Hosts: o.Hosts, Private: o.Private} }

// Check returns the first error in the options. It runs nothing.
func (o Options) Check() error { return o.network().Check() }

// Limits bounds one program with everything that it starts. 0 = the default, less = none.
type Limits struct {
	Memory    int64 // bytes of writable data of a process
	FileSize  int64 // bytes of a file that a process writes
	Files     int   // open files of a process
	Processes int   // processes and threads at a time
}

// Or returns the limits with those of other for zero fields.
func (l Limits) Or(other Limits) Limits {
	return Limits{
		Memory: cmp.Or(l.Memory, other.Memory), FileSize: cmp.Or(l.FileSize, other.FileSize),
		Files: cmp.Or(l.Files, other.Files), Processes: cmp.Or(l.Processes, other.Processes),
	}
}

// usual returns the default limits.
func usual() Limits {
	return Limits{Memory: 16 << 30, FileSize: 64 << 30, Files: 16 << 10, Processes: 2048}
}

// Command is a program to run.
type Command struct {
	Args []string       // the program, found on the PATH of the sandbox, and its arguments
	Dir  workspace.Path // its working directory
	Env  []string       // KEY=VALUE, in addition to the variables that every program gets
	// Stdin, Stdout and Stderr are its streams; nil = the null device. Start does not close
	// them.
	Stdin, Stdout, Stderr *os.File
	// Terminal gives it a terminal of this size instead of streams, see Process.Terminal.
	Terminal *Size
	Network  bool // it may reach the network, as far as Options allow
	// Guard decides which hosts it reaches, instead of Options and of what the user has
	// allowed in the session; nil = these. At level None it has no effect.
	Guard *outbound.Guard
	// ReadOnly keeps the program from changing the workspace; at level Landlock it can still
	// change modes and times there, at None everything.
	ReadOnly bool
	Tool     string // the author of its changes in the history of files
	Self     bool   // run this binary; Args[0] is only its name
	Limits   Limits // for fields that the options leave zero
}

// Size is the size of a terminal, in characters.
type Size struct{ Rows, Columns uint16 }

// Engine runs programs. Several goroutines may call its methods. [New] makes one.
type Engine struct {
	mu       sync.Mutex
	opt      Options
	closed   bool
	alive    map[*Process]struct{}
	platform platform
	grants   outbound.Grants
}

// New makes an Engine. It starts nothing.
func New() *Engine { return &Engine{alive: map[*Process]struct{}{}} }

// Grants are the private hosts that sessions may reach.
func (e *Engine) Grants() *outbound.Grants { return &e.grants }

// AskHosts asks the user about the private hosts that earlier programs of the session of ctx
// were refused. A tool calls it before it starts a program with the network, and returns its
// error.
func (e *Engine) AskHosts(ctx context.Context) error {
	grant := e.grants.Of(tools.Session(ctx))
	err := grant.Ask(ctx, grant.Wanted())
	if err != nil && tools.AsError(err).Code == tools.Unavailable {
		return nil // the program is refused them again, and says what allows them
	}
	return err
}

// Configure sets the options of programs that start from now on. Its hosts apply at once to
// running programs too.
func (e *Engine) Configure(opt Options) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opt = opt
	e.reach(opt)
}

// options returns the options with the system's best level and a log filled in.
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

// UnavailableError says that the sandbox cannot be made at the level of the options. Nothing
// ran.
type UnavailableError struct {
	Level    Level
	Missing  string
	UserPath bool // a directory of the user is the cause; Missing names it
	Err      error
}

func (e *UnavailableError) Error() string {
	msg := fmt.Sprintf("the sandbox cannot be made at level %s: %s", e.Level, e.Missing)
	if e.Err != nil {
		msg += ": " + e.Err.Error()
	}
	return msg
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Hint says how the user or the operator of the server can help.
func (e *UnavailableError) Hint() string {
	if e.UserPath {
		return "another level would not help; tell the user to give the owner all rights to the named path (chmod u+rwx), or to move it aside, and call again"
	}
	if e.Level == Full && best == Full {
		return "toolcrib doctor shows details; the operator of the server can allow user namespaces, or choose a weaker level: --sandbox=landlock, or --sandbox=none, which contains nothing"
	}
	return "the operator of the server can let programs run uncontained with --sandbox=none"
}

// Start starts a program for the call of ctx, in its workspace. ctx bounds only the start.
// If the sandbox cannot be made at the level of the options, the error wraps an
// [UnavailableError], which says what is missing and how to help. Start never uses a weaker
// level. It fails if a root has left its name: the program would change files that the user
// does not see there.
func (e *Engine) Start(ctx context.Context, c Command) (*Process, error) {
	opt, err := e.options()
	if err != nil {
		return nil, err
	}
	if s := tools.Session(ctx); s != nil && s.Workspace != nil {
		if _, err := s.Workspace.OpenRoots(); err != nil {
			return nil, err
		}
	}
	p, err := e.start(ctx, opt, c)
	return p, worded(err)
}

// worded turns an UnavailableError into a [tools.Error].
func worded(err error) error {
	if e, ok := errors.AsType[*UnavailableError](err); ok {
		return &tools.Error{Code: tools.Unavailable, Msg: e.Error(), Hint: e.Hint(), Err: err}
	}
	return err
}

// Refused turns an error of Start into a [tools.Error].
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

// Check checks, without running a program, whether programs can run for the call of ctx. It
// returns the level.
func (e *Engine) Check(ctx context.Context) (Level, error) {
	opt, err := e.options()
	if err != nil {
		return opt.Level, err
	}
	return opt.Level, worded(e.check(ctx, opt))
}

// Recorded reports whether the history of files gets what programs of the call of ctx change.
func (e *Engine) Recorded(ctx context.Context) bool { return e.Unrecorded(ctx) == "" }

// Unrecorded says why the history does not get what programs of the call of ctx change; "" =
// it does.
func (e *Engine) Unrecorded(ctx context.Context) string {
	opt, err := e.options()
	switch {
	case err != nil:
		return err.Error()
	case opt.Unrecorded:
		return "the configuration switches it off (program_undo)"
	case tools.Session(ctx).Workspace.StateBase() == "":
		return "no state is kept"
	}
	return e.unrecorded(ctx, opt)
}

// Countless says why the limit of processes has no effect on this system; "" = it has, or
// the level is None.
func (e *Engine) Countless() string {
	opt, err := e.options()
	if err != nil || opt.Level == None {
		return ""
	}
	return countless(opt.Level, opt.Limits.Or(usual()).Processes)
}

// keep registers a running process. It returns false if the engine has been closed.
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

// Close ends all programs and waits for their end.
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

// Private reports whether programs have a network of their own, so that their ports can be opened.
func (e *Engine) Private() bool {
	opt, _ := e.options()
	return opt.Level == Full
}

// Passes reports whether programs get a variable of the server's environment.
func (e *Engine) Passes(name string) bool {
	opt, _ := e.options()
	names, all := opt.Variables()
	_, set := os.LookupEnv(name)
	return set && (all || slices.Contains(names, name))
}

// Level returns the level of the options, or the best of this system where they have none.
func (e *Engine) Level() Level {
	opt, _ := e.options()
	return opt.Level
}
