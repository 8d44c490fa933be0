package search

import "toolcrib/tools"

// Deps is what the tools need from the process.
type Deps struct {
	Library *Library // nil = every search reads the files
	pages   *pages   // of all searches
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	d.pages = newPages()
	return []tools.Tool{
		globTool(d),
		grepTool(d),
	}
}
