package sandboxinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// start starts a program. The caller closes the descriptors.
func (z *zygote) start(fds []int) error {
	var c Command
	if err := readFile(fds[0], &c); err != nil {
		return err
	}
	if z.view.Level == Full {
		if err := errors.Join(hideSockets(c.Sockets), z.tree.hideFiles(), z.tree.keepWays(), z.tree.protect(c.Protected)); err != nil {
			return err
		}
	}
	p, done, err := z.plan(c, fds[1], fds[2:])
	if err != nil {
		return err
	}
	defer done()
	if c.Reports {
		return z.startReported(p, fds[1])
	}
	if _, err := p.start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	defer unix.Close(int(p.pidfd))
	return sendEvent(fds[1], Event{Kind: EvProcess}, int(p.pidfd))
}

// plan makes the plan of a program; done closes the descriptors that it opened.
func (z *zygote) plan(c Command, control int, streams []int) (p *plan, done func(), err error) {
	var opened []int
	closeAll := func() {
		for _, fd := range opened {
			unix.Close(fd)
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	p = &plan{
		full: z.view.Level == Full, bare: z.view.Level == None,
		control: uintptr(control), tty: nothing, exe: nothing,
		rules: uintptr(z.rules), filter: &z.filter, children: cstring("/proc/thread-self/children"), empty: cstring(""), keepCaps: z.caps,
	}
	for i, given := range c.Streams {
		p.streams[i] = uintptr(z.null)
		if given && len(streams) > 0 {
			p.streams[i], streams = uintptr(streams[0]), streams[1:]
		}
	}
	var own []grant
	if c.Rows > 0 {
		tty, err := z.terminal(c, control)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, tty)
		p.tty, p.streams = uintptr(tty), [3]uintptr{uintptr(tty), uintptr(tty), uintptr(tty)}
		own = append(own, grant{fd: tty, rights: mayUse})
	}
	if z.view.Level == Landlock && (c.ReadOnly || len(own) > 0) {
		rules, err := ruleset(append(z.grants(c.ReadOnly), own...), false)
		if err != nil {
			return nil, nil, err
		}
		opened = append(opened, rules)
		p.rules = uintptr(rules)
	}
	p.limits = limitsOf(c)
	if p.full {
		p.flags = unix.CLONE_NEWPID | unix.CLONE_NEWNS
		p.mounts = procMounts()
		denied := c.Denied
		if c.ReadOnly {
			denied = append(frozen(z.view.Roots), denied...)
		}
		p.setDenied(denied)
		p.watchCrowd(c.Processes)
		switch {
		case c.Processes <= 0:
		case OwnLimit():
			p.pidMax, p.pidFile = []byte(strconv.Itoa(c.Processes+reservedPIDs)), cstring("/proc/sys/kernel/pid_max")
			p.pidLast, p.lastPID = []byte(strconv.Itoa(reservedPIDs)), cstring("/proc/sys/kernel/ns_last_pid")
		default: // counted in the user namespace, except for root
			p.limits = append(p.limits, limit{unix.RLIMIT_NPROC, unix.Rlimit{Cur: uint64(c.Processes), Max: uint64(c.Processes)}})
		}
	}
	p.dir = cstring(c.Dir)
	switch {
	case c.Probe:
		p.exe = uintptr(z.exe)
		c.Env = append(c.Env, Variable+"="+roleProbe)
	case c.Self:
		p.exe = uintptr(z.exe)
	default:
		path, err := find(c)
		if err != nil {
			return nil, nil, err
		}
		p.path = cstring(path)
	}
	p.argv, p.envp = cstrings(c.Args), cstrings(c.Env)
	return p, closeAll, nil
}

// reservedPIDs is how many of the first PIDs the kernel gives only once. A namespace with a
// higher limit has the PIDs between.
const reservedPIDs = 300

// OwnLimit reports whether each PID namespace has its own limit (Linux 6.14 and later). In
// earlier kernels pid_max is the limit of the machine.
func OwnLimit() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	var major, minor int
	if n, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); n != 2 || err != nil {
		return false
	}
	return major > 6 || major == 6 && minor >= 14
}

func limitsOf(c Command) []limit {
	limits := []limit{{unix.RLIMIT_CORE, unix.Rlimit{}}}
	for _, l := range []struct {
		resource int
		value    uint64
	}{
		// Writable data and not address space: runtimes reserve far more address space than
		// they ever use.
		{unix.RLIMIT_DATA, uint64(max(c.Memory, 0))},
		{unix.RLIMIT_FSIZE, uint64(max(c.FileSize, 0))},
		{unix.RLIMIT_NOFILE, uint64(max(c.Files, 0))},
	} {
		var now unix.Rlimit
		if l.value == 0 || unix.Getrlimit(l.resource, &now) != nil {
			continue
		}
		limits = append(limits, limit{uintptr(l.resource), unix.Rlimit{Cur: min(l.value, now.Max), Max: min(l.value, now.Max)}})
	}
	return limits
}

// terminal makes a terminal and sends its other end.
func (z *zygote) terminal(c Command, control int) (int, error) {
	master, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("make a terminal: %w", err)
	}
	defer unix.Close(master)
	if err := unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, fmt.Errorf("make a terminal: %w", err)
	}
	if err := unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &unix.Winsize{Row: c.Rows, Col: c.Columns}); err != nil {
		return -1, fmt.Errorf("make a terminal: %w", err)
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return -1, fmt.Errorf("make a terminal: %w", errno)
	}
	if err := sendEvent(control, Event{Kind: EvTerminal}, master); err != nil {
		unix.Close(int(fd))
		return -1, err
	}
	return int(fd), nil
}

// errNoProgram says that the program is not on the PATH.
var errNoProgram = errors.New("there is no such program")

// find finds the program on the PATH that it will have, in the view of programs.
func find(c Command) (string, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return "", fmt.Errorf("no program is named: %w", unix.EINVAL)
	}
	name := c.Args[0]
	if strings.Contains(name, "/") {
		return name, nil // relative to its working directory
	}
	for _, v := range c.Env {
		list, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return path, nil
			}
		}
	}
	return "", errNoProgram
}

// procMounts returns the mounts of /proc for a PID namespace. Settings of the whole machine
// are read-only; files about its memory and keys are hidden.
func procMounts() []mount {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	list := []mount{{source: cstring("proc"), target: cstring("/proc"), kind: cstring("proc"), flags: flags}}
	for _, name := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"} {
		at := cstring(name)
		list = append(list, mount{source: at, target: at, flags: unix.MS_BIND, optional: true},
			mount{target: at, flags: unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY | flags, optional: true})
	}
	null := cstring("/dev/null")
	for _, name := range []string{"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kmsg", "/proc/timer_list", "/proc/sched_debug", "/proc/kallsyms", "/proc/kpagecount", "/proc/kpageflags"} {
		list = append(list, mount{source: null, target: cstring(name), flags: unix.MS_BIND, optional: true})
	}
	return list
}

// cstring returns a NUL-terminated text for the kernel, without other NULs.
func cstring(s string) *byte {
	b, err := syscall.BytePtrFromString(strings.ReplaceAll(s, "\x00", ""))
	if err != nil {
		panic(err)
	}
	return b
}

func cstrings(list []string) **byte {
	all := make([]*byte, 0, len(list)+1)
	for _, s := range list {
		all = append(all, cstring(s))
	}
	all = append(all, nil)
	return &all[0]
}
