package sandbox

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/internal/programs/observer"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
	"toolcrib/workspace/recorder"
)

// running is a program with its init.
type running struct {
	zygote   *zygote
	control  *os.File // the socket of the init
	process  *Process
	pass     *egress.Pass       // nil = there is no gate
	session  *tools.SessionInfo // that started it
	tool     string
	compared *comparison
	observer *observer.Observer // nil = nothing is recorded
	user     bool               // counted as a user of the zygote

	mu    sync.Mutex
	pidfd int // of the init; -1 = not known, or closed
	ended sandboxinit.Event
}

// next waits for an event.
func (r *running) next() (e sandboxinit.Event, fd int, err error) {
	conn, err := r.control.SyscallConn()
	if err != nil {
		return e, -1, err
	}
	fd = -1
	waited := conn.Read(func(socket uintptr) bool {
		e, fd, err = sandboxinit.Receive(int(socket))
		return err != unix.EAGAIN
	})
	if waited != nil {
		err = waited
	}
	return e, fd, err
}

// take keeps the descriptor that came with an event.
func (r *running) take(e sandboxinit.Event, fd int) {
	switch {
	case e.Kind == sandboxinit.EvReports:
		r.observe(fd)
	case fd < 0:
	case e.Kind == sandboxinit.EvProcess:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.pidfd = fd
	case e.Kind == sandboxinit.EvTerminal && r.process.terminal == nil:
		if err := unix.SetNonblock(fd, true); err != nil {
			r.drop(fd)
			return
		}
		r.process.terminal = os.NewFile(uintptr(fd), "terminal")
	default:
		r.drop(fd)
	}
}

// observe starts the recording of the program's changes.
func (r *running) observe(fd int) {
	rec := recorder.New(r.session.Workspace)
	rec.Begin(recorder.Label{Tool: r.tool, Principal: r.session.Principal, Client: r.session.Client.Name, Call: r.session.Call, Group: r.session.Group})
	o, err := observer.Start(fd, rec)
	if err != nil {
		r.zygote.opt.Log.Warn("a program is ended, since nobody can answer the reports of its changes", "err", err)
		r.kill()
		return
	}
	r.observer, r.process.recorder = o, rec
}

// unobserve ends the recording, if there is one.
func (r *running) unobserve() {
	r.observer.Close()
	if r.process.recorder != nil {
		r.process.recorder.Close()
	}
}

// touched returns what has happened to protected paths.
func (r *running) touched() Touched {
	t := r.compared.touched()
	t.recorded = r.process.recorder != nil
	return t
}

func (r *running) drop(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}

func (r *running) signal(s os.Signal) error {
	number, ok := s.(syscall.Signal)
	if !ok || number < 0 || number > 64 {
		return fmt.Errorf("%v is not a signal of this system", s)
	}
	select {
	case <-r.process.done:
		return os.ErrProcessDone
	default:
		return r.say(sandboxinit.MsgSignal, byte(number))
	}
}

func (r *running) say(what, number byte) error {
	_, err := r.control.Write([]byte{what, number})
	return err
}

// patience is how long an init may take to end everything before it is killed.
const patience = 2 * time.Second

func (r *running) kill() {
	if r.say(sandboxinit.MsgKill, 0) != nil || r.zygote.opt.Level != Full {
		return // it has ended; without a PID namespace, killing it would leave the others
	}
	time.AfterFunc(patience, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.pidfd >= 0 {
			_ = unix.PidfdSendSignal(r.pidfd, unix.SIGKILL, nil, 0)
		}
	})
}

// wait waits for the end of the program and cleans up.
func (r *running) wait() {
	known := false
	for {
		e, fd, err := r.next()
		if err != nil {
			break
		}
		r.take(e, fd)
		if e.Kind == sandboxinit.EvEnded {
			r.ended, known = e, true
			break
		}
	}
	if !known {
		r.gone()
	}
	r.process.exit = exitOf(r.ended)
	r.process.exit.Refused = r.pass.Told()
	r.process.exit.Starved = r.process.exit.Code == 128+int(unix.SIGKILL) && r.zygote.starved.since()
	r.process.exit.Touched = r.zygote.protection.pending(r.touched())
	r.unobserve()
	r.pass.Close()
	r.zygote.engine.forget(r.process)
	if r.user {
		r.zygote.engine.leave(r.zygote)
	}
	if err := r.close(); err != nil {
		r.zygote.opt.Log.Debug("the end of a program", "err", err)
	}
	close(r.process.done)
}

// abandon ends a program whose start has failed or was cancelled. Until its init has ended, its
// reports are answered: the init makes some itself, and would wait for ever.
func (r *running) abandon() {
	r.kill()
	for {
		e, fd, err := r.next()
		if errors.Is(err, os.ErrDeadlineExceeded) { // of the call
			_ = r.control.SetReadDeadline(time.Time{})
			continue
		}
		if err != nil || e.Kind == sandboxinit.EvEnded {
			break
		}
		r.take(e, fd)
	}
	r.unobserve()
	if err := r.close(); err != nil {
		r.zygote.opt.Log.Debug("the end of a program that was not started", "err", err)
	}
}

// gone waits until a killed init, and with it its namespace, has ended.
func (r *running) gone() {
	r.mu.Lock()
	fd := r.pidfd
	r.mu.Unlock()
	for fd >= 0 {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if err != unix.EINTR {
			break
		}
	}
	r.ended = sandboxinit.Event{Kind: sandboxinit.EvEnded, A: uint32(unix.SIGKILL)}
}

func (r *running) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.control.Close()
	if r.pidfd >= 0 {
		err = errors.Join(err, unix.Close(r.pidfd))
		r.pidfd = -1
	}
	return err
}

func exitOf(e sandboxinit.Event) Exit {
	exit := Exit{Left: int(e.B), Memory: int64(e.Memory) << 10, CPU: time.Duration(e.CPU) * time.Microsecond}
	status := unix.WaitStatus(e.A)
	if status.Signaled() {
		exit.Code, exit.Signal = 128+int(status.Signal()), unix.SignalName(status.Signal())
		return exit
	}
	exit.Code = status.ExitStatus()
	return exit
}
