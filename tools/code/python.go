package code

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
)

//go:embed scope.py
var scope string

//go:embed magics.py
var magics string

const (
	pythonMemory = 4 << 30 // bytes of data, unless the sandbox is configured
	shownText    = 12_000  // characters of a value or a traceback
)

// Python says which interpreter runs scripts. The zero value takes the system's. Its
// methods may be called by several goroutines.
type Python struct {
	mu   sync.Mutex
	path string
}

// Configure sets the interpreter, such as bin/python of a virtual environment; "" = the
// system's.
func (p *Python) Configure(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.path = path
}

// systemPythons are the names of the system's interpreter.
var systemPythons = []string{"python3", "python"}

// howPython says how to get an interpreter.
const howPython = "install Python 3.8 or later (Debian: apt-get install python3), or start the server with --python=FILE, such as bin/python of a virtual environment"

// find returns the interpreter. The first time it asks the system's Python for its own file,
// since the name on PATH may be a script that looks for an interpreter.
func (d Deps) find(ctx context.Context) (string, error) {
	p := d.Python
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path != "" {
		return p.path, nil
	}
	for _, name := range systemPythons {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		r, err := d.run(tools.WithProgress(ctx, func(tools.ProgressEvent) {}), script{
			args:    []string{name, "-S", "-E", "-c", "import sys; sys.stdin.read(); print(sys.executable)"},
			job:     func(string) any { return nil },
			timeout: probeTimeout, silent: true,
		})
		if err != nil {
			return "", sandbox.Refused(err)
		}
		if p.path = strings.TrimSpace(r.output.text); r.exit.Code != 0 || !filepath.IsAbs(p.path) {
			p.path = name
		}
		return p.path, nil
	}
	return "", tools.Errorf(tools.Unavailable, "no Python interpreter is found on PATH").WithHint("%s", howPython)
}

const probeTimeout = 10 * time.Second

// planOf returns the effects of a call with a script, as far as they are known.
func planOf(code string, network bool) tools.Plan {
	p := tools.Plan{
		Effects: tools.Workspace | tools.Process | tools.Destroys,
		Unknown: "a script of Python can run any program",
		Shows:   shorten(code, 400, 0),
	}
	if network {
		p.Effects |= tools.Network
	}
	return p
}

// pythonReport is the report of the runner on a script.
type pythonReport struct {
	Value, Error, Kind string
	Packages           []string // that are there, if one is missing
}

// pythonArgs returns the command line of one of the embedded programs.
func pythonArgs(interpreter, program string) []string {
	return []string{interpreter, "-X", "utf8", "-X", "faulthandler", "-c", scope + program, magics}
}

// maxPackages is how many packages a hint names.
const maxPackages = 30

// others names the packages of the interpreter.
func (r pythonReport) others() string {
	named := r.Packages[:min(len(r.Packages), maxPackages)]
	switch {
	case len(named) == 0:
		return "the interpreter has only the standard library"
	case len(named) < len(r.Packages):
		return fmt.Sprintf("the interpreter has %s and %d more", strings.Join(named, ", "), len(r.Packages)-len(named))
	}
	return "the interpreter has " + strings.Join(named, ", ")
}

// hint returns advice on errors that the environment of scripts causes.
func hint(r pythonReport, network bool, within sandbox.Report) string {
	switch {
	case strings.HasSuffix(r.Kind, "MemoryError"):
		return outOfMemory(within)
	case r.Kind == "ModuleNotFoundError" && strings.Contains(r.Error, "'IPython"):
		return "display(x) is there without an import"
	case r.Kind == "EOFError" && strings.Contains(r.Error, "input("):
		return "there is no input: put the values into the code"
	case r.Kind == "ModuleNotFoundError":
		return r.others() + "; the user can install more for it, or set --python of the server to the interpreter of a virtual environment"
	case within.Level == sandbox.Full && strings.Contains(r.Error, "Connection refused"):
		return "nothing listens there: localhost is that of the programs of this workspace, not of the machine; bash with background=true starts a server"
	case strings.Contains(r.Error, "the network is off"): // it says so itself
	case !network && (r.Kind == "gaierror" || r.Kind == "URLError" || r.Kind == "ConnectionError" || strings.Contains(r.Error, "Network is unreachable")):
		return "the network is off; network=true asks for it"
	}
	return ""
}
