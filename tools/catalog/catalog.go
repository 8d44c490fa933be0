// Package catalog is the one list of toolcrib's categories and so of its tools.
//
// It also renders what derives from the list: manual pages, exports for the APIs of model
// providers, presets, and the part of the instructions about tools. It has the resources and
// prompts too. It imports the categories and the contract and must not import server. Start
// reading at [All]. To add a category, add it to All. To add a prompt about several
// categories, add it to [Prompts] and its text to prompts/.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/bridge"
	"toolcrib/tools/code"
	"toolcrib/tools/data"
	"toolcrib/tools/documents"
	"toolcrib/tools/files"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/memory"
	"toolcrib/tools/schedule"
	"toolcrib/tools/search"
	"toolcrib/tools/shell"
	"toolcrib/tools/storage"
	"toolcrib/tools/web"
)

// Services has what categories share in a process. The zero value builds the whole catalog,
// so that documents and snapshots need no environment.
type Services = services.Services

// Command is one that the sandbox of [Services] runs.
type Command = sandbox.Command

// All returns every category. It opens, starts and reflects nothing.
func All(s *Services) []tools.Category {
	return []tools.Category{
		s.Programs(),
		s.Database().Category(),
		agents.Category(s),
		bridge.Category(s),
		code.Category(s),
		data.Category(s),
		documents.Category(s),
		files.Category(s),
		memory.Category(s),
		schedule.Category(s),
		search.Category(s),
		shell.Category(s),
		storage.Category(s),
		web.Category(s),
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

// Find returns the tool with a name or alias.
func Find(all []tools.Tool, name string) (tools.Tool, bool) {
	for i := range all {
		if t := &all[i]; t.Name == name || slices.Contains(t.Aliases, name) {
			return *t, true
		}
	}
	return tools.Tool{}, false
}

// Program reports whether a tool started this binary as a program, and if so runs that
// program. args is the command line without the program's name.
func Program(args []string) (exit int, was bool) {
	for _, program := range []func([]string) (int, bool){agents.Program, code.Program, data.Program, documents.Program} {
		if exit, was = program(args); was {
			return exit, true
		}
	}
	return 0, false
}

// Start starts the background work of the categories, see [tools.Category].
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

// Close ends everything that the tools have started. Categories that call tools of others are
// closed first, so that no such call fails because its tool is closed. Otherwise the last
// category is the first.
func Close(categories []tools.Category) error {
	var errs []error
	for _, calling := range []bool{true, false} {
		for _, c := range slices.Backward(categories) {
			if c.Close != nil && c.CallsTools == calling {
				errs = append(errs, c.Close())
			}
		}
	}
	return errors.Join(errs...)
}

// Load returns the load of all categories.
func Load(categories []tools.Category) (sum tools.Load) {
	for _, c := range categories {
		if c.Load != nil {
			sum = sum.Plus(c.Load())
		}
	}
	return sum
}
