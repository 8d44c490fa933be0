package cli

import (
	"log/slog"
	"slices"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// engine is a configuration put to work: what carries out calls.
type engine struct {
	selected tools.Selected
	ws       *workspace.Workspace
	runner   *run.Runner
	workers  *run.Workers
	log      *slog.Logger
}

// open puts the tools that were chosen to work on roots. The caller closes the
// engine.
func (p *Process) open(cfg server.Config, selected tools.Selected, roots []string) (*engine, error) {
	level, err := cfg.Level()
	if err != nil {
		return nil, &usageError{err, "toolcrib help serve lists the levels"}
	}
	state, err := cfg.StateBase()
	if err != nil {
		return nil, &usageError{err, "toolcrib serve --state-dir=DIR"}
	}
	ws, err := workspace.Open(roots, workspace.Options{StateBase: state})
	if err != nil {
		return nil, badRoot(err)
	}
	log := slog.New(slog.NewTextHandler(p.Stderr, &slog.HandlerOptions{Level: level}))
	for _, o := range selected.Omitted {
		if wants(cfg, o.Tool) {
			log.Warn("a tool that is asked for cannot be called", "tool", o.Tool.Name, "reason", o.Reason)
		}
	}
	workers := run.NewWorkers()
	return &engine{
		selected: selected,
		ws:       ws,
		log:      log,
		workers:  workers,
		runner: run.New(run.Config{
			Tools: selected.Enabled, ReadOnly: cfg.ReadOnly, Confirm: cfg.Confirm, Log: log, Go: workers.Go,
		}),
	}, nil
}

func (e *engine) close() error {
	e.workers.Close()
	return e.ws.Close()
}

// wants reports whether the configuration names the tool.
func wants(cfg server.Config, t tools.Tool) bool {
	return slices.ContainsFunc(cfg.Tools, func(name string) bool {
		return name == t.Name || slices.Contains(t.Aliases, name)
	})
}

// hidden returns the tools that can be called and are not listed.
func (e *engine) hidden() []tools.Tool {
	listed := names(e.selected.Listed)
	var rest []tools.Tool
	for _, t := range e.selected.Enabled {
		if !slices.Contains(listed, t.Name) {
			rest = append(rest, t)
		}
	}
	return rest
}
