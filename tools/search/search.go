package search

import (
	"time"

	"toolcrib/tools"
	"toolcrib/tools/search/internal/scan"
)

// keptFor is how long the answer to a search may be given again, as long as no file has
// changed.
const keptFor = 10 * time.Minute

// Deps is what the tools need from the process.
type Deps struct {
	Library *Library // nil = every search reads the files
	pages   *pages   // of all searches
	buffers *scan.Buffers
}

// Tools returns the tools of the category.
func Tools(d Deps) []tools.Tool {
	d.pages, d.buffers = newPages(), new(scan.Buffers)
	return []tools.Tool{
		globTool(d),
		grepTool(d),
	}
}
