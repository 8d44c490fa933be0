// Package conformance holds what the Model Context Protocol's conformance suite
// calls by name: tools, resources and prompts that do nothing but show a part
// of the protocol.
//
// Wherever the contract of package tools can say what the suite wants, a
// fixture is declared by it, so that the suite sees the production pipeline.
// The rest (questions to the client's model, its roots, schemas and forms that
// the contract leaves out on purpose) are definitions of mcp-go, served by the
// same transports. Only the program that takes the figures imports this package, and
// serves them by the command line of toolcrib; no released program holds them.
//
// Start at [New].
package conformance

import (
	"context"
	"embed"
	"slices"
	"time"

	"toolcrib/server"
	"toolcrib/tools"
)

// New returns the fixtures.
func New() server.Fixtures {
	return server.Fixtures{
		// The suite calls the first tool of the list without arguments.
		Tools:   slices.Concat(contentTools(), eventTools(), askingTools(), lastingTools()),
		Sources: sources(),
		Prompts: prompts(),
		Native:  native(),

		TaskAfter: 4 * step, // the suite wants tasks of calls that last a second
	}
}

//go:embed pixel.png silence.wav
var media embed.FS

// image is a picture of one pixel.
func image() tools.Block {
	return tools.Block{Kind: tools.ImageBlock, MIME: "image/png", Data: file("pixel.png")}
}

// file returns an embedded file.
func file(name string) []byte {
	data, err := media.ReadFile(name)
	if err != nil {
		panic(err) // it is embedded under this name
	}
	return data
}

// none are the arguments of a tool that takes none.
type none struct{}

// blocks is a result of any blocks.
type blocks []tools.Block

// Content returns the blocks.
func (b blocks) Content() []tools.Block { return b }

// line is a result of one text.
type line string

// Text returns the text.
func (l line) Text() string { return string(l) }

// step is the pause between the events of one call, which lets the suite see
// that they come one by one.
const step = 50 * time.Millisecond

// pause waits for a step, or for the end of the call.
func pause(ctx context.Context) error { return rest(ctx, step) }

// rest waits for a time, or for the end of the call.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
