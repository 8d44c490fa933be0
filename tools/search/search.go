package search

import "toolcrib/tools"

// Deps is what the tools need from the process: nothing yet.
type Deps struct{}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	return []tools.Tool{
		globTool(d),
		grepTool(d),
	}
}
