package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// Env is the environment from which settings are read and against which they are checked,
// apart from the command line.
type Env struct {
	Environ []string // KEY=VALUE
	// LookPath finds a program on PATH.
	LookPath func(file string) (string, error)
	// Categories are all there are, and Catalog their tools.
	Categories []tools.Category
	Catalog    []tools.Tool
	Given      Given // by the command line and the environment
}

// Getenv returns a variable of the environment, "" where it is not set.
func (e *Env) Getenv(name string) string { return getenv(e.Environ, name) }

// Machine describes this machine to the tools.
func (e *Env) Machine() tools.Host {
	return tools.Host{OS: runtime.GOOS, LookPath: e.LookPath, Getenv: e.Getenv}
}

// Select returns the tools that the settings choose.
func (e *Env) Select(cfg Config) (tools.Selected, error) {
	const hint = "toolcrib list --all shows every tool with its category"
	selection, err := cfg.Choose(e.Catalog, cfg.Host(e.Machine()))
	if err != nil {
		return tools.Selected{}, &KeyError{"preset", "", &UsageError{err, hint}}
	}
	selected, err := tools.Select(cfg.Tuned(e.Catalog), selection)
	if err != nil {
		return tools.Selected{}, &KeyError{"tools", "", &UsageError{err, hint}}
	}
	return selected, nil
}

// Strangers returns a line for each environment variable that looks like one of
// toolcrib's but is unknown.
func (e *Env) Strangers() []string { return strangers(e.Environ, e.Variables()) }

// Variables are the names of the environment that toolcrib or a tool reads.
func (e *Env) Variables() []string {
	var names []string
	cfg := New(e.Categories)
	for _, o := range Options(&cfg) {
		names = append(names, o.Env)
	}
	for _, t := range e.Catalog {
		for _, n := range t.Needs {
			if n.Env != "" {
				names = append(names, n.Env)
			}
		}
	}
	return names
}

// Home returns where the user's files are.
func (e *Env) Home() (Home, error) {
	variable := "HOME"
	if runtime.GOOS == "windows" {
		variable = "USERPROFILE"
	}
	dir := e.Getenv(variable)
	if dir == "" {
		return Home{}, errors.New(variable + " is not set, so there is no telling where clients keep their files")
	}
	return Home{runtime.GOOS, dir, e.Getenv}, nil
}

// Home is where a user's files are.
type Home struct {
	GOOS, Dir string
	Getenv    func(string) string
}

// Or returns the directory that a variable names, else another.
func (h Home) Or(variable, dir string) string {
	if value := h.Getenv(variable); value != "" {
		return value
	}
	return dir
}

// Config is where desktop programs keep their configuration.
func (h Home) Config() string {
	switch h.GOOS {
	case "darwin":
		return filepath.Join(h.Dir, "Library", "Application Support")
	case "windows":
		return h.Or("APPDATA", filepath.Join(h.Dir, "AppData", "Roaming"))
	}
	return h.Or("XDG_CONFIG_HOME", filepath.Join(h.Dir, ".config"))
}

// UsageError is a command line or a configuration that is wrong, with a line of what to
// type instead.
type UsageError struct {
	Err  error
	Hint string
}

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a UsageError.
func Usagef(hint, format string, args ...any) error {
	return &UsageError{fmt.Errorf(format, args...), hint}
}

// KeyError is an error in the value of a key.
type KeyError struct {
	Key string
	At  string // where below it, "" = the text says so or it is the key itself
	Err error
}

func (e *KeyError) Error() string { return e.Err.Error() }
func (e *KeyError) Unwrap() error { return e.Err }

// BadRoot is the error of a root, with the hint that the workspace has for it.
func BadRoot(err error) error {
	hint := ""
	if e, ok := errors.AsType[*workspace.Error](err); ok {
		hint = e.Hint
	}
	return &UsageError{err, hint}
}

// ShellWord quotes a word for a command line to copy, where it needs quoting.
func ShellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,=\\", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
