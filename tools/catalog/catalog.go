// Package catalog is the one list of toolcrib's tools.
//
// It also renders what derives from the list: manual pages, exports for the
// APIs of model providers, presets; and it has what clients find beside the
// tools: resources and prompts. It imports the categories and the contract and
// must not import server. To add a category, add it to [Deps] and [All], and to
// [Sources] where it has resources. To add a prompt, add it to [Prompts] and its
// text to prompts/.
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
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/search"
	"toolcrib/tools/shell"
)

// Deps is what the process owns, by category. The zero value builds the whole
// catalog: documents and snapshots need no environment.
type Deps struct {
	Bridge  bridge.Deps
	Code    code.Deps
	Files   files.Deps
	Search  search.Deps
	Shell   shell.Deps
	Sandbox *sandbox.Engine // of all that run programs
}

// Containment is how the programs that tools run are contained.
type Containment = sandbox.Options

// ProgramLimits bounds each of them.
type ProgramLimits = sandbox.Limits

// JobOptions bounds jobs.
type JobOptions = jobs.Options

// Command is one that is to run.
type Command = sandbox.Command

// NewDeps makes what a process owns. It opens nothing. Tools that call others do so
// through caller.
func NewDeps(caller tools.Caller) Deps {
	programs := sandbox.New()
	return Deps{
		Bridge:  bridge.Deps{Caller: caller},
		Code:    code.Deps{Sandbox: programs, Python: new(code.Python), Kernels: new(code.Kernels)},
		Files:   files.NewDeps(),
		Search:  search.Deps{Library: search.NewLibrary()},
		Shell:   shell.Deps{Sandbox: programs, Jobs: jobs.New(programs)},
		Sandbox: programs,
	}
}

// Program carries out what tools start this binary again for, and reports whether it was;
// args are those of the command line without the name.
func Program(args []string) (exit int, was bool) { return code.Program(args) }

// Start lets the tools work in the background until ctx ends or stop is called, which
// waits for them. Their indexes take at most so many bytes; 0 = there are none. While busy
// tells that calls go on, they leave the processor to these.
func (d Deps) Start(ctx context.Context, indexes int64, busy func() bool) (stop func()) {
	if d.Search.Library == nil {
		return func() {}
	}
	return d.Search.Library.Start(ctx, indexes, busy)
}

// Close ends all programs that the tools have started.
func (d Deps) Close() error {
	var errs []error
	if d.Shell.Jobs != nil {
		errs = append(errs, d.Shell.Jobs.Close())
	}
	if d.Sandbox != nil {
		errs = append(errs, d.Sandbox.Close())
	}
	return errors.Join(errs...)
}

// Load is what would be lost if the process ended: jobs that run, those that have ended
// whose output can be read, shells and interpreters that keep something.
type Load struct{ Running, Kept, Sessions int }

// Load returns what the tools hold.
func (d Deps) Load() (l Load) {
	if d.Shell.Jobs != nil {
		l.Running, l.Kept, l.Sessions = d.Shell.Jobs.Count()
	}
	if d.Code.Kernels != nil {
		l.Sessions += d.Code.Kernels.Count()
	}
	return l
}

// All returns every tool, sorted by category and name.
func All(d Deps) []tools.Tool {
	all := slices.Concat(
		bridge.Tools(d.Bridge),
		code.Tools(d.Code),
		files.Tools(d.Files),
		search.Tools(d.Search),
		shell.Tools(d.Shell),
	)
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
