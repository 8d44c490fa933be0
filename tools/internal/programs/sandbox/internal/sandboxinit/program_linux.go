package sandboxinit

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// program becomes the program.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) program() {
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0); errno != 0 {
		p.failed(StageSession, errno)
	}
	if p.tty != nothing {
		if _, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, p.tty, unix.TIOCSCTTY, 0); errno != 0 {
			p.failed(StageSession, errno)
		}
	}
	for i := range p.streams {
		if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, p.streams[i], uintptr(i), 0); errno != 0 {
			p.failed(StageStreams, errno)
		}
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_CLOSE_RANGE, 3, 0xffffffff, unix.CLOSE_RANGE_CLOEXEC); errno != 0 {
		p.failed(StageStreams, errno)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_CHDIR, uintptr(unsafe.Pointer(p.dir)), 0, 0); errno != 0 {
		p.failed(StageDirectory, errno)
	}
	for i := range p.limits {
		l := &p.limits[i]
		if _, _, errno := syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, l.resource, uintptr(unsafe.Pointer(&l.value)), 0, 0, 0); errno != 0 {
			p.failed(StageLimits, errno)
		}
	}
	if !p.bare {
		if stage, errno := p.restrict(); errno != 0 {
			p.failed(stage, errno)
		}
	}
	// Handlers of the runtime must not run here, and the program must not inherit signals
	// that the zygote's parent ignored.
	for s := uintptr(1); s <= 64; s++ {
		syscall.RawSyscall6(unix.SYS_RT_SIGACTION, s, uintptr(unsafe.Pointer(&p.action)), 0, 8, 0, 0)
	}
	p.mask = 0
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&p.mask)), 0, 8, 0, 0)
	var errno syscall.Errno
	if p.exe != nothing {
		_, _, errno = syscall.RawSyscall6(unix.SYS_EXECVEAT, p.exe, uintptr(unsafe.Pointer(p.empty)), uintptr(unsafe.Pointer(p.argv)), uintptr(unsafe.Pointer(p.envp)), unix.AT_EMPTY_PATH, 0)
	} else {
		_, _, errno = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(p.path)), uintptr(unsafe.Pointer(p.argv)), uintptr(unsafe.Pointer(p.envp)))
	}
	p.failed(StageExec, errno)
}

//go:norace
//go:noinline
//go:nosplit
func (p *plan) restrict() (stage uint32, errno syscall.Errno) {
	if errno = p.dropCapabilities(); errno != 0 {
		return StageCapabilities, errno
	}
	if _, _, errno = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return StageCapabilities, errno
	}
	if _, _, errno = syscall.RawSyscall6(unix.SYS_LANDLOCK_RESTRICT_SELF, p.rules, 0, 0, 0, 0, 0); errno != 0 {
		return StageRules, errno
	}
	_, _, errno = syscall.RawSyscall6(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(p.filter)), 0, 0, 0)
	return StageFilter, errno
}

// failed tells the init why the program could not be started.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) failed(stage uint32, errno syscall.Errno) {
	p.failure[0], p.failure[1] = stage, uint32(errno)
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(p.pipe[1]), uintptr(unsafe.Pointer(&p.failure)), 8)
	p.exit(127)
}
