// Package catalog is the one list of toolcrib's categories and so of its tools.
//
// It also renders what derives from the list: manual pages, exports for the APIs of model
// providers, presets, what the instructions say of the tools; and it has what clients find
// beside the tools: resources and prompts. It imports the categories and the contract and
// must not import server. To add a category, add it to [All], where to start reading. To
// add a prompt of several categories, add it to [Prompts] and its text to prompts/.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/bridge"
	"toolcrib/tools/code"
	"toolcrib/tools/files"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/search"
	"toolcrib/tools/shell"
)

// Services is what categories share in a process. The zero value builds the whole catalog:
// documents and snapshots need no environment.
type Services = services.Services

// Command is one that the sandbox of [Services] runs.
type Command = sandbox.Command

// All returns every category. Nothing is opened, started or reflected for that.
func All(s *Services) []tools.Category {
	return []tools.Category{
		s.Programs(),
		bridge.Category(s),
		code.Category(s),
		files.Category(s),
		search.Category(s),
		shell.Category(s),
	}
}

// Tools returns every tool of the categories, sorted by category and name.
func Tools(categories []tools.Category) []tools.Tool {
	var all []tools.Tool
	for _, c := range categories {
		all = append(all, c.Tools...)
	}
	slices.SortFunc(all, func(a, b tools.Tool) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Find returns the tool of a name or alias.
func Find(all []tools.Tool, name string) (tools.Tool, bool) {
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
	if i < 0 {
		return tools.Tool{}, false
	}
	return all[i], true
}

// Program carries out what tools start this binary again for, and reports whether it was;
// args are those of the command line without the name.
func Program(args []string) (exit int, was bool) { return code.Program(args) }

// Start lets the categories work in the background until ctx ends or stop is called, which
// waits for them. While busy reports that calls go on, they leave the processor to these.
func Start(ctx context.Context, categories []tools.Category, busy func() bool) (stop func()) {
	var stops []func()
	for _, c := range categories {
		if c.Start != nil {
			stops = append(stops, c.Start(ctx, busy))
		}
	}
	return func() {
		for _, stop := range slices.Backward(stops) {
			stop()
		}
	}
}

// Close ends all that the tools have started, the last category first.
func Close(categories []tools.Category) error {
	var errs []error
	for _, c := range slices.Backward(categories) {
		if c.Close != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// Load returns what the tools hold.
func Load(categories []tools.Category) (sum tools.Load) {
	for _, c := range categories {
		if c.Load != nil {
			sum = sum.Plus(c.Load())
		}
	}
	return sum
}
