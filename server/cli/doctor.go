package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"toolcrib/server/app"
	"toolcrib/server/cli/internal/writable"
	"toolcrib/server/config"
	"toolcrib/server/daemon"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

type doctor struct{ config.Config }

func doctorCommand() command {
	return command{
		name:  "doctor",
		args:  "[DIR ...]",
		short: "list what this machine offers, what is missing and how to get it",
		long: `
It takes the flags and directories of serve. Exit code 1: something that this
configuration needs is broken; these lines begin with "broken".`,
		new: func() runner { return new(doctor) },
	}
}

func (d *doctor) run(ctx context.Context, p *Process, args []string) error {
	r := &report{w: p.Stdout}
	given := d.Config
	l := d.settings(p, r, args)
	selected, err := p.app().Choose(d.Config)
	if err != nil {
		return err
	}
	if l != nil {
		if faults := p.app().Faults(l.Config); len(faults) > 0 {
			r.bad("config", l.Locate(faults[0]).Error())
		}
	}
	r.ok("version", versionLine())
	d.programs(p, r)
	roots := d.places(ctx, p, r, args)
	d.tools(p, r, selected)
	d.clients(p, r, given, roots)
	switch {
	case r.err != nil:
		return r.err
	case r.broken:
		return silentError{}
	}
	return nil
}

// settings reads the files of configuration as serve does. It returns nil where they
// cannot be read.
func (d *doctor) settings(p *Process, r *report, args []string) *config.Loaded {
	roots, err := rootsOf(args)
	if err != nil {
		roots = nil // places tells
	}
	l, err := p.env.Sources(d.Config, roots).Read()
	switch {
	case err != nil:
		r.bad("config", err.Error())
		return nil
	case len(l.Files) == 0 && p.env.UsualFile() != "":
		r.ok("config", "none; a file would be "+p.env.UsualFile())
	}
	for _, name := range l.Files {
		r.ok("config", name)
	}
	d.Config = l.Config
	return l
}

func (d *doctor) programs(p *Process, r *report) {
	if file, err := p.LookPath("git"); err == nil {
		r.ok("git", file)
	} else {
		r.missing("git", "not on PATH; install it to let commands use repositories")
	}
	if say := p.offPath(); say != "" {
		r.missing("path", say)
	}
}

// places checks the roots and the state directory, as serve opens them, and
// returns the roots.
func (d *doctor) places(ctx context.Context, p *Process, r *report, args []string) []string {
	roots, err := rootsOf(args)
	if err != nil {
		r.bad("root", err.Error())
		return someRoot()
	}
	opt, err := d.Workspace()
	if err != nil {
		r.bad("state", err.Error()+"; name one with --state-dir")
	}
	ws, err := workspace.Open(roots, opt)
	if e, ok := errors.AsType[*workspace.Error](err); ok && errors.Is(err, workspace.ErrStateInside) {
		r.bad("state", e.Msg+"; "+e.Hint)
		return roots
	}
	if err != nil {
		r.bad("root", err.Error())
		return roots
	}
	r.ok("files", "opened by "+ws.Backend())
	for _, root := range roots {
		d.root(r, root)
	}
	d.state(r, ws)
	d.detached(r, roots)
	d.categories(ctx, p, r, ws)
	if err := ws.Close(); err != nil {
		r.bad("root", err.Error())
	}
	return roots
}

// categories lets each category check its needs.
func (d *doctor) categories(ctx context.Context, p *Process, r *report, ws *workspace.Workspace) {
	if len(d.Check(p.env.Machine())) > 0 {
		return // settings has told
	}
	p.app().Apply(d.Config, ws.Roots(), slog.New(slog.DiscardHandler), p.app().Redactor(d.Config))
	ctx = tools.WithSession(ctx, &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	for _, c := range p.Categories {
		if c.Doctor == nil {
			continue
		}
		for _, found := range c.Doctor(ctx) {
			r.broken = r.broken || found.State == tools.Broken
			r.line(string(found.State), found.What, found.Say)
		}
	}
	if err := catalog.Close(p.Categories); err != nil {
		r.bad("programs", err.Error())
	}
}

func (d *doctor) state(r *report, ws *workspace.Workspace) {
	base := ws.StateBase()
	if base == "" {
		r.missing("state", "no place for it outside of the roots: changes cannot be undone; name one with --state-dir")
		return
	}
	if _, err := ws.State(); err != nil {
		r.bad("state", fmt.Sprintf("%v; name another directory with --state-dir", err))
		return
	}
	r.ok("state", base)
}

// detached says whether jobs outlast the client.
func (d *doctor) detached(r *report, roots []string) {
	if !d.Outlasts() {
		r.ok("jobs", "end with the client; jobs: {detach: true} in the configuration lets them outlast it")
		return
	}
	if err := daemon.Supported(); err != nil {
		r.bad("jobs", "jobs.detach: "+err.Error())
		return
	}
	bases, err := app.StateBases(d.Config, roots)
	if err == nil {
		_, err = daemon.Open(bases...)
	}
	if err != nil {
		r.bad("jobs", "jobs.detach: "+err.Error())
		return
	}
	r.ok("jobs", "outlast the client, in a server in the background; toolcrib detached lists these")
}

func (d *doctor) root(r *report, root string) {
	switch {
	case writable.Is(root):
		r.ok("root", root+", can be written")
	case d.ReadOnly:
		r.ok("root", root+", can be read")
	default:
		r.missing("root", root+" cannot be written; tools that write will refuse there")
	}
}

// tools says of each tool that the machine cannot run how to change that. Only
// one that the configuration names is broken.
func (d *doctor) tools(p *Process, r *report, s tools.Selected) {
	r.ok("tools", fmt.Sprintf("%d can be called, %d of them are listed", len(s.Enabled), len(s.Listed)))
	for _, o := range s.Omitted {
		switch {
		case o.Reason != o.Tool.Missing(p.env.Machine()): // switched off, not unmet
		case d.Wants(o.Tool):
			r.bad("tool", o.Tool.Name+": "+o.Reason)
		default:
			r.missing("tool", o.Tool.Name+": "+o.Reason)
		}
	}
}

func (d *doctor) clients(p *Process, r *report, given config.Config, roots []string) {
	l := launchOf(given, roots)
	found := false
	for _, c := range clients() {
		if _, err := p.LookPath(c.binary); err == nil {
			found = true
			r.ok("client", c.name+": "+l.configLine(c.id, "--write"))
		}
	}
	if where, err := p.env.Home(); err == nil {
		for _, c := range clients() {
			if state := p.entryState(c.user(where), c.place(defaultName)); strings.HasPrefix(state, "broken") {
				r.missing("client", c.name+": its entry is "+state+"; write it anew: "+l.configLine(c.id, "--write"))
			}
		}
	}
	if !found {
		r.missing("client", "none found on PATH; toolcrib config lists those that can be set up")
	}
}

// report prints findings, one a line.
type report struct {
	w      io.Writer
	broken bool
	err    error // the first error of w
}

func (r *report) ok(what, say string)      { r.line("ok", what, say) }
func (r *report) missing(what, say string) { r.line("missing", what, say) }

func (r *report) bad(what, say string) {
	r.broken = true
	r.line("broken", what, say)
}

func (r *report) line(state, what, say string) {
	if _, err := fmt.Fprintf(r.w, "%-8s%-9s%s\n", state, what, say); err != nil && r.err == nil {
		r.err = err
	}
}
