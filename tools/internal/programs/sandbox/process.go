package sandbox

import (
	"os"
)

// Process is a program that was started. Its methods may be called by several
// goroutines.
type Process struct {
	report   Report
	terminal *os.File
	signal   func(os.Signal) error
	kill     func()
	touched  func() Touched // nil where nobody looks
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

// Touched says what has become of protected places since the start, or since it was last
// asked.
func (p *Process) Touched() Touched {
	if p.touched == nil {
		return Touched{}
	}
	return p.touched()
}

// Done is closed when the program has ended, and with it all that it had started.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how it ended. It is valid once Done is closed.
func (p *Process) Exit() Exit { return p.exit }
