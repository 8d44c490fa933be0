// Package bridge is the category of tools that lead to other tools: finding one in
// a large catalog, and calling one that is not listed.
//
// Start at [Tools]; each tool is one file. shelf.go is what can be found and its
// index, parameters.go a tool's arguments in a line; internal/find ranks. Calls go
// through the [tools.Caller] of Deps and so the whole way of a call. The package
// must not import another category, server or mcp-go.
package bridge
