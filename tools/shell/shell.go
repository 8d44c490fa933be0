package shell

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
)

// Deps is what the process owns for this category.
type Deps struct {
	Sandbox *sandbox.Engine
	Jobs    *jobs.Manager // nil = nothing can be run
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		bashTool(d),
		jobInputTool(d),
		jobListTool(d),
		jobOutputTool(d),
		jobStopTool(d),
		powershellTool(d),
		processListTool(),
		processKillTool(d),
	}
}
