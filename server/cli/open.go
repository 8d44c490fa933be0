package cli

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"runtime"
	"slices"

	"toolcrib/server"
	"toolcrib/server/identity"
	"toolcrib/server/run"
	"toolcrib/server/telemetry"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
	"toolcrib/workspace/redact"
)

// engine is a configuration put to work: what carries out calls.
type engine struct {
	selected tools.Selected
	ws       *workspace.Workspace
	runner   *run.Runner
	workers  *run.Workers
	log      *slog.Logger
	redactor *redact.Redactor    // of log
	audit    *auditor            // nil: no log is kept
	exporter *telemetry.Exporter // nil: nothing is exported
	level    *slog.LevelVar      // of log
	roots    *identity.Roots
	indexes  int64        // bytes that they may take
	programs catalog.Deps // what the tools have started
}

// open puts the tools that were chosen to work on roots. The caller closes the
// engine.
func (p *Process) open(ctx context.Context, cfg server.Config, selected tools.Selected, roots []string) (*engine, error) {
	level, err := cfg.Level()
	if err != nil {
		return nil, &usageError{err, "toolcrib help serve lists the levels"}
	}
	opt, err := cfg.Workspace()
	if err != nil {
		return nil, &usageError{err, "toolcrib serve --state-dir=DIR"}
	}
	least := new(slog.LevelVar)
	least.Set(level)
	log, redactor := p.logger(cfg, least)
	checked, err := p.validate(cfg, redactor, log)
	if err != nil {
		return nil, err
	}
	principals, err := openRoots(cfg, opt, log)
	if err != nil {
		return nil, err
	}
	ws, err := workspace.Open(roots, opt)
	if err != nil {
		return nil, errors.Join(badRoot(err), principals.Close())
	}
	audit, err := openAudit(ctx, cfg, ws, log, redactor)
	if err != nil {
		return nil, errors.Join(err, ws.Close(), principals.Close())
	}
	recoverChanges(ctx, ws, log)
	p.contain(cfg, checked, log)
	if jobs := p.Deps.Shell.Jobs; jobs != nil {
		jobs.Neighbours(func() []string { return elsewhere(cfg, roots) })
	}
	if p.Deps.Code.Python != nil {
		p.Deps.Code.Python.Configure(interpreter(cfg))
	}
	for _, o := range selected.Omitted {
		if wants(cfg, o.Tool) {
			log.Warn("a tool that is asked for cannot be called", "tool", o.Tool.Name, "reason", o.Reason)
		}
	}
	e := &engine{selected: selected, ws: ws, log: log, redactor: redactor, level: least, audit: audit, roots: principals, indexes: checked.indexes, workers: run.NewWorkers(), programs: p.Deps}
	if backend := ws.Backend(); runtime.GOOS == "linux" && backend != "openat2" {
		log.Warn("this kernel or its sandbox has no openat2; files are opened in a slower way, contained all the same", "backend", backend)
	}
	rc := run.Config{
		Settings: settingsOf(cfg, selected, checked),
		Key:      checked.key,
		Limits:   checked.limits,
		Caller:   p.Caller,
		Log:      log,
		Go:       e.workers.Go,
	}
	if audit != nil {
		rc.Audit = audit
	}
	if e.exporter = p.exporter(cfg, log); e.exporter != nil {
		rc.Observe = e.exporter.Observer()
	}
	e.runner = run.New(rc)
	return e, nil
}

// contain says how the programs of tools are contained and bounded.
func (p *Process) contain(cfg server.Config, c checked, log *slog.Logger) {
	if p.Deps.Sandbox != nil {
		opt := c.contained
		opt.Log, opt.Read = log, append(slices.Clone(opt.Read), interpreterPlaces(interpreter(cfg))...)
		p.Deps.Sandbox.Configure(opt)
	}
	if p.Deps.Shell.Jobs != nil {
		p.Deps.Shell.Jobs.Configure(c.jobs)
	}
}

// recoverChanges deals with the changes in which processes were killed. What it
// cannot deal with does not keep the server from its work.
func recoverChanges(ctx context.Context, ws *workspace.Workspace, log *slog.Logger) {
	found, err := ws.Recover(ctx)
	if err != nil {
		log.Warn("changes of processes that were killed cannot be looked for", "err", err)
	}
	if found.Finished+found.Undone > 0 {
		log.Warn("a process was killed while it changed files", "finished", found.Finished, "undone", found.Undone)
	}
	gap, err := ws.Gap(ctx)
	if err != nil {
		log.Warn("whether the history is whole cannot be told", "err", err)
	}
	if gap != nil {
		log.Warn("records of the history are missing: its log was cut or removed", "after", gap.After, "noticed", gap.Noticed)
	}
	for _, err := range found.Left {
		log.Warn("a change of a process that was killed is neither finished nor undone", "err", err)
	}
}

// close logs what was called, and closes what open opened.
func (e *engine) close() error {
	stats := e.runner.Stats().Tools
	for _, name := range slices.Sorted(maps.Keys(stats)) {
		if s := stats[name]; s.Calls > 0 {
			e.log.Info("called", "tool", name, "calls", s.Calls, "errors", s.Errors, "joined", s.Joined, "cached", s.Cached, "retries", s.Retries)
		}
	}
	if e.exporter != nil {
		e.exporter.Close()
	}
	e.workers.Close()
	err := errors.Join(e.programs.Close(), e.roots.Close(), e.ws.Close())
	if e.audit != nil {
		err = errors.Join(err, e.audit.close())
	}
	return err
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
