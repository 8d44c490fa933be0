package sandbox

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/egress"
	"toolcrib/tools/internal/programs/sandbox/internal/sandboxinit"
)

// best is the default level.
const best = Full

func (e *Engine) start(ctx context.Context, opt Options, c Command) (*Process, error) {
	for try := 0; ; try++ {
		z, err := e.zygote(ctx, opt)
		if err != nil {
			return nil, err
		}
		p, err := z.start(ctx, opt, c)
		if err != nil {
			e.leave(z) // otherwise the program does it at its end
		}
		if try == 0 && errors.Is(err, errZygoteGone) {
			e.drop(z) // it was killed; try a new one
			continue
		}
		return p, err
	}
}

func (e *Engine) check(ctx context.Context, opt Options) error {
	z, err := e.zygote(ctx, opt)
	if err == nil {
		e.leave(z)
	}
	return err
}

// unrecorded says why this system does not report what programs change; "" = it does.
func (e *Engine) unrecorded(ctx context.Context, opt Options) string {
	z, err := e.zygote(ctx, opt)
	if err != nil {
		return err.Error()
	}
	defer e.leave(z)
	switch z.unreported {
	case 0:
		return ""
	case unix.EINVAL:
		return "Linux reports what programs change from version 5.19 on"
	case unix.EBUSY:
		return "another program, such as a container's, already has the reports of this server's programs"
	}
	return "the system does not report what programs change: " + z.unreported.Error()
}

func (z *zygote) records(opt Options) bool { return !opt.Unrecorded && z.unreported == 0 }

var errZygoteGone = errors.New("the process that holds the sandbox has ended")

// start starts a program in the view of the zygote. opt has the variables and limits; it may
// be newer than the zygote's options.
func (z *zygote) start(ctx context.Context, opt Options, c Command) (*Process, error) {
	denied, described, err := z.denied(ctx)
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
	pass, err := z.pass(ctx, c)
	if err != nil {
		unix.Close(theirs)
		return nil, errors.Join(err, control.Close())
	}
	wire := sandboxinit.Command{Args: c.Args, Env: z.environ(opt.Env, append(z.variables(pass), c.Env...)), Dir: c.Dir.Host(), Streams: given, Self: c.Self}
	wire.Sockets = z.newSockets()
	wire.Denied, wire.ReadOnly = denied, c.ReadOnly
	frozen := c.ReadOnly && z.opt.Level == Full // then it changes nothing that could be undone
	wire.Reports = !frozen && z.records(opt) && tools.Session(ctx).Workspace.StateBase() != ""
	limits := opt.Limits.Or(c.Limits).Or(usual())
	wire.Memory, wire.FileSize, wire.Files, wire.Processes = limits.Memory, limits.FileSize, limits.Files, limits.Processes
	if c.Terminal != nil {
		wire.Rows, wire.Columns = max(c.Terminal.Rows, 1), max(c.Terminal.Columns, 1)
	}
	p, err := z.run(ctx, wire, c.Tool, pass, true, control, theirs, streams)
	if err != nil {
		pass.Close()
		return nil, err
	}
	if z.opt.Level == Full {
		p.report.Denied = described
	} else {
		p.report.NotDenied = described
	}
	return p, nil
}

