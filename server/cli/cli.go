// Package cli is the command line of toolcrib: one file a command.
//
// A command is a struct whose tagged fields are its flags and whose run method
// carries it out; [Main] picks it from the table, fills it and runs it. The
// package touches the process only through [Process], so that every command
// runs in a test. What it prints for people goes by these rules: results on
// stdout, everything else on stderr; an error is one line "toolcrib: ..." in
// lower case without a full stop, and perhaps one line of what to do instead.
//
// It must not import mcp-go or a category. Start at [Main].
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"toolcrib/schema"
	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// Process is what the commands may touch of the process.
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
	// Caller is what the tools call others through; nil = none do.
	Caller *run.Caller
	// Deps is what the process owns for the tools, and Catalog every tool there is,
	// made with it.
	Deps    catalog.Deps
	Catalog []tools.Tool
	// Fixtures are served beside the catalog.
	Fixtures server.Fixtures

	given given // by the command line and the environment, once they are parsed
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1 // the command did not do what was asked
	exitUsage = 2 // the command line or the configuration is wrong
)

// command is one entry of the table.
type command struct {
	name  string
	args  string // what stands after the flags
	short string // one line, for the list of commands
	long  string // the rest of its help
	new   func() runner
}

// runner is a command with its flags.
type runner interface {
	run(ctx context.Context, p *Process, args []string) error
}

// commands is the command table; the first is what runs where none is named.
func commands() []command {
	return []command{
		serveCommand(), demoCommand(), configCommand(), listCommand(), showCommand(), callCommand(), policyCommand(),
		auditCommand(), docsCommand(), tokenCommand(), doctorCommand(), statsCommand(), detachedCommand(), versionCommand(),
	}
}

// Main runs the command that the arguments name and returns the exit code.
func Main(ctx context.Context, p Process) int {
	err := dispatch(ctx, &p)
	if err == nil {
		return exitOK
	}
	if _, ok := errors.AsType[silentError](err); ok {
		return exitError
	}
	usage, ok := errors.AsType[*usageError](err)
	if !ok {
		fmt.Fprintf(p.Stderr, "toolcrib: %v\n", err)
		return exitError
	}
	fmt.Fprintf(p.Stderr, "toolcrib: %v\n", usage.err)
	if usage.hint != "" {
		fmt.Fprintf(p.Stderr, "  %s\n", usage.hint)
	}
	return exitUsage
}

func dispatch(ctx context.Context, p *Process) error {
	cmds := commands()
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
	r := cmd.new()
	rest, from, err := parse(r, args, p.Environ)
	if errors.Is(err, errHelp) {
		return help(p, cmds, []string{cmd.name})
	}
	if err != nil {
		return &usageError{err, "toolcrib help " + cmd.name + " lists the flags"}
	}
	p.given = from
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

// usageError is a command line or a configuration that is wrong, with a line
// of what to type instead.
type usageError struct {
	err  error
	hint string
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(hint, format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...), hint}
}

// silentError ends a command with exit code 1 that has said why itself.
type silentError struct{}

func (silentError) Error() string { return "" }

func (p *Process) getenv(name string) string { return getenv(p.Environ, name) }

// machine is what the tools may need of this machine.
func (p *Process) machine() tools.Host {
	return tools.Host{OS: runtime.GOOS, LookPath: p.LookPath, Getenv: p.getenv}
}

// choose applies the configuration to the catalog. It warns of variables that
// look like ours and are not.
func (p *Process) choose(cfg server.Config) (tools.Selected, error) {
	for _, line := range strangers(p.Environ, variables(p.Catalog)) {
		fmt.Fprintln(p.Stderr, "toolcrib: warning:", line)
	}
	return p.selects(cfg)
}

// selects is choose without the warnings.
func (p *Process) selects(cfg server.Config) (tools.Selected, error) {
	const hint = "toolcrib list --all shows every tool with its category"
	host := p.machine()
	if python := interpreter(cfg); python != "" {
		host.LookPath = func(file string) (string, error) {
			if file == "python3" || file == "python" {
				file = python
			}
			return p.LookPath(file)
		}
	}
	selection, err := cfg.Selection(p.Catalog, host)
	if err != nil {
		return tools.Selected{}, &wrongKey{"preset", "", &usageError{err, hint}}
	}
	selected, err := tools.Select(cfg.Tuned(p.Catalog), selection)
	if err != nil {
		return tools.Selected{}, &wrongKey{"tools", "", &usageError{err, hint}}
	}
	return selected, nil
}

// variables are the names of the environment that toolcrib or a tool reads.
func variables(all []tools.Tool) []string {
	var names []string
	for _, o := range options(new(server.Config)) {
		names = append(names, o.env)
	}
	for _, t := range all {
		for _, n := range t.Needs {
			if n.Env != "" {
				names = append(names, n.Env)
			}
		}
	}
	return names
}

// missingTool is the error for a name that no tool has.
func missingTool(all []tools.Tool, name string) error {
	var names []string
	for _, t := range all {
		names = append(append(names, t.Name), t.Aliases...)
	}
	const hint = "toolcrib list --all shows every tool"
	if near := schema.Nearest(name, names); near != "" {
		return usagef(hint, "no tool is called %q; did you mean %q", name, near)
	}
	return usagef(hint, "no tool is called %q", name)
}

// executable is how the program can be called again, from any directory.
func executable() string {
	if file, err := os.Executable(); err == nil {
		return file
	}
	return "toolcrib"
}

// shellWord quotes a word for a command line to copy, where it needs quoting.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=\\", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
