package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace/recorder"
)

// Process is a program that was started. Its methods may be called by several
// goroutines.
type Process struct {
	report   Report
	terminal *os.File
	signal   func(os.Signal) error
	kill     func()
	touched  func() Touched // nil = not compared
	ports    func() []int   // nil = it has the network of the machine
	dial     func(ctx context.Context, port int) (net.Conn, error)
	recorder *recorder.Recorder // nil = nothing is recorded
	done     chan struct{}
	exit     Exit
}

// Begin starts the change of the call of ctx in the history of files; Start does so for the
// first call. What the process changed before becomes a change of its own.
func (p *Process) Begin(ctx context.Context, tool string) {
	if s := tools.Session(ctx); p.recorder != nil {
		p.recorder.Begin(recorder.Label{Tool: tool, Principal: s.Principal, Client: s.Client.Name, Call: s.Call, Group: s.Group})
	}
}

// Changes ends the change of the call and returns it; known is false if nothing is recorded.
func (p *Process) Changes() (changes recorder.Changes, known bool) {
	if p.recorder == nil {
		return recorder.Changes{}, false
	}
	return p.recorder.End(), true
}

// Lost says what of the changes outside of calls cannot be undone, each once; "" = everything can
// be, or nothing is recorded.
func (p *Process) Lost() string {
	if p.recorder == nil {
		return ""
	}
	return p.recorder.Lost()
}

// Report returns how the process is contained.
func (p *Process) Report() Report { return p.report }

// Terminal returns the other end of its terminal, nil = it has none. The caller closes it.
func (p *Process) Terminal() *os.File { return p.terminal }

// Private reports whether it has a network of its own, which Ports and Dial are about.
func (p *Process) Private() bool { return p.dial != nil }

// Ports returns the TCP ports of its private network at which it listens, in order.
func (p *Process) Ports() []int {
	if p.ports == nil {
		return nil
	}
	return p.ports()
}

// Dial connects to a port of the loopback device of its private network.
func (p *Process) Dial(ctx context.Context, port int) (net.Conn, error) {
	if p.dial == nil {
		return nil, errors.ErrUnsupported
	}
	return p.dial(ctx, port)
}

// Signal sends a signal to the program and its process group.
func (p *Process) Signal(s os.Signal) error { return p.signal(s) }

// Kill ends the program and everything that it has started. It does not wait.
func (p *Process) Kill() { p.kill() }

// Touched returns the protected paths that were changed since the start, or since the last
// call.
func (p *Process) Touched() Touched {
	if p.touched == nil {
		return Touched{}
	}
	return p.touched()
}

// Done is closed when the program and everything that it had started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how it ended. It is valid once Done is closed.
func (p *Process) Exit() Exit { return p.exit }

// Variables returns the names of the server's environment variables that programs get; all =
// every variable except the server's settings.
func (o Options) Variables() (names []string, all bool) {
	contained := o.Level != None && (o.Level != 0 || runtime.GOOS == "linux" || runtime.GOOS == "darwin")
	return slices.Concat([]string{"PATH", "HOME"}, passed(), o.Env), !contained
}

// passed returns the server's environment variables that every program gets: language and
// terminal, the paths of toolchains, certificates and mirrors. Variables that load code or
// may hold a secret are not among them.
func passed() []string {
	return []string{
		"LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME", "TZ",
		"TERM", "COLORTERM", "NO_COLOR", "USER", "LOGNAME", "SHELL", "CI",
		"ANDROID_HOME", "CARGO_HOME", "CONDA_PREFIX", "DOTNET_ROOT", "GOPATH", "GOROOT", "GOTOOLCHAIN", "JAVA_HOME", "NVM_BIN", "NVM_DIR", "PNPM_HOME", "PYENV_ROOT", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "VIRTUAL_ENV",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO",
		"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "PIP_INDEX_URL", "UV_INDEX_URL", "NPM_CONFIG_REGISTRY", "npm_config_registry",
	}
}

