// Package cli is the command line of toolcrib, with one file per command.
//
// A command is a struct whose tagged fields are its flags and whose run method
// carries it out; [Main] picks it from the table, fills it and runs it. The
// package touches the process only through [Process], so that every command
// runs in a test. Output for people follows these rules: results on
// stdout, everything else on stderr; an error is one line "toolcrib: ..." in
// lower case without a full stop, and perhaps one line of what to do instead.
//
// It must not import mcp-go or a category. Start at [Main].
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"toolcrib/schema"
	"toolcrib/server"
	"toolcrib/server/app"
	"toolcrib/server/config"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// Process is the part of the process that the commands may use.
type Process struct {
	Args    []string // without the program's name
	Environ []string // KEY=VALUE
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	// IsTerminal reports whether Stdin, Stdout or Stderr is a terminal.
	IsTerminal func(stream any) bool
	// LookPath finds a program on PATH.
	LookPath func(file string) (string, error)
	// Hooks are called around each call.
	Hooks run.Hooks
	// Caller lets tools call other tools; nil = none do.
	Caller *run.Caller
	// Categories are all that the process offers.
	Categories []tools.Category
	// Fixtures are served in addition to the catalog.
	Fixtures server.Fixtures

	env config.Env // what settings are read from
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // the command failed
	exitUsage = 2 // the command line or the configuration is wrong
)

// command is one entry of the table.
type command struct {
	name  string
	args  string // shown after the flags in its usage line
	short string // one line, for the list of commands
	long  string // the rest of its help
	new   func() runner
}

// runner is a command with its flags.
type runner interface {
	run(ctx context.Context, p *Process, args []string) error
}

// make returns a new runner of the command, whose configuration has the settings of the
// categories.
func (c command) make(p *Process) runner {
	r := c.new()
	if configured, ok := r.(interface{ Add([]tools.Category) }); ok {
		configured.Add(p.Categories)
	}
	return r
}

// commands is the command table, with those of categories; the first is what runs where none
// is named.
func commands(categories []tools.Category) []command {
	all := []command{
		serveCommand(), demoCommand(), configCommand(), listCommand(), showCommand(), callCommand(), policyCommand(),
		auditCommand(), docsCommand(), tokenCommand(), doctorCommand(), statsCommand(), detachedCommand(), scheduleCommand(), completionCommand(), manCommand(), versionCommand(),
	}
	for _, category := range categories {
		for _, c := range category.Commands {
			all = append(all, command{name: c.Name, args: c.Args, short: c.Short, long: c.Long, new: func() runner { return newOffered(c) }})
		}
	}
	return all
}

// Main runs the command that the arguments name and returns the exit code.
func Main(ctx context.Context, p Process) int {
	p.env = config.Env{Environ: p.Environ, LookPath: p.LookPath, Categories: p.Categories, Catalog: catalog.Tools(p.Categories)}
	err := dispatch(ctx, &p)
	if err == nil {
		return exitOK
	}
	if silent, ok := errors.AsType[silentError](err); ok {
		return silent.code()
	}
	usage, ok := errors.AsType[*config.UsageError](err)
	if !ok {
		fmt.Fprintf(p.Stderr, "toolcrib: %v\n", err)
		return exitError
	}
	fmt.Fprintf(p.Stderr, "toolcrib: %v\n", usage.Err)
	if usage.Hint != "" {
		fmt.Fprintf(p.Stderr, "  %s\n", usage.Hint)
	}
	return exitUsage
}

func dispatch(ctx context.Context, p *Process) error {
	cmds := commands(p.Categories)
	cmd, args := cmds[0], p.Args
	if len(args) > 0 {
		switch first := args[0]; first {
		case "help":
			return help(p, cmds, args[1:])
		case "-h", "--help":
			return help(p, cmds, nil)
		case "--version":
			return new(version).run(ctx, p, args[1:])
		default:
			if c, ok := find(cmds, first); ok {
				cmd, args = c, args[1:]
			}
		}
	}
	r := cmd.make(p)
	rest, from, err := config.Parse(r, args, p.Environ)
	if errors.Is(err, config.ErrHelp) {
		return help(p, cmds, []string{cmd.name})
	}
	if err != nil {
		return &config.UsageError{Err: err, Hint: "toolcrib help " + cmd.name + " lists the flags"}
	}
	p.env.Given = from
	return r.run(ctx, p, rest)
}

func find(cmds []command, name string) (command, bool) {
	for _, c := range cmds {
		if c.name == name {
			return c, true
		}
	}
	return command{}, false
}

// silentError ends a command that has said why itself, with the exit code exit, or 1.
type silentError struct{ exit int }

func (silentError) Error() string { return "" }

func (e silentError) code() int { return cmp.Or(e.exit, exitError) }

// app is the process as a server sees it.
func (p *Process) app() *app.Process {
	return &app.Process{
		Env: p.env, Version: moduleVersion(), Args: p.Args,
		Stdin: p.Stdin, Stdout: p.Stdout, Stderr: p.Stderr, Hooks: p.Hooks, Caller: p.Caller, Fixtures: p.Fixtures,
	}
}

// settle reads all sources of settings into cfg, which has those of flags and variables
// already, and prints notes for the user on stderr.
func (p *Process) settle(cfg *config.Config, roots []string) error {
	l, err := p.env.Sources(*cfg, roots).Read()
	if err != nil {
		return err
	}
	p.tell(l)
	*cfg = l.Config
	return nil
}

func (p *Process) tell(l *config.Loaded) {
	for _, line := range l.Notes {
		fmt.Fprintln(p.Stderr, "toolcrib: warning:", line)
	}
}

// missingTool is the error for a name that no tool has.
func missingTool(all []tools.Tool, name string) error {
	var names []string
	for _, t := range all {
		names = append(append(names, t.Name), t.Aliases...)
	}
	const hint = "toolcrib list --all shows every tool"
	if near := schema.Nearest(name, names); near != "" {
		return config.Usagef(hint, "no tool is called %q; did you mean %q", name, near)
	}
	return config.Usagef(hint, "no tool is called %q", name)
}

// executable is how the program can be called again, from any directory.
func executable() string {
	if file, err := os.Executable(); err == nil {
		return file
	}
	return "toolcrib"
}
