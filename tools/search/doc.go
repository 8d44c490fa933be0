// Package search is the category of tools that find files by name and lines by text.
//
// Start at [Tools]. The files of a tool are NAME.go and NAME_*.go. Both tools share the lists
// and indexes of files (library.go, shelf.go), the cache of texts (contents.go), the patterns
// that select files (filter.go, readings.go, types.go), and the state kept between pages
// (pages.go). Below, internal/index finds the files that may match, internal/match the lines
// that match, and internal/scan applies match to files in parallel. The package must not
// import other categories, server or mcp-go.
package search
