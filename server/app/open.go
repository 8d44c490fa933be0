package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"

	"toolcrib/server/config"
	"toolcrib/server/identity"
	"toolcrib/server/run"
	"toolcrib/server/telemetry"
	"toolcrib/server/workers"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
	"toolcrib/workspace/recorder"
	"toolcrib/workspace/redact"
)

// Engine carries out calls by a configuration.
type Engine struct {
	Workspace *workspace.Workspace
	Runner    *run.Runner

	categories []tools.Category
	selected   tools.Selected
	workers    *workers.Pool
	log        *slog.Logger
	redactor   *redact.Redactor    // of log
	audit      *Auditor            // nil: no log is kept
	exporter   *telemetry.Exporter // nil: nothing is exported
	level      *slog.LevelVar      // of log
	roots      *identity.Roots
}

// Open puts the tools that were chosen to work on roots. The caller closes the engine.
func (p *Process) Open(ctx context.Context, cfg config.Config, selected tools.Selected, roots []string) (*Engine, error) {
	level, err := cfg.Level()
	if err != nil {
		return nil, &config.UsageError{Err: err, Hint: "toolcrib help serve lists the levels"}
	}
	opt, err := cfg.Workspace()
	if err != nil {
		return nil, &config.UsageError{Err: err, Hint: "toolcrib serve --state-dir=DIR"}
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
		return nil, errors.Join(config.BadRoot(err), principals.Close())
	}
	audit, err := p.OpenAudit(ctx, cfg, ws, log, redactor)
	if err != nil {
		return nil, errors.Join(err, ws.Close(), principals.Close())
	}
	recoverChanges(ctx, ws, log)
	p.Apply(cfg, roots, log, redactor)
	for _, o := range selected.Omitted {
		if cfg.Wants(o.Tool) {
			log.Warn("a tool that is asked for cannot be called", "tool", o.Tool.Name, "reason", o.Reason)
		}
	}
	e := &Engine{selected: selected, Workspace: ws, categories: p.Categories, log: log, redactor: redactor, level: least, audit: audit, roots: principals, workers: workers.New()}
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
	e.Runner = run.New(rc)
	return e, nil
}

// Apply puts the settings of the categories to work.
func (p *Process) Apply(cfg config.Config, roots []string, log *slog.Logger, redactor *redact.Redactor) {
	hide := slices.Clone(cfg.OwnFiles)
	if cfg.AuditDir != "" {
		hide = append(hide, cfg.AuditDir)
	}
	cfg.Apply(p.Categories, tools.Setup{
		Log: log, Version: p.Version, Redactor: redactor, Hide: hide, Outlasts: cfg.Outlasts() && cfg.HTTP == "",
		Neighbours: func() []string { return elsewhere(cfg, roots) },
	})
}

// recoverChanges completes or undoes the changes in which processes were killed. If it
// cannot, the server starts all the same.
func recoverChanges(ctx context.Context, ws *workspace.Workspace, log *slog.Logger) {
	found, err := ws.Recover(ctx)
	if err != nil {
		log.Warn("changes of processes that were killed cannot be looked for", "err", err)
	}
	if found.Finished+found.Undone > 0 {
		log.Warn("a process was killed while it changed files", "finished", found.Finished, "undone", found.Undone)
	}
	recorded, err := recorder.Recover(ctx, ws)
	if err != nil {
		log.Warn("what programs changed before their server was killed is not all in the history", "err", err)
	}
	if recorded > 0 {
		log.Warn("a server was killed while its programs changed files; the history has these changes", "changes", recorded)
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

// Close logs the numbers of calls, and closes everything that Open opened.
func (e *Engine) Close() error {
	stats := e.Runner.Stats().Tools
	for _, name := range slices.Sorted(maps.Keys(stats)) {
		if s := stats[name]; s.Calls > 0 {
			e.log.Info("called", "tool", name, "calls", s.Calls, "errors", s.Errors, "joined", s.Joined, "cached", s.Cached, "retries", s.Retries)
		}
	}
	if e.exporter != nil {
		e.exporter.Close()
	}
	e.workers.Close()
	err := errors.Join(catalog.Close(e.categories), e.roots.Close(), e.Workspace.Close())
	if e.audit != nil {
		err = errors.Join(err, e.audit.Close())
	}
	return err
}

// hidden returns the tools that can be called and are not listed.
func (e *Engine) hidden() []tools.Tool {
	var rest []tools.Tool
	for _, t := range e.selected.Enabled {
		if _, ok := catalog.Find(e.selected.Listed, t.Name); !ok {
			rest = append(rest, t)
		}
	}
	return rest
}

// settingsOf returns what of a configuration the runner works by.
func settingsOf(cfg config.Config, selected tools.Selected, c checked) run.Settings {
	return run.Settings{
		Tools: selected.Enabled, Selected: selected, ReadOnly: cfg.ReadOnly, AllowProtected: cfg.AllowProtected, Confirm: cfg.Confirm, Rules: c.rules,
		AuditFailure: cfg.AuditFailure,
		Hooks:        c.hooks,
	}
}

// Choose returns the tools that the settings choose. It warns of variables that look like
// toolcrib's and are not.
func (p *Process) Choose(cfg config.Config) (tools.Selected, error) {
	for _, line := range p.Strangers() {
		fmt.Fprintln(p.Stderr, "toolcrib: warning:", line)
	}
	return p.Select(cfg)
}
