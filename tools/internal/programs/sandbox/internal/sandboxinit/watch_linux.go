package sandboxinit

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watch returns when the program has ended or must end.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) watch() {
	for !p.ended {
		if p.crowd > 0 {
			p.wait.Sec, p.wait.Nsec = 0, crowdLook
			p.wait1(&p.wait)
			p.look()
		} else {
			p.wait1(nil)
		}
		if p.poll[1].Revents != 0 {
			p.reap()
		}
		if p.ended || p.poll[0].Revents != 0 && !p.obey() {
			return
		}
	}
}

// wait1 waits for a message of the server or the end of a process.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) wait1(timeout *unix.Timespec) {
	p.poll[0] = unix.PollFd{Fd: int32(p.control), Events: unix.POLLIN}
	p.poll[1] = unix.PollFd{Fd: int32(p.sigfd), Events: unix.POLLIN}
	syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.poll)), 2, uintptr(unsafe.Pointer(timeout)), 0, 0, 0)
	if p.poll[1].Revents != 0 {
		syscall.RawSyscall(unix.SYS_READ, p.sigfd, uintptr(unsafe.Pointer(&p.scratch)), uintptr(len(p.scratch)))
	}
}

// obey carries out a message of the server; false = everything must end.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) obey() bool {
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, p.control, uintptr(unsafe.Pointer(&p.message)), 2, unix.MSG_DONTWAIT, 0, 0)
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return true
	}
	if errno != 0 || n != 2 || p.message[0] != MsgSignal {
		return false
	}
	syscall.RawSyscall(unix.SYS_KILL, -p.child, uintptr(p.message[1]), 0)
	return true
}

// reap reaps the processes that have ended and returns their number; more reports whether
// there are others.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) reap() (n uint32, more bool) {
	for {
		id, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, nothing, uintptr(unsafe.Pointer(&p.status)), unix.WNOHANG|unix.WALL, uintptr(unsafe.Pointer(&p.usage)), 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || id == 0 {
			return n, errno == 0
		}
		if id != p.child {
			n++
			continue
		}
		p.ended, p.result = true, p.status
		p.event[2], p.event[3] = uint64(p.usage.Maxrss), uint64(p.usage.Utime.Sec+p.usage.Stime.Sec)*1e6+uint64(p.usage.Utime.Usec+p.usage.Stime.Usec)
	}
}

// finish ends the remaining processes and counts them.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) finish() {
	_, more := p.reap()
	for i := 0; more && p.ended && i < graceSteps; i++ {
		p.wait.Nsec = graceStep
		p.wait1(&p.wait)
		if p.poll[0].Revents != 0 { // the server does not wait for them
			break
		}
		_, more = p.reap()
	}
	for more {
		p.killAll()
		p.wait.Nsec = killStep
		p.waitForChild()
		var n uint32
		n, more = p.reap()
		p.left += n
	}
}

//go:norace
//go:noinline
//go:nosplit
func (p *plan) waitForChild() {
	p.poll[1] = unix.PollFd{Fd: int32(p.sigfd), Events: unix.POLLIN}
	syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.poll[1])), 1, uintptr(unsafe.Pointer(&p.wait)), 0, 0, 0)
	syscall.RawSyscall(unix.SYS_READ, p.sigfd, uintptr(unsafe.Pointer(&p.scratch)), uintptr(len(p.scratch)))
}

// killAll kills the other processes of the namespace. Without one it kills the children of
// the init, which then becomes the parent of theirs.
//
//go:norace
//go:noinline
//go:nosplit
func (p *plan) killAll() {
	if p.full {
		syscall.RawSyscall(unix.SYS_KILL, nothing, uintptr(unix.SIGKILL), 0)
		return
	}
	fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, nothing, uintptr(unsafe.Pointer(p.children)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		syscall.RawSyscall(unix.SYS_KILL, -p.child, uintptr(unix.SIGKILL), 0)
		return
	}
	id := uintptr(0)
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&p.scratch)), uintptr(len(p.scratch)))
		if errno != 0 || n == 0 || n > uintptr(len(p.scratch)) {
			break
		}
		for i := range n {
			c := p.scratch[i]
			if c >= '0' && c <= '9' {
				id = id*10 + uintptr(c-'0')
				continue
			}
			if id > 1 {
				syscall.RawSyscall(unix.SYS_KILL, id, uintptr(unix.SIGKILL), 0)
			}
			id = 0
		}
	}
	syscall.RawSyscall(unix.SYS_CLOSE, fd, 0, 0)
}
