package tools

import "context"

// Prompt is a text for the model that the user picks by its name, perhaps with
// arguments.
type Prompt struct {
	Name, Title, Description string
	Args                     []PromptArg
	// Needs are the tools that the text speaks of: the prompt is offered where
	// all of them can be called.
	Needs []string
	// Render returns the messages, each in the user's name. Every required
	// argument is there.
	Render func(ctx context.Context, args map[string]string) ([]Block, error)
}

// PromptArg is one argument of a prompt. Arguments are plain text.
type PromptArg struct {
	Name, Title, Description string
	Required                 bool
	// Complete returns the values that begin with prefix, the best first, of
	// which a client sees MaxCompletions; nil = none.
	Complete func(ctx context.Context, prefix string) ([]string, error)
}
