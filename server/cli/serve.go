package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"toolcrib/server"
	"toolcrib/server/keeper"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

type serve struct {
	server.Config
	// Keeper is the key of a server in the background, for [serve.relay].
	Keeper string `flag:"keeper" arg:"KEY" hidden:"true"`
}

func serveCommand() command {
	return command{
		name:  "serve",
		args:  "[DIR ...]",
		short: "serve the tools to MCP clients, over stdin and stdout or over HTTP",
		long: `
The tools use files only inside the directories DIR. Relative paths are under
the first. Without DIR it is the current directory, unless that holds your home
directory. A client starts this command; at a terminal it says how to set one up.`,
		new: func() runner { return new(serve) },
	}
}

func (s *serve) run(ctx context.Context, p *Process, args []string) error {
	if s.Keeper == "" {
		return s.open(ctx, p, args, nil)
	}
	return p.keep(s.Keeper, func(b *keeper.Birth) error { return s.open(ctx, p, args, b) })
}

// open opens the server and serves until its end: clients over HTTP, those of a keeper
// that is born, or the one at stdin, if need be by way of a keeper.
func (s *serve) open(ctx context.Context, p *Process, args []string, birth *keeper.Birth) error {
	roots, wrongRoots := rootsOf(args)
	from := p.sources(s.Config, roots)
	l, err := from.read()
	if err != nil {
		return err
	}
	p.tell(l)
	s.Config = l.Config
	if p.IsTerminal(p.Stdin) && s.HTTP == "" {
		return s.introduce(p, from.given, args)
	}
	if wrongRoots != nil {
		return wrongRoots
	}
	selected, err := p.choose(s.Config)
	if err != nil {
		return l.place(err)
	}
	var keeps *keeping
	if s.Jobs.Detach && s.HTTP == "" {
		keeps, err = p.keeping(l, from.given, roots)
		switch {
		case err != nil:
			return l.place(err)
		case birth == nil:
			return keeps.relay(ctx, p)
		}
		if err := keeps.settle(birth.Key()); err != nil {
			return err
		}
	}
	p.addFixtures(&selected)
	p.tuneGC()
	e, err := p.open(ctx, s.Config, selected, roots)
	if err != nil {
		return l.place(err)
	}
	srv, err := server.New(server.Options{
		Name:         "toolcrib",
		Version:      moduleVersion(),
		Instructions: server.Instructions(s.shared(roots), e.selected.Enabled, keeps.told(e.selected.Enabled)),
		Tools:        e.selected.Listed,
		Hidden:       e.hidden(),
		Tailored:     e.selected.Tailored,
		Sources:      p.resources(e.selected),
		Prompts:      slices.Concat(catalog.Prompts(), p.Fixtures.Prompts),
		Native:       p.Fixtures.Native,
		TaskAfter:    p.Fixtures.TaskAfter,
		Runner:       e.runner,
		Workspace:    e.ws,
		Log:          e.log,
		Refused:      e.audit.refused,
	})
	if err != nil {
		return errors.Join(err, e.close())
	}
	hide, err := p.show(ctx, e, srv, s.Config)
	if err != nil {
		return errors.Join(err, e.close())
	}
	ctx, stop := untilSignal(ctx, len(l.files) > 0)
	defer stop()
	if s.Jobs.Detach && s.HTTP != "" {
		e.log.Warn("jobs.detach changes nothing over HTTP: the server outlasts its clients anyway")
	}
	if len(l.files) > 0 {
		r := &reloading{serve: s, p: p, from: from, engine: e, srv: srv, keeps: keeps}
		defer r.onHangup()()
	}
	rest := p.Deps.Start(ctx, e.indexes, e.runner.Busy)
	e.log.Info("serving", "roots", roots, "listed", len(e.selected.Listed), "enabled", len(e.selected.Enabled))
	switch {
	case s.HTTP != "":
		err = p.overHTTP(ctx, srv, s.Config, e.roots)
	case birth != nil:
		err = keeps.serve(ctx, srv, e, birth)
	default:
		err = srv.ServeStdio(ctx, p.Stdin, p.Stdout)
	}
	rest()
	hide()
	return errors.Join(err, e.close())
}

// untilSignal returns a context that ends at the first SIGINT, SIGTERM or, unless that
// means a reload, SIGHUP; a second one ends the process. Meanwhile a client that has gone away ends a
// write with an error instead of ending the process in the middle of something.
func untilSignal(ctx context.Context, reloads bool) (context.Context, context.CancelFunc) {
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

// introduce says at a terminal what to do instead of waiting for a client that
// is not there. given is what the client's entry is to say: the files of configuration
// are read at each start.
func (s *serve) introduce(p *Process, given server.Config, args []string) error {
	selected, err := p.choose(s.Config)
	if err != nil {
		return err
	}
	roots, err := rootsOf(args)
	if err != nil && len(args) > 0 {
		return err
	}
	if err != nil { // started just anywhere, to see what it is
		roots = someRoot()
	}
	l := launchOf(given, roots)
	next, err := p.setUp(l)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `toolcrib serves %d typed tools to MCP clients over stdin and stdout.
A client starts it; a terminal has nothing to say to it.

%s`, len(selected.Enabled), next)
	fmt.Fprintf(&b, "\nTo look round without a client:\n  toolcrib demo\n  toolcrib list\n  toolcrib doctor\n")
	if _, ok := catalog.Find(selected.Enabled, "list_directory"); ok {
		fmt.Fprintf(&b, "  toolcrib call list_directory '{\"path\": \".\"}' %s\n", shellWord(roots[0]))
	}
	_, err = io.WriteString(p.Stderr, b.String())
	return err
}

// addFixtures puts the tools of the fixtures, if there are any, before the selected.
func (p *Process) addFixtures(selected *tools.Selected) {
	selected.Enabled = slices.Concat(p.Fixtures.Tools, selected.Enabled)
	selected.Listed = slices.Concat(p.Fixtures.Tools, selected.Listed)
}

// resources are what goes with the tools that were chosen, and the fixtures.
func (p *Process) resources(selected tools.Selected) []tools.Source {
	return slices.Concat(catalog.Sources(p.Deps, selected.Enabled), p.Fixtures.Sources)
}
