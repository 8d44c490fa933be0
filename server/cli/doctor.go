package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"toolcrib/server"
	"toolcrib/server/daemon"
	"toolcrib/tools"
	"toolcrib/workspace"
)

type doctor struct{ server.Config }

func doctorCommand() command {
	return command{
		name:  "doctor",
		args:  "[DIR ...]",
		short: "say what this machine offers, what is missing and how to get it",
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
	selected, err := p.choose(d.Config)
	if err != nil {
		return err
	}
	if l != nil {
		if _, err := p.validate(l.Config, p.redactor(l.Config), slog.New(slog.DiscardHandler)); err != nil {
			r.bad("config", l.place(err).Error())
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
func (d *doctor) settings(p *Process, r *report, args []string) *loaded {
	roots, err := rootsOf(args)
	if err != nil {
		roots = nil // places tells
	}
	l, err := p.sources(d.Config, roots).read()
	switch {
	case err != nil:
		r.bad("config", err.Error())
		return nil
	case len(l.files) == 0 && p.usualFile() != "":
		r.ok("config", "none; a file would be "+p.usualFile())
	}
	for _, name := range l.files {
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
	d.sandbox(ctx, p, r, ws)
	if err := ws.Close(); err != nil {
		r.bad("root", err.Error())
	}
	return roots
}

// sandbox makes the sandbox of the roots, and says whether that can be done.
func (d *doctor) sandbox(ctx context.Context, p *Process, r *report, ws *workspace.Workspace) {
	programs := p.Deps.Sandbox
	if programs == nil {
		return
	}
	opt, err := d.Containment()
	if err != nil {
		r.bad("sandbox", err.Error())
		return
	}
	programs.Configure(opt)
	ctx = tools.WithSession(ctx, &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	level, err := programs.Check(ctx)
	switch {
	case err != nil:
		e := tools.AsError(err)
		r.bad("sandbox", e.Msg+"; "+e.Hint)
	case level.String() == "none":
		r.missing("sandbox", "none: programs that tools run can do all that the user can")
	default:
		r.ok("sandbox", "programs that tools run are contained at level "+level.String())
		if why := programs.Countless(); why != "" {
			r.missing("limits", "programs.processes does not hold, so that a program may have any number of processes: "+why)
		}
	}
	if err := programs.Close(); err != nil {
		r.bad("sandbox", err.Error())
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
	if !d.Jobs.Detach {
		r.ok("jobs", "end with the client; jobs: {detach: true} in the configuration lets them outlast it")
		return
	}
	if err := daemon.Supported(); err != nil {
		r.bad("jobs", "jobs.detach: "+err.Error())
		return
	}
	bases, err := basesOf(d.Config, roots)
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
	case writable(root):
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
		case o.Reason != o.Tool.Missing(p.machine()): // switched off, not unmet
		case wants(d.Config, o.Tool):
			r.bad("tool", o.Tool.Name+": "+o.Reason)
		default:
			r.missing("tool", o.Tool.Name+": "+o.Reason)
		}
	}
}

func (d *doctor) clients(p *Process, r *report, given server.Config, roots []string) {
	l := launchOf(given, roots)
	found := false
	for _, c := range clients() {
		if _, err := p.LookPath(c.binary); err == nil {
			found = true
			r.ok("client", c.name+": "+l.configLine(c.id, "--write"))
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
