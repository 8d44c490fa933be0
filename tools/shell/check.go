package shell

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"toolcrib/tools"
	"toolcrib/tools/internal/durations"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/shell/internal/command"
)

// check refuses arguments that no program can take, and those that this call cannot honour.
func (d Deps) check(ctx context.Context, in commandIn) error {
	switch {
	case strings.ContainsRune(in.Command, 0):
		return tools.Errorf(tools.InvalidArgument, "/command: it has a NUL at byte %d, which no shell can be given", strings.IndexByte(in.Command, 0)).
			WithHint(`write it as an escape, such as printf '\0'`)
	case strings.TrimSpace(in.Session) != in.Session || strings.ContainsFunc(in.Session, func(r rune) bool { return !unicode.IsPrint(r) }):
		return tools.Errorf(tools.InvalidArgument, "/session: a name has no newlines, control characters or blanks around it").
			WithHint(`such as "build"`)
	case in.Session != "" && stops(in.Command):
		return tools.Errorf(tools.InvalidArgument, "/command: set -n would have the session run nothing any more").
			WithHint("bash -n FILE reads a script without running it")
	}
	for _, v := range in.Env {
		if err := variable(v); err != nil {
			return err
		}
	}
	return d.honoured(ctx, in)
}

// honoured refuses arguments that do not go together, or not in this call. The plan calls it, so
// that the user is not asked about a call that is then refused.
func (d Deps) honoured(ctx context.Context, in commandIn) error {
	switch {
	case len(in.Ports) > 0 && d.Sandbox != nil && !d.Sandbox.Private():
		return refused(jobs.ErrNotPrivate)
	case in.Session == "":
	case in.Terminal || in.Input:
		return tools.Errorf(tools.InvalidArgument, "/session: the commands of a session have no input").
			WithHint("leave session out, or terminal and input")
	case len(in.Ports) > 0:
		return tools.Errorf(tools.InvalidArgument, "/session: the commands of a session open no ports").
			WithHint("leave session out, with background: true")
	}
	if _, err := in.timeout(0); err != nil {
		return err
	}
	if !tools.Session(ctx).Once {
		return nil
	}
	for _, not := range []struct {
		given bool
		name  string
	}{{in.Background, "background"}, {in.Input, "input"}, {in.Terminal, "terminal"}} {
		if not.given {
			return tools.Errorf(tools.InvalidArgument, "/%s: this one call keeps no jobs: they end with it", not.name).
				WithHint("leave %s out, and the call waits for the end; a client of toolcrib serve has jobs", not.name)
		}
	}
	return nil
}

// stops reports whether a line makes its shell run no further commands.
func stops(line string) bool {
	for _, c := range command.Parse(line, command.Location{Anywhere: true}).Commands {
		if c.Perhaps || c.Words[0].Text != "set" {
			continue
		}
		for i, w := range c.Words[1:] {
			if w.Kind != tools.Known || w.Text == "--" || !strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "+") && !strings.HasSuffix(c.Words[i].Text, "o") {
				break
			}
			if w.Text == "noexec" && c.Words[i].Text == "-o" || !strings.HasPrefix(w.Text, "--") && strings.HasPrefix(w.Text, "-") && strings.Contains(w.Text, "n") {
				return true
			}
		}
	}
	return false
}

// variable refuses a text that is not NAME=VALUE.
func variable(v string) error {
	key, _, ok := strings.Cut(v, "=")
	switch {
	case strings.ContainsRune(v, 0):
		return tools.Errorf(tools.InvalidArgument, "/env: %q has a NUL, which no variable can have", brief(strings.ReplaceAll(key, "\x00", "")))
	case !ok || key == "":
		return tools.Errorf(tools.InvalidArgument, "/env: %q is not KEY=VALUE", brief(v))
	case strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) || key[0] >= '0' && key[0] <= '9':
		return tools.Errorf(tools.InvalidArgument, "/env: %q is no name of a variable", brief(key)).
			WithHint("letters, digits and _, and no digit first")
	}
	return nil
}

// timeout reads how long a command may take. Zero is refused: it could mean no timeout, or
// that the command ends at once.
func (in commandIn) timeout(byDefault time.Duration) (time.Duration, error) {
	d, err := durations.Argument{Name: "timeout", Default: byDefault, Most: longestTimeout}.Read(in.Timeout)
	if err == nil && d == 0 && strings.TrimSpace(in.Timeout) != "" {
		return 0, tools.Errorf(tools.InvalidArgument, "/timeout: 0 is no time to run in").
			WithHint("more than 0, at most %s; without timeout it is the default", durations.Exact(longestTimeout))
	}
	return d, err
}

// located returns the path at which the server finds a program; the PATH of the command does
// not count.
func located(name string) string {
	path, err := exec.LookPath(name)
	if err != nil || !filepath.IsAbs(path) {
		return name
	}
	return path
}
