package shell

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that run commands.
func Category(s *services.Services) tools.Category {
	d := Deps{Sandbox: s.Sandbox(), Jobs: s.Jobs(), Works: func() []tools.Works { return s.Works }}
	return tools.Category{
		ID: "shell", Title: "run commands, follow jobs, list and end processes",
		Guide: "bash runs commands in a sandbox, without the network unless asked for; powershell runs those of PowerShell; job_list lists what runs on; job_output follows it; job_input types into it; job_stop ends it; " +
			"process_list shows the machine's processes; process_kill ends one",
		Outlasting: "jobs and sessions outlast the client: job_list shows those of before",
		Settings: tools.NewSettings(Settings{}, func(set Settings, setup tools.Setup) {
			d.Jobs.Configure(set.options(setup))
			d.Jobs.Neighbours(setup.Neighbours)
		}),
		Tools:   Tools(d),
		Sources: Sources(d),
		Close:   d.Jobs.Close,
		Load: func() tools.Load {
			running, kept, shells := d.Jobs.Count()
			return tools.Load{Running: running, Kept: kept, Sessions: shells}
		},
	}
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	Sandbox *sandbox.Engine
	Jobs    *jobs.Manager // nil = nothing can be run
	// Works is what goes on beside the jobs; nil = nothing.
	Works func() []tools.Works
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
