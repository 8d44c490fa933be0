package shell

import (
	"context"
	"os"
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

// variables checks the variables of a call and appends them to those that every command gets, one
// of which keeps Python from holding back its output, unless the server sets it.
func variables(given []string) ([]string, error) {
	env := quiet()
	if _, set := os.LookupEnv("PYTHONUNBUFFERED"); !set {
		env = append(env, "PYTHONUNBUFFERED=1")
	}
	for _, v := range given {
		if err := variable(v); err != nil {
			return nil, err
		}
		env = append(env, v)
	}
	return env, nil
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
