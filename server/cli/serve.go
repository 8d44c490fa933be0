package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"toolcrib/server/app"
	"toolcrib/server/config"
	"toolcrib/server/daemon"
	"toolcrib/tools/catalog"
)

type serve struct {
	config.Config
	// Daemon is the key of a daemon, for [app.Background.Relay].
	Daemon string `flag:"daemon" arg:"KEY" hidden:"true"`
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
	a := p.app()
	if s.Daemon == "" {
		return s.open(ctx, p, a, args, nil)
	}
	return a.AsDaemon(s.Daemon, func(birth *daemon.Birth) error { return s.open(ctx, p, a, args, birth) })
}

// open reads the settings and serves, if need be through a daemon. If birth is not nil,
// this process becomes that daemon.
func (s *serve) open(ctx context.Context, p *Process, a *app.Process, args []string, birth *daemon.Birth) error {
	p.Stderr = a.Stderr
	roots, wrongRoots := rootsOf(args)
	from := p.env.Sources(s.Config, roots)
	l, err := from.Read()
	if err != nil {
		return err
	}
	p.tell(l)
	if p.IsTerminal(p.Stdin) && l.HTTP == "" {
		return introduce(p, l.Config, s.Config, args)
	}
	if wrongRoots != nil {
		return wrongRoots
	}
	selected, err := a.Choose(l.Config)
	if err != nil {
		return l.Locate(err)
	}
	serving := app.Serving{Settings: l, From: from, Roots: roots, Tools: selected}
	if l.Outlasts() && l.HTTP == "" {
		background, err := a.Background(l, s.Config, roots)
		switch {
		case err != nil:
			return l.Locate(err)
		case birth == nil:
			return background.Relay(ctx, a)
		}
		if err := background.Become(birth); err != nil {
			return err
		}
		serving.Background = background
	}
	return a.Serve(ctx, serving)
}

// introduce prints at a terminal what to do instead of waiting for a client that
// is not there. given has the settings for the client's entry, without those of the
// configuration files, which are read at each start.
func introduce(p *Process, cfg, given config.Config, args []string) error {
	selected, err := p.app().Choose(cfg)
	if err != nil {
		return err
	}
	roots, err := rootsOf(args)
	if err != nil && len(args) > 0 {
		return err
	}
	if err != nil { // started in a directory that cannot be a root, just to look
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
	if say := p.offPath(); say != "" {
		fmt.Fprintf(&b, "\nBeware: %s\n", say)
	}
	fmt.Fprintf(&b, "\nTo look round without a client:\n  toolcrib demo\n  toolcrib list\n  toolcrib doctor\n")
	if _, ok := catalog.Find(selected.Enabled, catalog.ShownList); ok {
		fmt.Fprintf(&b, "  toolcrib call %s %s\n", catalog.ShownList, config.ShellWord(roots[0]))
	}
	_, err = io.WriteString(p.Stderr, b.String())
	return err
}
