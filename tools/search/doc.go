// Package search holds the tools that find files by name and by content.
//
// The list is [Tools]; each tool is one file. Below it, internal/match says which
// lines match a pattern, internal/scan applies it to files in parallel. The package must not import other categories,
// server or mcp-go.
package search
