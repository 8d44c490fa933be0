// Package bridge is the category of tools that find other tools in a large catalog, and call
// tools that are not listed.
//
// Start at [Tools]; each tool is one file. delegate.go has what the tools that call others
// share; shelf.go has the tools that can be found and their index; parameters.go describes the
// arguments of a tool; internal/find ranks. Calls go through the [tools.Caller] of Deps, and so
// pass all stages of a call. The package must not import another category, server or mcp-go.
package bridge
