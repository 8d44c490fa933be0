package tools

import (
	"context"
	"encoding/json"
)

// Source is a family of resources, which a client can list, read and subscribe to. Reading
// is a call like any other, so policy, audit and limits apply to it.
type Source struct {
	// Name, Title and Description describe the family.
	Name, Title, Description string
	// Template is the RFC 6570 template of the URIs; "" = List has all of them.
	Template string
	MIME     string // of every resource of the family; "" = they differ
	// Needs is the tool that reads the same content. The resources are offered if it can be
	// called. "" = always.
	Needs string
	// Read is the tool that reads one resource. It can be called only through a URI. Its
	// result is one text or one [ResourceBlock]. Its Limits may allow up to MaxResource
	// bytes of text.
	Read Tool
	// Args returns the arguments with which Read reads a URI, and false for a URI of
	// another family.
	Args func(uri string) (args json.RawMessage, ok bool)
	// List returns the resources worth showing, at most a few hundred; nil = none.
	List func(ctx context.Context) ([]Resource, error)
	// Complete returns values of a template variable for the typed prefix, the
	// best first; a client sees MaxCompletions of them. nil = none.
	Complete func(ctx context.Context, variable, prefix string) ([]string, error)
	// Version returns a text that changes whenever the content does; nil = the content
	// never changes.
	Version func(ctx context.Context, uri string) (string, error)
}

// MaxCompletions is how many values of a completion a client sees.
const MaxCompletions = 100

// Resource is one entry of a list.
type Resource struct {
	URI, Name, Title, Description, MIME string
	Size                                int64 // in bytes; negative = not known
}

// Prompt is a text for the model. The user picks it by its name and may give arguments.
type Prompt struct {
	Name, Title, Description string
	Args                     []PromptArg
	// Needs are the tools that the text mentions. The prompt is offered if all of them can
	// be called.
	Needs []string
	// Render returns the messages, each in the user's name. args has every required
	// argument.
	Render func(ctx context.Context, args map[string]string) ([]Block, error)
}

// PromptArg is one argument of a prompt. Arguments are plain text.
type PromptArg struct {
	Name, Title, Description string
	Required                 bool
	// Complete returns the values that begin with prefix, the best first; a client sees
	// MaxCompletions of them. nil = none.
	Complete func(ctx context.Context, prefix string) ([]string, error)
}
