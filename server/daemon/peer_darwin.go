package daemon

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// peer is who has the other end: of a listener it is who listens.
type peer struct{ uid, pid int }

func peerOf(conn *net.UnixConn) (who peer, _ error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return peer{}, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		var cred *unix.Xucred
		if cred, failed = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); failed == nil {
			who.uid = int(cred.Uid)
			who.pid, failed = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		}
	}); err != nil {
		return peer{}, err
	}
	return who, failed
}

// descends reports whether a process was started by an ancestor, or by one that was; it
// does where that cannot be told.
func descends(pid, ancestor int) bool {
	for pid > 1 {
		if pid == ancestor {
			return true
		}
		info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
		if err != nil {
			return true
		}
		pid = int(info.Eproc.Ppid)
	}
	return false
}

// hungUp reports whether the other end is closed for both ways, which this system does
// not tell, and whether ours is open.
func hungUp(*net.UnixConn) (gone, open bool) { return false, false }

func own(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

func executable() (string, error) { return os.Executable() }

// World describes the rights of this process and its children: its identity, and the
// binary that it runs.
func World() []string {
	groups, _ := os.Getgroups() // without them the rest must do
	file, _ := os.Executable()  // likewise
	return []string{fmt.Sprint(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid(), groups), file, identity(file)}
}
