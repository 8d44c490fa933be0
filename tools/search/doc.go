// Package search holds the tools that find files by name and by content.
//
// The list is [Tools]. A tool has NAME.go and, where it needs more, NAME_*.go. Both share
// what is known of the files (library.go, shelf.go, contents.go), the patterns that
// choose some (filter.go, readings.go, types.go), and what is kept from page to page
// (pages.go). Below, internal/index says which files may match, internal/match which
// lines do, and internal/scan applies it to files in parallel. The package must not
// import other categories, server or mcp-go.
package search
