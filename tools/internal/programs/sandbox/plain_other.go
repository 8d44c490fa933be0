//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// start starts a program where no process holds what programs share.
func (e *Engine) start(ctx context.Context, opt Options, c Command) (*Process, error) {
	if err := e.check(ctx, opt); err != nil {
		return nil, err
	}
	if c.Terminal != nil {
		return nil, errors.New("programs get no terminal on this system")
	}
	if c.Self {
		own, err := os.Executable()
		if err != nil {
			return nil, err
		}
		c.Args = append([]string{own}, c.Args[1:]...)
	}
	cmd, report, err := e.platform.prepare(ctx, opt, c)
	if err != nil {
		return nil, err
	}
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	report.Countless = countless(report.Level, opt.Limits.Or(c.Limits).Or(usual()).Processes) != ""
	tree, err := startTree(cmd, opt.Limits.Or(c.Limits))
	if err != nil {
		return nil, err
	}
	p := &Process{report: report, signal: tree.signal, kill: tree.kill, done: make(chan struct{})}
	if !e.keep(p) {
		p.Kill()
	}
	go func() {
		p.exit = exitOf(cmd.Wait())
		tree.kill() // the processes that it left behind
		tree.release()
		e.forget(p)
		close(p.done)
	}()
	return p, nil
}

func (e *Engine) check(_ context.Context, opt Options) error {
	if opt.Level > best {
		return &UnavailableError{Level: opt.Level, Missing: lacks}
	}
	return nil
}

func (e *Engine) release() error { return e.platform.release() }

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

// uncontained is a program at level none: it can do everything that the user can.
func uncontained(c Command) *exec.Cmd {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = c.Dir.Host(), append(os.Environ(), c.Env...)
	return cmd
}

// countless says why a program may have any number of processes although a limit is set.
func countless(level Level, limit int) string {
	if limit <= 0 || level == None {
		return ""
	}
	return "this system counts none for a program with all that it starts"
}

// unrecorded says why programs are not recorded.
func (e *Engine) unrecorded(context.Context, Options) string {
	return "only Linux reports what programs change"
}
