package code

import (
	"os"

	"toolcrib/tools"
	"toolcrib/tools/code/internal/javascript"
	"toolcrib/tools/internal/programs/sandbox"
)

// Deps is what the process owns for this category.
type Deps struct {
	Sandbox *sandbox.Engine // nil = one of its own
	Python  *Python         // nil = the system's
	Kernels *Kernels        // nil = none yet
	// Scripts says that this binary calls Program when it starts, so that it can be
	// started again for a script.
	Scripts bool
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

// Program carries out what this binary is started again for, and reports whether it was;
// args are those of the command line without the name.
func Program(args []string) (code int, was bool) {
	if len(args) != 1 || args[0] != javascript.Argument {
		return 0, false
	}
	return javascript.Main(os.Stdin, os.Stdout), true
}
