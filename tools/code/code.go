package code

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/code/internal/javascript"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that run scripts and cells.
func Category(s *services.Services) tools.Category {
	d := Deps{Sandbox: s.Sandbox(), Python: new(Python), Kernels: new(Kernels), Scripts: s.Restarts, Caller: s.Caller}
	python := "" // the last applied setting: a reload does not look for the interpreter again
	return tools.Category{
		ID: "code", Title: "run Python and JavaScript",
		Guide: "run_python runs a Python script; code_interpreter keeps variables between cells; run_javascript runs JavaScript, without files",
		Settings: tools.NewSettings(Settings{}, func(set Settings, _ tools.Setup) {
			if next := set.interpreter(); next != python {
				python = next
				d.Python.Configure(python)
			}
		}),
		Tools: Tools(d),
		Load:  func() tools.Load { return tools.Load{Sessions: d.Kernels.Count()} },
	}
}

// Settings are those of the category.
type Settings struct {
	Python string `flag:"python" env:"TOOLCRIB_PYTHON" arg:"FILE" help:"interpreter of run_python and code_interpreter, such as bin/python of a virtual environment (default python3 of PATH)" topic:"sandbox"`
}

// interpreter returns the configured Python: a path, or a name to look up; "" = that of the
// system.
func (set *Settings) interpreter() string {
	if set.Python == "" || filepath.Base(set.Python) == set.Python {
		return set.Python
	}
	if path, err := filepath.Abs(set.Python); err == nil {
		return path
	}
	return set.Python
}

// Check refuses an interpreter that cannot be started.
func (set *Settings) Check(host tools.Host) []tools.SettingError {
	file := set.interpreter()
	if file == "" {
		return nil
	}
	if _, err := host.LookPath(file); err != nil {
		return []tools.SettingError{{
			Key: "python", Err: fmt.Errorf("python: %q cannot be started: %w", set.Python, err),
			Hint: "--python names the interpreter of run_python and code_interpreter",
		}}
	}
	return nil
}

// Program returns the configured interpreter for a Python of the system, any other file as it
// is.
func (set *Settings) Program(file string) string {
	if python := set.interpreter(); python != "" && slices.Contains(systemPythons, file) {
		return python
	}
	return file
}

// Reads returns the files of the interpreter.
func (set *Settings) Reads() []string { return services.InterpreterFiles(set.interpreter()) }

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	Sandbox *sandbox.Engine // nil = one of its own
	Python  *Python         // nil = the system's
	Kernels *Kernels        // nil = none yet
	// Scripts says that this binary calls Program when it starts, so that it can be
	// started again for a script.
	Scripts bool
	// Caller calls tools for scripts; nil = there are none.
	Caller tools.Caller
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	if d.Sandbox == nil {
		d.Sandbox = sandbox.New()
	}
	if d.Python == nil {
		d.Python = new(Python)
	}
	if d.Kernels == nil {
		d.Kernels = new(Kernels)
	}
	return []tools.Tool{
		codeInterpreterTool(d),
		runJavascriptTool(d),
		runPythonTool(d),
	}
}

// Program runs a script if this binary was started again for one, and reports whether it was.
// args is the command line without the program name.
func Program(args []string) (code int, was bool) {
	if len(args) != 1 || args[0] != javascript.Argument {
		return 0, false
	}
	return javascript.Main(os.Stdin, os.Stdout, os.Stderr), true
}
