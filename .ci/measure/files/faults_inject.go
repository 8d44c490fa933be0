package files

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faultCalls are the calls of the system that can be made to fail: all that change
// a file system, and what opens a file.
var faultCalls = map[uint32]string{
	unix.SYS_OPENAT: "openat", unix.SYS_OPENAT2: "openat2", unix.SYS_WRITE: "write", unix.SYS_PWRITE64: "pwrite64",
	unix.SYS_FSYNC: "fsync", unix.SYS_RENAMEAT: "renameat", unix.SYS_RENAMEAT2: "renameat2", unix.SYS_UNLINKAT: "unlinkat",
	unix.SYS_FCHMOD: "fchmod", unix.SYS_LINKAT: "linkat", unix.SYS_SYMLINKAT: "symlinkat", unix.SYS_MKDIRAT: "mkdirat",
	unix.SYS_FTRUNCATE: "ftruncate",
}

// injector decides about each such call of a server before it happens, so that the
// n-th of all its threads can be made to fail: strace counts for each thread.
type injector struct {
	base   string // calls about what lies below are counted
	refuse uint64 // flags of renameat2 that this file system does not have
	kill   func() error

	mu    sync.Mutex
	armed bool
	fault fault
	at    int
	count int
	hits  []string
}

// fault is what happens to a call.
type fault struct {
	name   string
	err    unix.Errno // 0 = the server is killed
	onward bool       // and to all after it that need room
}

// arm has the n-th call from now on fail; 0 counts alone.
func (i *injector) arm(f fault, n int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.armed, i.fault, i.at, i.count, i.hits = true, f, n, 0, nil
}

// disarm returns how many calls there were, and which were made to fail.
func (i *injector) disarm() (count int, hits []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.armed = false
	return i.count, i.hits
}

// judge returns what becomes of a call: 0 = it happens.
func (i *injector) judge(n *notification) unix.Errno {
	call := faultCalls[n.number]
	if call == "renameat2" && n.args[4]&i.refuse != 0 {
		return unix.EINVAL
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.armed {
		return 0
	}
	name := n.path()
	if !strings.HasPrefix(name, i.base+"/") {
		return 0
	}
	i.count++
	switch {
	case i.at == 0 || i.count < i.at:
		return 0
	case i.count > i.at && (!i.fault.onward || !needsRoom(call)):
		return 0
	}
	i.hits = append(i.hits, call+" "+strings.TrimPrefix(name, i.base+"/"))
	if i.fault.err == 0 {
		if err := i.kill(); err != nil {
			i.hits = nil // which says that nothing was proved
		}
		return unix.EIO
	}
	return i.fault.err
}

func needsRoom(call string) bool {
	switch call {
	case "write", "pwrite64", "linkat", "symlinkat", "mkdirat":
		return true
	}
	return false
}

// notification is a call that waits for a decision, as the kernel has it.
type notification struct {
	id     uint64
	thread uint32
	flags  uint32
	number uint32
	arch   uint32
	at     uint64
	args   [6]uint64
}

// path is the file that a call is about, "" if it cannot be told.
func (n *notification) path() string {
	switch faultCalls[n.number] {
	case "write", "pwrite64", "fsync", "fchmod", "ftruncate":
		return n.file(n.args[0])
	case "symlinkat":
		return filepath.Join(n.file(n.args[1]), n.text(n.args[2]))
	}
	name := n.text(n.args[1])
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(n.file(n.args[0]), name)
}

func (n *notification) file(fd uint64) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", n.thread, int32(fd)))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(name, " (deleted)")
}

func (n *notification) text(at uint64) string {
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", n.thread))
	if err != nil {
		return ""
	}
	defer mem.Close()
	buf := make([]byte, unix.PathMax)
	got, _ := mem.ReadAt(buf, int64(at)) // less, where a mapping ends
	text, _, _ := bytes.Cut(buf[:got], []byte{0})
	return string(text)
}

// What the kernel calls these, for amd64 and arm64.
const (
	seccompModeFilter   = 1
	seccompListener     = 1<<3 | 1<<5 // and only what kills interrupts a call that waits
	seccompNotify       = 0x7fc00000
	seccompAllow        = 0x7fff0000
	seccompReceive      = 0xc0502100
	seccompSend         = 0xc0182101
	seccompGoOn         = 1
	seccompNumberOffset = 0
)

// listen decides about the calls of a server until it ends. The server sends over
// conn what to listen at.
func (i *injector) listen(conn *net.UnixConn) error {
	defer conn.Close()
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), oob)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return fmt.Errorf("the server sent no descriptor: %w", err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	go i.decide(fds[0])
	return nil
}

func (i *injector) decide(fd int) {
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	for {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err == unix.EINTR {
			continue
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return // the last thread is gone
		}
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), seccompReceive, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // it was killed meanwhile
		}
		answer := struct {
			id    uint64
			value int64
			err   int32
			flags uint32
		}{id: n.id}
		if errno := i.judge(&n); errno != 0 {
			answer.err = -int32(errno)
		} else {
			answer.flags = seccompGoOn
		}
		unix.Syscall(unix.SYS_IOCTL, uintptr(fd), seccompSend, uintptr(unsafe.Pointer(&answer))) //nolint:errcheck // killed meanwhile
	}
}

// RunInjected puts this process, and what it becomes, under an injector. The
// arguments are the socket where that waits, and a program with its arguments.
func RunInjected(args []string) error {
	runtime.LockOSThread() // the filter is of this thread, which becomes the program
	conn, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if err := unix.Connect(conn, &unix.SockaddrUnix{Name: args[0]}); err != nil {
		return err
	}
	load := unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: seccompNumberOffset}
	filter := []unix.SockFilter{load}
	for number := range faultCalls {
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: number},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompNotify})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: seccompAllow})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, seccompModeFilter, seccompListener, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("seccomp: %w", errno)
	}
	if err := unix.Sendmsg(conn, []byte{0}, unix.UnixRights(int(fd)), nil, 0); err != nil {
		return err
	}
	return unix.Exec(args[1], args[1:], os.Environ())
}
