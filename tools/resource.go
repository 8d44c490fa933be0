package tools

import (
	"context"
	"encoding/json"
)

// Source is a family of resources: what a client can list, read and follow
// beside the tools. Reading is a call like any other, so the policy, the audit
// and the limits of calls hold for it.
type Source struct {
	// Name, Title and Description say what the family is.
	Name, Title, Description string
	// Template is the RFC 6570 template of the URIs; "" where all of them are
	// listed.
	Template string
	MIME     string // of every resource of the family; "" where they differ
	// Needs is the tool that reads the same: the resources are offered where it can be
	// called. "" = always.
	Needs string
	// Read is the tool that reads one resource. It can only be called by way of
	// a URI. Its result is one text or one [ResourceBlock], of at most MaxResource
	// bytes of text where its Limits say so.
	Read Tool
	// Args returns the arguments by which Read reads a URI, and false for a URI
	// of another family.
	Args func(uri string) (args json.RawMessage, ok bool)
	// List returns the resources worth showing, at most a few hundred; nil =
	// none.
	List func(ctx context.Context) ([]Resource, error)
	// Complete returns the values of a variable of the template that prefix can
	// become, the best first, of which a client sees MaxCompletions; nil = none.
	Complete func(ctx context.Context, variable, prefix string) ([]string, error)
	// Version returns a text that is another one once the content has changed;
	// nil where it never does.
	Version func(ctx context.Context, uri string) (string, error)
}

// MaxCompletions is how many values of a completion a client sees.
const MaxCompletions = 100

// Resource is one entry of a list.
type Resource struct {
	URI, Name, Title, Description, MIME string
	Size                                int64 // in bytes; negative = not known
}

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
