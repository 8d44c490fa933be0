package agents

// Examine is what doctor asks, Command what "toolcrib run" does.
var (
	Examine = Deps.examine
	Command = Deps.command
)
