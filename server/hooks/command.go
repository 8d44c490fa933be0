package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Bounds of what an external hook can say.
const (
	maxAnswer = 64 << 10
	maxStderr = 4 << 10
)

// linger is how long the output of a command is waited for after its end, where a
// child of it holds the pipe.
const linger = 250 * time.Millisecond

// command is a hook that is a program. It runs in a process group of its own, in
// the top directory, so that nothing of a workspace is found by a relative name.
type command struct {
	file string // absolute
	args []string
	env  []string
	log  *slog.Logger
}

// inherited are the variables that a command gets of the server's own.
var inherited = []string{
	"PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR", "USER", "LOGNAME", "SHELL",
	"SystemRoot", "SYSTEMROOT", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", // of Windows
}

// environment returns the variables of environ that a command inherits, and own.
func environment(environ []string, own map[string]string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(inherited, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, entry)
		}
	}
	for name, value := range own {
		env = append(env, name+"="+value) // the last one counts
	}
	return env
}

// ask implements external.
func (c *command) ask(ctx context.Context, input []byte) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, errs := &bounded{limit: maxAnswer, over: cancel}, &bounded{limit: maxStderr, over: func() {}}
	cmd := exec.CommandContext(ctx, c.file, c.args...)
	cmd.Dir, cmd.Env = string(filepath.Separator), c.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), out, errs
	cmd.WaitDelay = linger
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	err := cmd.Run()
	if cmd.Process != nil {
		_ = killGroup(cmd) // processes that it has left behind
	}
	said := strings.TrimSpace(valid(string(errs.kept)))
	if exit, ended := errors.AsType[*exec.ExitError](err); ended && exit.ExitCode() == 2 && !out.full && ctx.Err() == nil {
		return nil, &objection{said}
	}
	switch {
	case out.full:
		return nil, fmt.Errorf("the command said more than %d bytes", maxAnswer)
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // it has ended well; a child held the pipe
		if said != "" {
			c.log.Info("stderr of a hook", "command", c.file, "text", said)
		}
		return out.kept, nil
	}
	return nil, failed(err, said)
}

// failed says in plain words how a command failed, and what it said.
func failed(err error, said string) error {
	how := fmt.Sprintf("it cannot be run: %v", err)
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		if how = "it was killed"; exit.Exited() {
			how = fmt.Sprintf("it ended with exit code %d, and only 0 and 2 are answers", exit.ExitCode())
		}
	}
	if said != "" {
		how += "; it said: " + said
	}
	return errors.New(how)
}

// bounded keeps the bytes written to it up to a limit, and drops the rest.
type bounded struct {
	kept  []byte
	limit int
	full  bool
	over  func() // called once, where there is more
}

// Write implements [io.Writer].
func (b *bounded) Write(p []byte) (int, error) {
	room := min(len(p), b.limit-len(b.kept))
	b.kept = append(b.kept, p[:room]...)
	if room < len(p) && !b.full {
		b.full = true
		b.over()
	}
	return len(p), nil
}
