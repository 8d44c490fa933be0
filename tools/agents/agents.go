package agents

import (
	"log/slog"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/inside"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/services"
)

// Category returns the tools for the work of a model with others.
func Category(s *services.Services) tools.Category {
	d := New(s.Caller, s.Database())
	d.Sandbox, d.Restarts, d.PresetDirs = s.Sandbox(), s.Restarts, userDirectories()
	s.Works = append(s.Works, d)
	return tools.Category{
		ID: "agents", Title: "agents, questions to the user, calls of several tools",
		Guide:    "ask_user asks the user; run_agent gives a task to another model",
		Settings: d.Settings,
		Tools:    Tools(d),
		Sources:  Sources(d),
		Commands: []tools.UserCommand{command(d)},
		Start:    d.start, Close: d.close, CallsTools: true, Load: d.load, Doctor: d.examine,
	}
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	// Caller lists the tools and calls them; nil = there are none.
	Caller tools.Caller
	// Database keeps the runs of agents.
	Database *database.Source
	Settings *tools.SettingsOf[Settings]
	// Sandbox runs executors; Restarts reports whether this binary can be started as a part of
	// one, because it calls Program at its start.
	Sandbox  *sandbox.Engine
	Restarts bool
	// PresetDirs are the user's directories with files of presets.
	PresetDirs []string

	desk *desk
}

// New returns the state, without a sandbox. It opens nothing.
func New(caller tools.Caller, source *database.Source) Deps {
	d := Deps{Caller: caller, Database: source, desk: &desk{
		caller: caller, database: source, log: slog.New(slog.DiscardHandler), live: map[string]*live{}, keepers: map[string]*keeper{},
	}}
	d.Settings = tools.NewSettings(Settings{}, func(_ Settings, setup tools.Setup) {
		d.desk.mu.Lock()
		defer d.desk.mu.Unlock()
		if setup.Log != nil {
			d.desk.log = setup.Log
		}
	})
	return d
}

// Program reports whether this process is a part of an executor, and if so runs it. args is the
// command line without the program's name.
func Program(args []string) (exit int, was bool) { return inside.Program(args) }

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		askUserTool(d),
		parallelCallsTool(d),
		runAgentTool(d),
	}
}
