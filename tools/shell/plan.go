package shell

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/shell/internal/command"
	"toolcrib/workspace"
)

// planLine returns the effects of a command line; always are those that every line may have. A
// line has the effect Outside if it names a path outside the roots that it writes: the sandbox
// will not allow that, but the user should know.
func planLine(ws *workspace.Workspace, line string, at command.Location, always tools.Effects) tools.Plan {
	at.Has = func(path string) bool { return exists(ws, path) }
	read := command.Parse(line, at)
	plan := tools.Plan{Effects: always, Commands: read.Commands, Touches: read.Touches, Unknown: read.Unknown, Writes: read.Writes, Shows: line}
	plan.Private = slices.ContainsFunc(plan.Commands, func(c tools.Command) bool {
		return len(c.Words) > 0 && strings.ContainsAny(c.Words[0].Text, "=:$(` ") && command.Redacted(c.Words[0].Text) != c.Words[0].Text
	})
	leaves := func(t tools.Touch) bool { return t.Write && outside(ws, t.Path) }
	if slices.ContainsFunc(plan.Touches, leaves) ||
		slices.ContainsFunc(plan.Commands, func(c tools.Command) bool { return slices.ContainsFunc(c.Touches, leaves) }) {
		plan.Effects |= tools.Outside
	}
	return plan
}

// location returns where a command would run: a session may have left its directory.
func (d Deps) location(ctx context.Context, in commandIn) command.Location {
	at := command.Location{Dir: in.Cwd, Env: in.Env}
	s := tools.Session(ctx)
	if in.Session == "" || d.Jobs == nil || s.Workspace == nil {
		return at
	}
	spec := jobs.Spec{Principal: s.Principal, Workspace: s.Workspace}
	if !d.Jobs.Known(spec, in.Session) {
		return at
	}
	host := d.Jobs.Directory(spec, in.Session)
	dir, err := tools.Resolve(ctx, host)
	if host == "" || err != nil {
		return command.Location{Anywhere: true, Env: in.Env}
	}
	at.Dir = dir.String()
	return at
}

// always returns the effects that every command may have.
func (d Deps) always(in commandIn) tools.Effects {
	always := tools.Workspace | tools.Process | tools.State | tools.Destroys
	if in.Network {
		always |= tools.Network
	}
	if d.Sandbox != nil && d.Sandbox.Level() == sandbox.None || len(in.Ports) > 0 {
		always |= tools.Outside
	}
	return always
}

// shows returns the text of a command that the user sees.
func (in commandIn) shows() string {
	text := in.Command
	if len(in.Env) > 0 {
		text = "env " + strings.Join(in.Env, " ") + "\n" + text
	}
	if in.Cwd != "" && in.Cwd != "." {
		text = "cd " + in.Cwd + "\n" + text
	}
	if len(in.Ports) > 0 {
		with := ""
		if in.Network {
			with = ", with the network on"
		}
		text = fmt.Sprintf("open its ports %v on 127.0.0.1 for every program of this machine%s:\n%s", in.Ports, with, text)
	}
	return text
}

// exists reports whether a file is in a workspace, or may be.
func exists(ws *workspace.Workspace, text string) bool {
	if ws == nil {
		return true
	}
	at, err := ws.Resolve(text)
	if err != nil {
		return strings.HasPrefix(text, "~")
	}
	_, err = at.Lstat()
	return err == nil
}

// outside reports whether a path is outside the roots and the private directories of a
// sandbox.
func outside(ws *workspace.Workspace, text string) bool {
	if text == "~" || strings.HasPrefix(text, "~/") {
		return path.Clean(text) == ".." || strings.HasPrefix(path.Clean(text), "../")
	}
	if clean := path.Clean(text); path.IsAbs(clean) {
		for _, private := range []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd"} {
			if clean == private || strings.HasPrefix(clean, private+"/") {
				return false
			}
		}
	}
	if ws == nil {
		return true
	}
	_, err := ws.Resolve(text)
	return err != nil
}
