package shell

import (
	"context"
	"slices"
	"strings"

	"toolcrib/tools"
	"toolcrib/tools/internal/secrets"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/workspace"
)

// directory resolves the directory that a program is to run in.
func directory(ctx context.Context, text string) (workspace.Path, error) {
	if text == "" {
		text = "."
	}
	dir, err := tools.Resolve(ctx, text)
	if err != nil {
		return workspace.Path{}, err
	}
	info, err := dir.Stat()
	if err != nil {
		return workspace.Path{}, err
	}
	if info.Kind != workspace.KindDirectory {
		return workspace.Path{}, tools.Errorf(tools.InvalidArgument, "%s is not a directory", textfile.Path(dir.String())).
			WithHint("give the directory that the command is to run in")
	}
	return dir, nil
}

// quiet returns the variables that keep programs from asking, paging and colouring, since no user
// is at the terminal, and git status from writing the index, which would be a change.
func quiet() []string {
	return []string{"TERM=dumb", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "NO_COLOR=1", "DEBIAN_FRONTEND=noninteractive"}
}

// unbuffered is the variable that has Python print at once.
const unbuffered = "PYTHONUNBUFFERED"

// variables appends the variables of a call to those that every command gets, one of which keeps
// Python from holding back its output, unless programs get it from the server.
func (d Deps) variables(given []string) []string {
	env := quiet()
	if d.Sandbox == nil || !d.Sandbox.Passes(unbuffered) {
		env = append(env, unbuffered+"=1")
	}
	return append(env, given...)
}

// brief returns a command as one line.
func brief(command string) string {
	const most = 200
	text := textfile.Visible(strings.Join(strings.Fields(command), " "))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// redactedVariables returns variables without their secrets.
func redactedVariables(env []string) []string {
	env = slices.Clone(env)
	for i, v := range env {
		env[i] = secrets.Without(v, slices.Concat(secrets.Text(v), secrets.Command([]string{v}).Words[0]))
	}
	return env
}
