package bridge

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/services"
)

// Category returns the tools that find and call others.
func Category(s *services.Services) tools.Category {
	return tools.Category{
		ID: "bridge", Title: "find and call tools that are not listed",
		Guide: "not every tool is listed; search_tools finds the others by what they do; call_read_tool calls those that read; call_tool the others",
		Tools: Tools(Deps{Caller: s.Caller}),
	}
}

// Deps is the state that the tools of the category share in a process.
type Deps struct {
	// Caller lists the tools and calls them; nil = there are none.
	Caller tools.Caller
	shelf  *shelf // of all searches
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	d.shelf = &shelf{}
	return []tools.Tool{
		callReadToolTool(d),
		callToolTool(d),
		searchToolsTool(d),
	}
}
