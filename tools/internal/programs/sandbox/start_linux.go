package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// best is the level that programs are contained at by default.
const best = Full

func (e *Engine) start(ctx context.Context, opt Options, c Command) (*Process, error) {
	for try := 0; ; try++ {
		h, err := e.holder(ctx, opt)
		if err != nil {
			return nil, err
		}
		p, err := h.start(ctx, opt, c)
		if err != nil {
			e.leave(h) // else the program does
		}
		if try == 0 && errors.Is(err, errHolderGone) {
			e.drop(h) // it was killed; the next one is like it
			continue
		}
		return p, err
	}
}

func (e *Engine) check(ctx context.Context, opt Options) error {
	h, err := e.holder(ctx, opt)
	if err == nil {
		e.leave(h)
	}
	return err
}

var errHolderGone = errors.New("the process that holds the sandbox has ended")

// start starts a program in the view of the holder. Variables and limits are those of opt:
// they may be newer than the holder.
func (h *holder) start(ctx context.Context, opt Options, c Command) (*Process, error) {
	covers, closed, err := h.covers(ctx)
	if err != nil {
		return nil, err
	}
	control, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	streams, given := []int{}, [3]bool{}
	for i, f := range []*os.File{c.Stdin, c.Stdout, c.Stderr} {
		if f != nil && c.Terminal == nil {
			streams, given[i] = append(streams, int(f.Fd())), true
		}
	}
	pass, err := h.pass(c)
	if err != nil {
		unix.Close(theirs)
		return nil, errors.Join(err, control.Close())
	}
	wire := sandboxinit.Command{Args: c.Args, Env: h.environ(opt.Env, append(h.variables(pass), c.Env...)), Dir: c.Dir.Host(), Streams: given, Self: c.Self}
	wire.Sockets = h.newSockets()
	wire.Covers = covers
	limits := opt.Limits.Or(c.Limits).Or(usual())
	wire.Memory, wire.FileSize, wire.Files, wire.Processes = limits.Memory, limits.FileSize, limits.Files, limits.Processes
	if c.Terminal != nil {
		wire.Rows, wire.Columns = max(c.Terminal.Rows, 1), max(c.Terminal.Columns, 1)
	}
	p, err := h.run(ctx, wire, pass, true, control, theirs, streams)
	if err != nil {
		pass.Close()
		return nil, err
	}
	p.report.Earlier = h.protection.tell()
	if h.opt.Level == Full {
		p.report.Closed = closed
	} else {
		p.report.Open = closed
	}
	return p, nil
}

// run has the holder start a program, and waits until it runs. It closes the sockets of
// the init, where there is an error at once. A user leaves the holder when it has ended.
func (h *holder) run(ctx context.Context, c sandboxinit.Command, pass *egress.Pass, user bool, control *os.File, theirs int, streams []int) (*Process, error) {
	places := h.protect(&c)
	err := h.command(c, theirs, streams)
	unix.Close(theirs)
	if err != nil {
		return nil, errors.Join(err, control.Close())
	}
	h.starved.look(time.Now())
	r := &running{holder: h, control: control, pidfd: -1, pass: pass, places: places, user: user}
	r.process = &Process{
		report: Report{Level: h.opt.Level, Network: h.network(pass), Limits: binding(h.opt.Level, c), Countless: countless(h.opt.Level, c.Processes) != ""},
		signal: r.signal, kill: r.kill, touched: places.touched, done: make(chan struct{}),
	}
	stop := context.AfterFunc(ctx, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	for {
		e, fd, err := r.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			err = errHolderGone
		}
		if err == nil {
			err = h.refusal(c, e)
		}
		if err != nil {
			r.drop(fd)
			r.kill()
			return nil, errors.Join(err, r.close())
		}
		r.take(e, fd)
		if e.Kind == sandboxinit.EvStarted {
			break
		}
	}
	if !stop() {
		_ = control.SetReadDeadline(time.Time{}) // the end of the start came too late for it
	}
	if !h.engine.keep(r.process) {
		r.kill()
	}
	go r.wait()
	return r.process, nil
}

// protect adds what a program is kept from changing, and returns what to compare after it.
func (h *holder) protect(c *sandboxinit.Command) *places {
	if h.opt.Level == Full {
		var watched map[string]bool
		c.Places, watched = h.protection.before(c.Dir)
		return newPlaces(h.view.Roots, watched)
	}
	watched := map[string]bool{}
	for _, path := range h.protection.tops() {
		watched[path] = false
	}
	return newPlaces(h.view.Roots, watched)
}

// refusal returns why a program was not started.
func (h *holder) refusal(c sandboxinit.Command, e sandboxinit.Event) error {
	switch e.Kind {
	case sandboxinit.EvError:
		return errors.New(e.Text)
	case sandboxinit.EvFailed:
		errno := syscall.Errno(e.B)
		switch e.A {
		case sandboxinit.StageExec:
			return &fs.PathError{Op: "run", Path: c.Args[0], Err: errno}
		case sandboxinit.StageDirectory:
			if errno == unix.EACCES {
				return &tools.Error{
					Code: tools.Denied, Msg: c.Dir + " cannot be entered: its owner lacks the rights", Err: errno,
					Hint: "tell the user to give them (chmod u+rwx), or run the command in another directory",
				}
			}
			return &fs.PathError{Op: "enter", Path: c.Dir, Err: errno}
		}
		return &UnavailableError{Level: h.opt.Level, Missing: "it lacks " + stages[e.A], Err: errno}
	}
	return nil
}

var stages = map[uint32]string{
	sandboxinit.StageFork: "a process", sandboxinit.StageMount: "/proc", sandboxinit.StageCovers: "what keeps from the places that the policy denies", sandboxinit.StageSession: "a session", sandboxinit.StageStreams: "its streams",
	sandboxinit.StageLimits: "limits", sandboxinit.StageCapabilities: "giving capabilities up", sandboxinit.StageRules: "landlock", sandboxinit.StageFilter: "seccomp",
}
