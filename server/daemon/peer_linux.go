package daemon

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// peer is who has the other end: of a listener it is who listens.
type peer struct{ uid, pid int }

func peerOf(conn *net.UnixConn) (peer, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var cred *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return peer{}, err
	}
	if failed != nil {
		return peer{}, failed
	}
	return peer{int(cred.Uid), int(cred.Pid)}, nil
}

// descends reports whether a process was started by an ancestor, or by one that was; it
// does where that cannot be told.
func descends(pid, ancestor int) bool {
	for pid > 1 {
		if pid == ancestor {
			return true
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return true
		}
		_, rest, _ := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(" "))
		fields := strings.Fields(string(rest)) // its state, its parent
		if len(fields) < 2 {
			return true
		}
		if pid, err = strconv.Atoi(fields[1]); err != nil {
			return true
		}
	}
	return false
}

// hungUp reports whether the other end is closed for both ways, and whether ours is open.
func hungUp(conn *net.UnixConn) (gone, open bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Control(func(fd uintptr) {
		poll := []unix.PollFd{{Fd: int32(fd)}} //nolint:gosec // descriptors are small
		_, _ = unix.Poll(poll, 0)              // an interruption is looked at the next time
		gone = poll[0].Revents&unix.POLLHUP != 0
	})
	return gone, err == nil
}

func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// executable is this binary, even if it was exchanged meanwhile.
func executable() (string, error) {
	const itself = "/proc/self/exe"
	if file, err := os.Executable(); err == nil && identity(file) == identity(itself) {
		return file, nil
	}
	return itself, nil
}

// World describes the rights of this process and its children: its identity, its
// namespaces, its limits, and the binary that it runs.
func World() []string {
	var world []string
	status, _ := os.ReadFile("/proc/self/status") // without it the rest must do
	for line := range strings.Lines(string(status)) {
		switch name, _, _ := strings.Cut(line, ":"); name {
		case "Umask", "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters":
			world = append(world, line)
		}
	}
	for _, name := range []string{"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"} {
		link, _ := os.Readlink("/proc/self/ns/" + name) // likewise
		world = append(world, link)
	}
	for _, name := range []string{"limits", "attr/current"} {
		data, _ := os.ReadFile("/proc/self/" + name) // likewise
		world = append(world, string(data))
	}
	return append(world, identity("/proc/self/exe"))
}
