package sandboxinit

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// restriction is a Restriction for the kernel.
type restriction struct {
	path     *byte
	source   *byte // mounted over it; nil = itself
	readOnly bool
}

const (
	graceSteps = 25
	graceStep  = 2_000_000  // ns in which processes left behind may end by themselves
	killStep   = 10_000_000 // ns
)

// start forks the init and returns its id. The caller is locked to the first thread of
// the process, at whose end the init would be killed.
func (p *plan) start() (pid int, err error) {
	p.caps.Version = unix.LINUX_CAPABILITY_VERSION_3
	var all, old uint64 = ^uint64(0), 0
	// A signal would run a handler of the runtime in the child.
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	id, errno := p.fork(&all, &old)
	if errno != 0 {
		return 0, errno
	}
	return int(id), nil
}

//go:norace
//go:noinline
//go:nosplit
func (p *plan) fork(all, old *uint64) (uintptr, syscall.Errno) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(all)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	id, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, p.flags|unix.CLONE_PIDFD|uintptr(unix.SIGCHLD), 0, uintptr(unsafe.Pointer(&p.pidfd)), 0, 0, 0)
	if errno == 0 && id == 0 {
		p.init()
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(old)), 0, 8, 0, 0)
	return id, errno
}

// init never returns.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) init() {
	if stage, errno := p.prepare(); errno != 0 {
		p.fail(stage, errno)
	}
	p.mask = 1 << (uint(unix.SIGCHLD) - 1)
	fd, _, errno := syscall.RawSyscall6(unix.SYS_SIGNALFD4, nothing, uintptr(unsafe.Pointer(&p.mask)), 8, unix.SFD_CLOEXEC|unix.SFD_NONBLOCK, 0, 0)
	if errno != 0 {
		p.fail(StageFork, errno)
	}
	p.sigfd = fd
	if _, _, errno = syscall.RawSyscall(unix.SYS_PIPE2, uintptr(unsafe.Pointer(&p.pipe)), unix.O_CLOEXEC, 0); errno != 0 {
		p.fail(StageFork, errno)
	}
	id, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		p.fail(StageFork, errno)
	}
	if id == 0 {
		p.program()
	}
	p.child = id
	syscall.RawSyscall(unix.SYS_DUP3, p.control, 0, 0)
	syscall.RawSyscall(unix.SYS_DUP3, p.sigfd, 1, 0)
	syscall.RawSyscall(unix.SYS_DUP3, uintptr(p.pipe[0]), 2, 0)
	syscall.RawSyscall(unix.SYS_CLOSE_RANGE, 3, 0xffffffff, 0)
	p.control, p.sigfd = 0, 1
	n, _, _ := syscall.RawSyscall(unix.SYS_READ, 2, uintptr(unsafe.Pointer(&p.failure)), 8)
	syscall.RawSyscall(unix.SYS_CLOSE, 2, 0, 0)
	if n == 8 {
		p.fail(p.failure[0], syscall.Errno(p.failure[1]))
	}
	p.send(EvStarted, 0, 0)
	p.watch()
	p.finish()
	p.send(EvEnded, p.result, p.left)
	p.exit(0)
}

// prepare makes the mounts of this program alone and drops all capabilities. Like every
// function that the init calls it returns an errno, so that the stack does not grow.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) prepare() (stage uint32, errno syscall.Errno) {
	if !p.full {
		syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0)
		syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
		return 0, 0
	}
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	for i := range p.mounts {
		m := &p.mounts[i]
		_, _, errno = syscall.RawSyscall6(unix.SYS_MOUNT, uintptr(unsafe.Pointer(m.source)), uintptr(unsafe.Pointer(m.target)), uintptr(unsafe.Pointer(m.kind)), m.flags, 0, 0)
		if errno != 0 && (!m.optional || errno != unix.ENOENT) {
			return StageMount, errno
		}
		if i == 0 && len(p.pidMax) > 0 {
			if errno = p.limitProcesses(); errno != 0 {
				return StageLimits, errno
			}
		}
	}
	if errno = p.deny(); errno != 0 {
		return StageDenied, errno
	}
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_DUMPABLE, 0, 0, 0, 0, 0)
	return StageCapabilities, p.dropCapabilities()
}

