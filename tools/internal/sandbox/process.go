package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Process is a program that was started. Its methods may be called by several
// goroutines.
type Process struct {
	report   Report
	terminal *os.File
	signal   func(os.Signal) error
	kill     func()
	done     chan struct{}
	exit     Exit
}

// Report says what contains the process.
func (p *Process) Report() Report { return p.report }

// Terminal is the other end of its terminal, nil without one. It is the caller's to
// close.
func (p *Process) Terminal() *os.File { return p.terminal }

// Signal sends a signal to the program and what it has in its process group.
func (p *Process) Signal(s os.Signal) error { return p.signal(s) }

// Kill ends the program and all that it has started. It does not wait.
func (p *Process) Kill() { p.kill() }

// Done is closed when the program has ended, and with it all that it had started.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how it ended. It is valid once Done is closed.
func (p *Process) Exit() Exit { return p.exit }

func (e *Engine) startPlain(_ context.Context, c Command) (*Process, error) {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
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
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, ErrClosed
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
	e.alive[p] = struct{}{}
	go func() {
		p.exit = exitOf(cmd.Wait())
		e.mu.Lock()
		delete(e.alive, p)
		e.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

func exitOf(err error) Exit {
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return Exit{Err: err}
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: status.Signal().String()}
	}
	return Exit{Code: ended.ExitCode()}
}
