package agents

// Examine is what doctor asks.
var Examine = Deps.examine