// run has the zygote start a program, and waits until it runs. It closes theirs, and control
// if there is an error. With user, the program reports what earlier ones have touched, and its end
// counts one user of the zygote less.
func (z *zygote) run(ctx context.Context, c sandboxinit.Command, tool string, pass *egress.Pass, user bool, control *os.File, theirs int, streams []int) (*Process, error) {
	compared := z.protect(&c)
	err := z.command(c, theirs, streams)
	unix.Close(theirs)
	if err != nil {
		return nil, errors.Join(err, control.Close())
	}
	z.starved.look(time.Now())
	r := &running{zygote: z, control: control, pidfd: -1, session: tools.Session(ctx), tool: tool, pass: pass, compared: compared, user: user}
	r.process = &Process{
		report: Report{Level: z.opt.Level, Network: z.network(pass), Limits: binding(z.opt.Level, c), Countless: countless(z.opt.Level, c.Processes) != ""},
		signal: r.signal, kill: r.kill, touched: r.touched, done: make(chan struct{}),
	}
	if z.opt.Level == Full {
		r.process.ports, r.process.dial = r.ports, z.dial
	}
	stop := context.AfterFunc(ctx, func() { _ = control.SetReadDeadline(time.Unix(1, 0)) })
	for {
		e, fd, err := r.next()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = context.Cause(ctx)
		}
		if errors.Is(err, io.EOF) {
			err = errZygoteGone
		}
		if err == nil {
			err = z.refusal(c, e)
		}
		if err != nil {
			r.drop(fd)
			z.abandoned.Go(r.abandon)
			return nil, err
		}
		r.take(e, fd)
		if e.Kind == sandboxinit.EvStarted {
			break
		}
	}
	if !stop() {
		_ = control.SetReadDeadline(time.Time{}) // ctx ended after the start
	}
	if !z.engine.keep(r.process) {
		r.kill()
	}
	if user {
		r.process.report.Earlier = z.protection.tell() // before wait, which adds what this one touches
	}
	go r.wait()
	return r.process, nil
}

// protect adds to c the protected paths that can be mounted read-only, and returns the
// comparison of the other ones.
func (z *zygote) protect(c *sandboxinit.Command) *comparison {
	if z.opt.Level == Full {
		var watched map[string]bool
		c.Protected, watched = z.protection.before(c.Dir)
		return newComparison(z.view.Roots, watched)
	}
	watched := map[string]bool{}
	for _, path := range z.protection.tops() {
		watched[path] = false
	}
	return newComparison(z.view.Roots, watched)
}

// refusal returns the error of an event that says that a program was not started.
func (z *zygote) refusal(c sandboxinit.Command, e sandboxinit.Event) error {
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
		return &UnavailableError{Level: z.opt.Level, Missing: "it lacks " + stages[e.A], Err: errno}
	}
	return nil
}

var stages = map[uint32]string{
	sandboxinit.StageFork: "a process", sandboxinit.StageMount: "/proc", sandboxinit.StageDenied: "the restrictions of denied paths", sandboxinit.StageSession: "a session", sandboxinit.StageStreams: "its streams",
	sandboxinit.StageLimits: "limits", sandboxinit.StageCapabilities: "giving capabilities up", sandboxinit.StageRules: "landlock", sandboxinit.StageFilter: "seccomp",
}

// environ returns the environment of a program. names are further variables of the server
// that it gets. Its own variables come last and override the others.
func (z *zygote) environ(names, own []string) []string {
	if z.opt.Level == None {
		return merged(withoutOurs(os.Environ()), own)
	}
	env := []string{"PATH=" + absolute(os.Getenv("PATH")), "HOME=" + z.home}
	if z.opt.Level == Landlock {
		env = append(env, "TMPDIR="+filepath.Join(z.view.Temp.Path, "tmp"))
	}
	for _, name := range append(passed(), names...) {
		value, ok := os.LookupEnv(name)
		if !ok || strings.Contains(value, "@") && !slices.Contains(names, name) { // the user of a mirror, with a password
			continue
		}
		env = append(env, name+"="+value)
	}
	return merged(env, own)
}

// withoutOurs removes the server's settings, which contain secrets.
func withoutOurs(env []string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, "TOOLCRIB_") })
}

// merged joins lists of KEY=VALUE. The last value of a key counts.
func merged(env, own []string) []string {
	at := map[string]int{}
	var list []string
	for _, v := range slices.Concat(env, own) {
		name, _, _ := strings.Cut(v, "=")
		if i, ok := at[name]; ok {
			list[i] = v
			continue
		}
		at[name] = len(list)
		list = append(list, v)
	}
	return list
}

// absolute removes relative directories from a PATH.
func absolute(path string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) })
	if len(dirs) == 0 {
		return "/usr/local/bin:/usr/bin:/bin"
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}
