package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolcrib/server/run"
)

// at says which key of a hook an error is about.
func at(key string, err error) error { return fmt.Errorf("%s: %w", key, err) }

// compile reads hook i.
func compile(i int, spec Spec, opt Options) (run.Hooks, error) {
	place := fmt.Sprintf("hooks[%d]", i+1)
	name := place
	if spec.Name != "" {
		name, place = spec.Name, place+" ("+spec.Name+")"
	}
	hooks, err := spec.compile(name, opt)
	if err != nil {
		return run.Hooks{}, fmt.Errorf("%s: %w", place, err)
	}
	return hooks, nil
}

func (spec Spec) compile(name string, opt Options) (run.Hooks, error) {
	f, err := newFilter(spec, opt.Tools)
	if err != nil {
		return run.Hooks{}, err
	}
	if err := spec.alone(); err != nil {
		return run.Hooks{}, err
	}
	if spec.Builtin != "" {
		return spec.builtin(name, f, opt)
	}
	if events := []string{pre, post, erred, skip}; !slices.Contains(events, spec.Event) {
		return run.Hooks{}, at("event", noSuch(spec.Event, events))
	}
	h := &hook{filter: f, name: name, timeout: DefaultTimeout, slots: make(chan struct{}, maxAtOnce), log: opt.Log}
	if spec.Timeout != "" {
		if h.timeout, err = time.ParseDuration(spec.Timeout); err != nil || h.timeout <= 0 {
			return run.Hooks{}, at("timeout", fmt.Errorf("%q is no time; give one such as 500ms or 10s", spec.Timeout))
		}
	}
	if spec.URL != "" {
		if h.via, err = newEndpoint(spec.URL, spec.Header); err != nil {
			return run.Hooks{}, at("url", err)
		}
		return h.on(spec.Event), nil
	}
	program := spec.Command[0]
	if !filepath.IsAbs(program) && strings.ContainsAny(program, `/\`) {
		return run.Hooks{}, at("command", fmt.Errorf("%q is relative; give an absolute path, or a name on PATH", program))
	}
	file, err := opt.LookPath(program)
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return run.Hooks{}, at("command", fmt.Errorf("%q cannot be run: %s", program, unrunnable(err)))
	}
	h.via = &command{file, spec.Command[1:], environment(opt.Environ, spec.Env), opt.Log}
	return h.on(spec.Event), nil
}

// unrunnable says why a program was not found.
func unrunnable(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "no program on PATH has that name"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "the file is not executable"
	}
	return err.Error()
}

// alone refuses a Spec that is not exactly one kind of hook, or that has keys of
// another kind.
func (spec Spec) alone() error {
	kinds := 0
	for _, given := range []bool{len(spec.Command) > 0, spec.URL != "", spec.Builtin != ""} {
		if given {
			kinds++
		}
	}
	if kinds != 1 {
		return errors.New("give exactly one of command, url and builtin")
	}
	for _, k := range []struct {
		key         string
		given, fits bool
		belongs     string
	}{
		{"env", len(spec.Env) > 0, len(spec.Command) > 0, "command"},
		{"header", len(spec.Header) > 0, spec.URL != "", "url"},
		{"timeout", spec.Timeout != "", spec.Builtin == "", "command or url"},
		{"question", spec.Question != "", spec.Builtin == confirm, "builtin confirm"},
		{"rewrite", len(spec.Rewrite) > 0, spec.Builtin == rewrite, "builtin rewrite"},
	} {
		if k.given && !k.fits {
			return at(k.key, fmt.Errorf("it goes with %s alone", k.belongs))
		}
	}
	return nil
}
