package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
)

// Need is a condition that the machine or the client must meet before a tool is offered.
// All fields that are set must be met.
type Need struct {
	Binaries []string // programs; at least one must be on PATH
	Env      string   // an environment variable that must not be empty
	OS       []string // GOOS values; one must be this machine's
	Client   Ability  // an ability that the client of each call must have
	Setting  string   // a setting that must have a value, by a name that the category knows
	How      string   // how to meet the need, for the operator of the server
}

// Host describes a machine.
type Host struct {
	OS       string
	LookPath func(file string) (string, error)
	Getenv   func(key string) string
	// Has reports whether a setting has a value; nil = none has.
	Has func(setting string) bool
}

// Missing names the first need of the tool that the machine does not meet, and how to meet
// it; "" = all are met.
func (t Tool) Missing(h Host) string {
	for _, n := range t.Needs {
		if len(n.OS) > 0 && !slices.Contains(n.OS, h.OS) {
			return fmt.Sprintf("runs on %s only: %s", strings.Join(n.OS, ", "), n.How)
		}
		if n.Env != "" && h.Getenv(n.Env) == "" {
			return fmt.Sprintf("%s is not set: %s", n.Env, n.How)
		}
		if n.Setting != "" && (h.Has == nil || !h.Has(n.Setting)) {
			return "not configured: " + n.How
		}
		why := ""
		if len(n.Binaries) > 0 && !slices.ContainsFunc(n.Binaries, func(b string) bool {
			_, err := h.LookPath(b)
			if failed, ok := errors.AsType[*exec.Error](err); ok && !errors.Is(err, exec.ErrNotFound) {
				cause := failed.Err
				if path, ok := errors.AsType[*fs.PathError](cause); ok {
					cause = path.Err
				}
				why = fmt.Sprintf(" (%s: %v)", failed.Name, cause)
			}
			return err == nil
		}) {
			return fmt.Sprintf("no %s on PATH%s: %s", strings.Join(n.Binaries, " or "), why, n.How)
		}
	}
	return ""
}

// Lacks returns the abilities that the tool needs and the client does not have.
func (t Tool) Lacks(c Client) []Ability {
	var lacking []Ability
	for _, n := range t.Needs {
		if n.Client != "" && !c.Can(n.Client) && !slices.Contains(lacking, n.Client) {
			lacking = append(lacking, n.Client)
		}
	}
	return lacking
}

// AbilityError is the cause of an [Unsupported] error: the client lacks abilities.
type AbilityError struct{ Lacking []Ability }

func (e *AbilityError) Error() string { return fmt.Sprintf("the client lacks %q", e.Lacking) }