// Report says how a process is contained.
type Report struct {
	Level   Level
	Network string // "off", "on", or the hosts that it may reach
	// Denied names denied paths that the process cannot read, and their rules; "" = none.
	Denied string
	// NotDenied names denied paths that the level cannot deny; "" = none.
	NotDenied string
	// Earlier has warnings that were not reported with earlier programs: why not everything
	// is protected, and protected paths that a program touched. "" = none.
	Earlier string
	// Limits are the limits that are lower than the machine's, as far as that is known; 0 =
	// none.
	Limits Limits
	// Countless reports whether the limit of processes has no effect on this system.
	Countless bool
}

// Warning describes the containment if it is weaker than Full; "" = it is not.
func (r Report) Warning() string {
	if r.Level == Full && !r.Countless || r.Level == 0 {
		return r.Earlier
	}
	text := fmt.Sprintf("sandbox: %s, network %s", r.Level, r.Network)
	if r.Countless && r.Level != None { // which limits nothing
		text += ", any number of processes"
	}
	if r.Level == Full {
		return strings.TrimSpace(text + "\n" + r.Earlier)
	}
	if r.NotDenied != "" {
		text += "; it does not keep programs from " + r.NotDenied
	}
	return text
}

// Meta returns the report for the _meta of a result; nil = nothing ran.
func (r Report) Meta() map[string]any {
	if r.Level == 0 {
		return nil
	}
	return map[string]any{"toolcrib/sandbox": map[string]any{"level": r.Level.String(), "network": r.Network}}
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // 128 + the number of the signal that ended it, as in shells
	Signal string // such as "SIGKILL"; "" = it ended by itself
	Left   int    // processes that it left behind and that were killed
	Memory int64  // peak bytes of one of its processes; 0 = unknown
	// Starved reports whether the kernel killed a process for lack of memory while it ran.
	Starved bool
	CPU     time.Duration
	Err     error // why its exit is not known
	// Refused names the hosts that it was refused, and why; "" = none.
	Refused string
	Touched
}

// Touched lists protected paths that changed while a program ran, as tools print them.
type Touched struct {
	Made    []string // created
	Gone    []string // deleted, or moved with a directory above; a repository counts as a whole
	Swapped []string // replaced by another file or directory, or not readable any more
	// Partly reports whether files of a repository that is gone are still there.
	Partly bool

	recorded bool         // the history has what is gone
	told     *atomic.Bool // whether somebody has asked for the warning; nil = not recorded
}

// Warning returns what to tell the user, "" = nothing.
func (t Touched) Warning() string {
	if t.told != nil {
		t.told.Store(true)
	}
	var parts []string
	for _, p := range []struct {
		paths []string
		what  string
	}{
		{t.Gone, "deleted or moved away meanwhile: %s" + t.undoing()},
		{t.Made, "made meanwhile: %s; programs of the user follow it: tell the user before anything else is done"},
		{t.Swapped, "replaced meanwhile: %s; programs of the user obey the new files: tell the user before anything else is done"},
	} {
		if len(p.paths) > 0 {
			parts = append(parts, fmt.Sprintf(p.what, shortened(p.paths)))
		}
	}
	return strings.Join(parts, "\n")
}

func (t Touched) undoing() string {
	rest := ""
	if t.Partly {
		rest = "; what is protected of a repository is still there"
	}
	if t.recorded {
		return "; undo: restore_file undo=true" + rest
	}
	return ", which no history of this server has: tell the user" + rest
}

// shortened names paths. It only counts them per top directory if they are many.
func shortened(paths []string) string {
	const most = 8
	if len(paths) > most {
		count := map[string]int{}
		for _, path := range paths {
			count[top(path)]++
		}
		paths = slices.Clone(paths)
		for i, path := range paths {
			if n := count[top(path)]; n > 1 {
				paths[i] = fmt.Sprintf("%s/ (%d places)", top(path), n)
			}
		}
		paths = slices.Compact(paths)
	}
	if more := len(paths) - 2*most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:2*most], ", "), more)
	}
	return strings.Join(paths, ", ")
}

// top returns the first component of a relative path; an absolute path as it is.
func top(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	name, _, _ := strings.Cut(path, "/")
	return name
}

// Orphans says how many processes it had left behind, "" = none.
func (e Exit) Orphans() string {
	switch e.Left {
	case 0:
		return ""
	case 1:
		return "1 process that it left behind was ended with it"
	}
	return fmt.Sprintf("%d processes that it left behind were ended with it", e.Left)
}
