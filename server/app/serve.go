package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"toolcrib/server"
	"toolcrib/server/config"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// Serving describes the offer of a server, and its settings.
type Serving struct {
	Settings *config.Loaded
	From     *config.Sources // where the settings come from, for a reload
	Roots    []string
	Tools    tools.Selected
	// Background is the server in the background that this process is to be; nil = it is
	// none.
	Background *Background
}

// Serve opens the server and serves until its end: clients over HTTP, those of a server in
// the background, or the one at stdin.
func (p *Process) Serve(ctx context.Context, s Serving) error {
	cfg, selected := s.Settings.Config, s.Tools
	p.addFixtures(&selected)
	p.TuneGC()
	e, err := p.Open(ctx, cfg, selected, s.Roots)
	if err != nil {
		return s.Settings.Locate(err)
	}
	instructions := func(listed []tools.Tool) string {
		return Instructions(shared(cfg, s.Roots), p.Categories, e.selected.Enabled, listed, s.Background != nil)
	}
	instructed := map[string]string{}
	for client, listed := range e.selected.Tailored {
		instructed[client] = instructions(listed)
	}
	srv, err := server.New(server.Options{
		Name:         "toolcrib",
		Version:      p.Version,
		Instructions: instructions(e.selected.Listed),
		Instructed:   instructed,
		Tools:        e.selected.Listed,
		Hidden:       e.hidden(),
		Tailored:     e.selected.Tailored,
		Off:          e.selected.Omitted,
		Sources:      p.sources(e.selected),
		Prompts:      slices.Concat(catalog.Prompts(p.Categories), p.Fixtures.Prompts),
		Native:       p.Fixtures.Native,
		TaskAfter:    p.Fixtures.TaskAfter,
		Runner:       e.Runner,
		Workspace:    e.Workspace,
		Log:          e.log,
		Refused:      e.audit.Refused,
	})
	if err != nil {
		return errors.Join(err, e.Close())
	}
	hide, err := p.show(ctx, e, srv, cfg)
	if err != nil {
		return errors.Join(err, e.Close())
	}
	ctx, stop := UntilSignal(ctx, len(s.Settings.Files) > 0)
	defer stop()
	if cfg.Outlasts() && cfg.HTTP != "" {
		e.log.Warn("jobs.detach changes nothing over HTTP: the server outlasts its clients anyway")
	}
	if len(s.Settings.Files) > 0 {
		r := &reloading{Process: p, serving: s, cfg: cfg, engine: e, srv: srv}
		defer r.onHangup()()
	}
	rest := catalog.Start(e.standing(ctx, cfg), p.Categories, e.Runner.Busy)
	e.log.Info("serving", "roots", s.Roots, "listed", len(e.selected.Listed), "enabled", len(e.selected.Enabled))
	switch {
	case cfg.HTTP != "":
		err = p.overHTTP(ctx, srv, cfg, e.roots)
	case s.Background != nil:
		err = s.Background.serve(ctx, srv, e)
	default:
		err = srv.ServeStdio(ctx, p.Stdin, p.Stdout)
	}
	rest()
	hide()
	return errors.Join(err, e.Close())
}

// Attend opens the tools, and only does their work in the background until it is stopped.
func (p *Process) Attend(ctx context.Context, cfg config.Config, selected tools.Selected, roots []string) error {
	p.TuneGC()
	e, err := p.Open(ctx, cfg, selected, roots)
	if err != nil {
		return err
	}
	ctx, stop := UntilSignal(ctx, false)
	defer stop()
	rest := catalog.Start(e.standing(ctx, cfg), p.Categories, e.Runner.Busy)
	e.log.Info("attending", "roots", roots)
	<-ctx.Done()
	rest()
	return e.Close()
}

// standing returns a context with the session of those who are not there: the only user of
// this server, and its workspace. A server of several users has none.
func (e *Engine) standing(ctx context.Context, cfg config.Config) context.Context {
	s := &tools.SessionInfo{Principal: tools.Local, Workspace: e.Workspace}
	switch {
	case cfg.HTTP != "" && (cfg.Auth != "none" || cfg.PrincipalRoot != ""):
		return ctx
	case cfg.HTTP != "":
		s.Principal = tools.Anonymous
	}
	return tools.WithSession(ctx, s)
}

// UntilSignal returns a context that ends at the first SIGINT, SIGTERM or, unless that
// means a reload, SIGHUP; a second one ends the process. Meanwhile a client that has gone
// away ends a write with an error instead of ending the process in the middle of something.
func UntilSignal(ctx context.Context, reloads bool) (context.Context, context.CancelFunc) {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !reloads {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, ends...)
	context.AfterFunc(ctx, stop)
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return ctx, func() {
		stop()
		signal.Stop(broken)
	}
}
