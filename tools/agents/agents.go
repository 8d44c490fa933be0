package agents

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/services"
)

// Category returns the tools for the work of a model with others.
func Category(s *services.Services) tools.Category {
	d := Deps{Caller: s.Caller, Database: s.Database(), Settings: tools.NewSettings(Settings{}, nil), PresetDirs: userDirectories()}
	return tools.Category{
		ID: "agents", Title: "agents, questions to the user, calls of several tools",
		Guide:    "ask_user asks the user; run_agent gives a task to another model",
		Settings: d.Settings,
		Tools:    Tools(d),
		Sources:  Sources(d),
		Commands: []tools.UserCommand{command(d)},
		Doctor:   d.examine,
	}
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	// Caller lists the tools and calls them; nil = there are none.
	Caller tools.Caller
	// Database keeps the runs of agents.
	Database *database.Source
	Settings *tools.SettingsOf[Settings]
	// PresetDirs are the user's directories with files of presets.
	PresetDirs []string
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		askUserTool(d),
		parallelCallsTool(d),
		runAgentTool(d),
	}
}
