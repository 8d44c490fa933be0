package agents

import "toolcrib/tools/agents/internal/loop"

// Examine is what doctor asks, Command what "toolcrib run" does.
var (
	Examine = Deps.examine
	Command = Deps.command
)

// Done is what a receipt says of what records have done.
func Done(records []loop.Record) string { return receiptOf(records).done() }
