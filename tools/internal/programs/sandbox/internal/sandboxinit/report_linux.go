package sandboxinit

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Reports. A program that is recorded has a filter which stops each system call that is about
// to change a file, until the server lets it go on: see [Reported]. The zygote loads it
// into a thread of its own, from which it forks the init, so that the init and everything that
// it starts inherit the filter. The thread lasts as long as the init, and with it a descriptor
// of the listener: if the server is gone, the calls wait until the init has ended everything,
// and do not fail.

// retReport stops a system call until the listener has answered.
const retReport = 0x7fc00000

// writing are the flags of open with which a file can change, or appear.
const writing = unix.O_WRONLY | unix.O_RDWR | unix.O_TRUNC | unix.O_CREAT

// reported are the system calls that change entries, besides open.
var reported = [...]uint32{
	unix.SYS_OPENAT2, // its flags are in memory; only programs without the other filter have it
	unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_TRUNCATE, unix.SYS_MKDIRAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_MKNODAT,
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2,
}

// reports returns the filter that reports. Calls of another architecture are left to the other
// filter.
func reports() []unix.SockFilter {
	f := []unix.SockFilter{load(offArch), jump(unix.BPF_JEQ, auditArch, 1, 0), ret(retAllow), load(offNumber)}
	if foreignABI != 0 {
		f = append(f, jump(unix.BPF_JGE, foreignABI, 0, 1), ret(retAllow))
	}
	f = append(f, jump(unix.BPF_JEQ, unix.SYS_OPENAT, 0, 4), arg(2), jump(unix.BPF_JSET, writing, 0, 1), ret(retReport), ret(retAllow))
	if openHere != 0 {
		f = append(f, jump(unix.BPF_JEQ, openHere, 0, 4), arg(1), jump(unix.BPF_JSET, writing, 0, 1), ret(retReport), ret(retAllow))
	}
	for _, number := range append(reported[:], reportedHere[:]...) {
		f = append(f, jump(unix.BPF_JEQ, number, 0, 1), ret(retReport))
	}
	return append(f, ret(retAllow))
}

// Flags of seccomp that x/sys does not have: a process that waits for an answer can only be
// killed, not interrupted (Linux 5.19). Otherwise signals, which Go's runtime uses to
// preempt, would restart the call and its report for ever.
const waitKillable = 1 << 5

// listen loads the filter of reports into this thread and returns its listener.
func listen() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	f := reports()
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER|waitKillable, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return -1, errno
	}
	unix.CloseOnExec(int(fd))
	return int(fd), nil
}

// canReport returns 0 if this system can report, else why it cannot: Linux before 5.19
// (EINVAL), or another program that listens to this one (EBUSY).
func canReport() syscall.Errno {
	result := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for ever: the thread has the filter, and ends with the goroutine
		fd, err := listen()
		if err == nil {
			err = unix.Close(fd)
		}
		result <- err
	}()
	errno, _ := errors.AsType[syscall.Errno](<-result)
	return errno
}

// startReported starts the init from a thread that has the filter of reports. It returns once
// the server has been told.
func (z *zygote) startReported(p *plan, control int) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for ever, as in canReport
		listener, err := listen()
		if err != nil {
			done <- fmt.Errorf("report what a program changes: %w", err)
			return
		}
		defer unix.Close(listener)
		// The server has it before the program starts, which is told by the init.
		if err := sendEvent(control, Event{Kind: EvReports}, listener); err != nil {
			done <- err
			return
		}
		if _, err := p.start(); err != nil {
			done <- fmt.Errorf("start a process: %w", err)
			return
		}
		pidfd := int(p.pidfd)
		defer unix.Close(pidfd)
		z.reporting.Add(1)
		defer z.reporting.Done()
		done <- sendEvent(control, Event{Kind: EvProcess}, pidfd)
		z.outlast(pidfd)
	}()
	return <-done
}

// outlast returns when an init has ended. It ends it if the server is gone, so that no program
// sees a listener that is gone too.
func (z *zygote) outlast(pidfd int) {
	poll := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}, {Fd: int32(z.ending[0]), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(poll, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || poll[0].Revents != 0:
			return
		case poll[1].Revents != 0:
			if z.view.Level == Full {
				_ = unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0)
			}
			poll = poll[:1]
		}
	}
}
