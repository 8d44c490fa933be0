// Package agents is the category of tools for the work of a model with others: agents with a
// model of their own, questions to the user, and calls of several tools at once.
//
// Start at [Category]; each tool is one file, and those whose names begin with its name:
// parallel_calls_order.go says which calls must not overtake each other, parallel_calls_share.go
// divides the room of a result, run_agent_tools.go chooses the tools of an agent, and preset_files.go
// finds the files of presets. Below, internal/model asks models, internal/loop is the loop of an
// agent, internal/executor has a coding agent work in the place of a model, internal/inside is the
// part of that in the sandbox, internal/runs keeps the steps, and internal/presets reads files of
// presets. desk.go has the runs at work, keeper.go lets them go on in the background, in whichever
// process, account.go notes what a call of an agent does and uses, and receipt.go sums that up.
// Calls go through the [tools.Caller] of Deps, and so pass all stages of a call.
// The package must not import another category, server or mcp-go.
package agents
