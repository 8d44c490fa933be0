package sandbox

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RunWithout takes something away from this process for ever and becomes a program.
func RunWithout(what string, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	const allow, denied = 0x7fff0000, 0x00050000 | uint32(unix.EPERM)
	load := func(off uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: off}
	}
	ret := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | how, K: k, Jt: yes, Jf: no}
	}
	const number, firstArg = 0, 16
	var f []unix.SockFilter
	switch what {
	case "namespaces":
		f = []unix.SockFilter{
			load(number), jump(unix.BPF_JEQ, unix.SYS_UNSHARE, 0, 1), ret(denied), jump(unix.BPF_JEQ, unix.SYS_CLONE3, 0, 1), ret(0x00050000 | uint32(unix.ENOSYS)),
			jump(unix.BPF_JEQ, unix.SYS_CLONE, 0, 3), load(firstArg), jump(unix.BPF_JSET, unix.CLONE_NEWUSER, 0, 1), ret(denied), ret(allow),
		}
	case "mounts":
		f = []unix.SockFilter{load(number), jump(unix.BPF_JEQ, unix.SYS_MOUNT_SETATTR, 0, 1), ret(denied), ret(allow)}
	case "landlock":
		f = []unix.SockFilter{load(number), jump(unix.BPF_JEQ, unix.SYS_LANDLOCK_CREATE_RULESET, 0, 1), ret(0x00050000 | uint32(unix.EOPNOTSUPP)), ret(allow)}
	case "seccomp":
		f = []unix.SockFilter{load(number), jump(unix.BPF_JEQ, unix.SYS_SECCOMP, 0, 1), ret(denied), ret(allow)}
	default:
		return fmt.Errorf("without what? %s", what)
	}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if _, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return syscall.Exec(path, args, syscall.Environ())
}
