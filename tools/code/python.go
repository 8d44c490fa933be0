package code

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
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

// find returns the interpreter. The first time it asks the system's for the file that it is,
// since what stands on PATH may be a script that looks for one.
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
		r, err := d.run(ctx, script{
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
