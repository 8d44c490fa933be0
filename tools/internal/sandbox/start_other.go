//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// best is the level that this system has.
const best = None

// platform is what an engine has of the system.
type platform struct{}

func (e *Engine) start(_ context.Context, opt Options, c Command) (*Process, error) {
	if opt.Level > best {
		return nil, &UnavailableError{Level: opt.Level, Missing: "this system has no namespaces and no Landlock"}
	}
	name := c.Args[0]
	if c.Self {
		var err error
		if name, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(name, c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir.Host(), append(os.Environ(), c.Env...)
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{
		report: Report{Level: None, Network: "on"},
		signal: cmd.Process.Signal,
		kill:   func() { _ = cmd.Process.Kill() },
		done:   make(chan struct{}),
	}
	if !e.keep(p) {
		p.Kill()
	}
	go func() {
		p.exit = exitOf(cmd.Wait())
		e.forget(p)
		close(p.done)
	}()
	return p, nil
}

func (e *Engine) check(_ context.Context, opt Options) error {
	if opt.Level > best {
		return &UnavailableError{Level: opt.Level, Missing: "this system has no namespaces and no Landlock"}
	}
	return nil
}

func (e *Engine) release() error { return nil }

func (e *Engine) reach(Options) {}

func exitOf(err error) Exit {
	if err == nil {
		return Exit{}
	}
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return Exit{Err: err}
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: status.Signal().String()}
	}
	return Exit{Code: ended.ExitCode()}
}
