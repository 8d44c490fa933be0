// Package agents is the category of tools for the work of a model with others: calls of several
// tools at once, and questions to the user.
//
// Start at [Category]; each tool is one file, and those whose names begin with its name:
// parallel_calls_order.go says which calls must not overtake each other, parallel_calls_share.go
// divides the room of a result. Calls go through the [tools.Caller] of Deps, and so pass all
// stages of a call. internal/model speaks to language models. The package must not import another
// category, server or mcp-go.
package agents
