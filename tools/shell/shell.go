package shell

import (
	"toolcrib/tools"
	"toolcrib/tools/internal/sandbox"
)

// Deps is what the process owns for this category.
type Deps struct {
	Sandbox *sandbox.Engine
}

// Tools returns the tools of the category.
func Tools(Deps) []tools.Tool { return nil }