// deny mounts over the denied paths. It skips a path that does not exist any more or has
// become a link.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) deny() (errno syscall.Errno) {
	for i := range p.denied {
		c := &p.denied[i]
		var fd, part uintptr
		fd, _, errno = syscall.RawSyscall6(unix.SYS_OPENAT2, nothing, uintptr(unsafe.Pointer(c.path)), uintptr(unsafe.Pointer(&p.how)), unsafe.Sizeof(p.how), 0, 0)
		if errno == unix.ENOENT || errno == unix.ELOOP || errno == unix.ENOTDIR {
			continue
		}
		if errno != 0 {
			return errno
		}
		if c.source != nil {
			part, _, errno = syscall.RawSyscall(unix.SYS_OPEN_TREE, nothing, uintptr(unsafe.Pointer(c.source)), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		} else {
			part, _, errno = syscall.RawSyscall(unix.SYS_OPEN_TREE, fd, uintptr(unsafe.Pointer(p.empty)), unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		}
		if errno == 0 && c.readOnly {
			_, _, errno = syscall.RawSyscall6(unix.SYS_MOUNT_SETATTR, part, uintptr(unsafe.Pointer(p.empty)), unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, uintptr(unsafe.Pointer(&p.frozen)), unsafe.Sizeof(p.frozen), 0)
		}
		if errno == 0 {
			_, _, errno = syscall.RawSyscall6(unix.SYS_MOVE_MOUNT, part, uintptr(unsafe.Pointer(p.empty)), fd, uintptr(unsafe.Pointer(p.empty)), unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH, 0)
		}
		if errno != 0 {
			return errno
		}
		syscall.RawSyscall(unix.SYS_CLOSE, part, 0, 0)
		syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	}
	return 0
}

// limitProcesses limits the PIDs of the namespace. It skips the PIDs that the kernel gives
// only once, at the start, because a program would have so many processes more. If the
// kernel cannot skip them, it gives them.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) limitProcesses() syscall.Errno {
	fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, nothing, uintptr(unsafe.Pointer(p.pidFile)), unix.O_WRONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p.pidMax[0])), uintptr(len(p.pidMax))); errno != 0 {
		return errno
	}
	syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	fd, _, errno = syscall.RawSyscall6(unix.SYS_OPENAT, nothing, uintptr(unsafe.Pointer(p.lastPID)), unix.O_WRONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno == unix.ENOENT {
		return 0
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p.pidLast[0])), uintptr(len(p.pidLast)))
	}
	syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
	return errno
}

//go:norace
//go:noinline
//go:nosplit
func (p *plan) dropCapabilities() syscall.Errno {
	for c := range uintptr(64) {
		if _, _, errno := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0, 0); errno != 0 {
			break // there are no more, or this process cannot have them
		}
	}
	syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0)
	_, _, errno := syscall.RawSyscall6(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&p.caps)), uintptr(unsafe.Pointer(&p.keepCaps)), 0, 0, 0, 0)
	return errno
}

// fail tells the server the same, and ends the init.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) fail(stage uint32, errno syscall.Errno) {
	p.send(EvFailed, stage, uint32(errno))
	p.exit(1)
}

//go:norace
//go:noinline
//go:nosplit
func (p *plan) exit(code uintptr) {
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, code, 0, 0)
	}
}

//go:norace
//go:noinline
//go:nosplit
func (p *plan) send(kind, a, b uint32) {
	p.event[0], p.event[1] = uint64(a)<<32|uint64(kind), uint64(b)
	syscall.RawSyscall6(unix.SYS_SENDTO, p.control, uintptr(unsafe.Pointer(&p.event)), eventSize, unix.MSG_NOSIGNAL, 0, 0)
}
