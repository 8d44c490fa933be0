package agents

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/services"
)

// Category returns the tools for the work of a model with others.
func Category(s *services.Services) tools.Category {
	return tools.Category{
		ID: "agents", Title: "ask the user, call tools together",
		Guide: "ask_user asks the user",
		Tools: Tools(Deps{Caller: s.Caller}),
	}
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	// Caller lists the tools and calls them; nil = there are none.
	Caller tools.Caller
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		askUserTool(d),
		parallelCallsTool(d),
	}
}
