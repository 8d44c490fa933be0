package sandboxinit

import "golang.org/x/sys/unix"

// Offsets in struct seccomp_data, the input of a filter.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16 // the low half of the first argument; both machines are little-endian
)

const (
	retAllow = 0x7fff0000
	retKill  = 0x80000000
	retErrno = 0x00050000
)

// namespaces are the flags of clone that make some.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// refused lists the system calls that fail with EPERM: those that inspect or change other
// processes, mounts and namespaces, keys, the kernel or the machine, and io_uring, which
// bypasses the other rules.
var refused = [...]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_FSCONFIG, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_OPEN_TREE_ATTR,
	unix.SYS_BPF, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
}

// raised are the setuid and setgid bits of a mode. If the user is root, such a file would
// outlast the sandbox and give every user of the machine the rights of root.
const raised = unix.S_ISUID | unix.S_ISGID

// made are the flags of open with which the mode counts. Without them the register of the
// mode is undefined.
const made = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// modes are the system calls that set a file's mode, with the number of that argument.
var modes = [...][2]uint32{{unix.SYS_FCHMOD, 1}, {unix.SYS_FCHMODAT, 2}, {unix.SYS_FCHMODAT2, 2}, {unix.SYS_MKNODAT, 2}}

// Ioctls that insert input into a terminal, for its next reader, or change its line
// discipline.
const (
	ioctlLinux = 0x541c // TIOCLINUX
)

func stmt(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }

func jump(code uint16, k uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | code, K: k, Jt: yes, Jf: no}
}

func load(off uint32) unix.SockFilter { return stmt(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, off) }
func arg(i uint32) unix.SockFilter    { return load(offArgs + 8*i) }
func ret(k uint32) unix.SockFilter    { return stmt(unix.BPF_RET|unix.BPF_K, k) }

// attributes are the system calls that change extended attributes, which Landlock does not
// control. They fail as on a file system without extended attributes.
var attributes = [...]uint32{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT, unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// filter returns the filter of system calls. Programs may use a private network; without one
// they have only Unix sockets. If Landlock does not control which of these they connect to,
// they cannot connect: they can serve one, and use socket pairs.
func filter(private, decided bool) []unix.SockFilter {
	const eacces, eopnotsupp = retErrno | uint32(unix.EACCES), retErrno | uint32(unix.EOPNOTSUPP)
	const eperm, enosys, noFamily = retErrno | uint32(unix.EPERM), retErrno | uint32(unix.ENOSYS), retErrno | uint32(unix.EAFNOSUPPORT)
	f := []unix.SockFilter{load(offArch), jump(unix.BPF_JEQ, auditArch, 1, 0), ret(retKill), load(offNumber)}
	if foreignABI != 0 {
		f = append(f, jump(unix.BPF_JGE, foreignABI, 0, 1), ret(retKill))
	}
	on := func(number uint32, rules ...unix.SockFilter) {
		f = append(f, jump(unix.BPF_JEQ, number, 0, uint8(len(rules))))
		f = append(f, rules...)
	}
	// open comes first because it is by far the most frequent call with a rule.
	on(unix.SYS_OPENAT, arg(2), jump(unix.BPF_JSET, made, 0, 3), arg(3), jump(unix.BPF_JSET, raised, 0, 1), ret(eperm), ret(retAllow))
	for _, number := range append(refused[:], refusedHere[:]...) {
		f = append(f, jump(unix.BPF_JEQ, number, 0, 1), ret(eperm))
	}
	// The flags of clone3, and the mode of openat2, lie in memory, where a filter cannot
	// look: C libraries and programs fall back to clone and openat.
	for _, number := range []uint32{unix.SYS_CLONE3, unix.SYS_OPENAT2} {
		f = append(f, jump(unix.BPF_JEQ, number, 0, 1), ret(enosys))
	}
	if openHere != 0 {
		on(openHere, arg(1), jump(unix.BPF_JSET, made, 0, 3), arg(2), jump(unix.BPF_JSET, raised, 0, 1), ret(eperm), ret(retAllow))
	}
	for _, m := range append(modes[:], modesHere[:]...) {
		on(m[0], arg(m[1]), jump(unix.BPF_JSET, raised, 0, 1), ret(eperm), ret(retAllow))
	}
	on(unix.SYS_CLONE, arg(0), jump(unix.BPF_JSET, namespaces, 0, 1), ret(eperm), ret(retAllow))
	on(unix.SYS_IOCTL, arg(1), jump(unix.BPF_JEQ, unix.TIOCSTI, 2, 0), jump(unix.BPF_JEQ, ioctlLinux, 1, 0), jump(unix.BPF_JEQ, unix.TIOCSETD, 0, 1), ret(eperm), ret(retAllow))
	on(unix.SYS_PERSONALITY, arg(0), jump(unix.BPF_JEQ, 0, 2, 0), jump(unix.BPF_JEQ, 0xffffffff, 1, 0), ret(eperm), ret(retAllow))
	if !private {
		for _, number := range attributes {
			f = append(f, jump(unix.BPF_JEQ, number, 0, 1), ret(eopnotsupp))
		}
		if decided {
			on(unix.SYS_SOCKET, arg(0), jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0), ret(eperm), ret(retAllow))
		} else {
			// A datagram names its receiver in memory, where a filter cannot look.
			const kind = 0xf
			on(unix.SYS_SOCKET, arg(0), jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0), ret(eperm), arg(1), stmt(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, kind), jump(unix.BPF_JEQ, unix.SOCK_STREAM, 2, 0), jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 1, 0), ret(eacces), ret(retAllow))
			f = append(f, jump(unix.BPF_JEQ, unix.SYS_CONNECT, 0, 1), ret(eacces))
		}
		on(unix.SYS_SOCKETPAIR, arg(0), jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0), ret(eperm), ret(retAllow))
		return append(f, ret(retAllow))
	}
	// Programs list the addresses of the machine by netlink's protocol 0.
	on(unix.SYS_SOCKET, arg(0), jump(unix.BPF_JEQ, unix.AF_UNIX, 6, 0), jump(unix.BPF_JEQ, unix.AF_INET, 5, 0), jump(unix.BPF_JEQ, unix.AF_INET6, 4, 0),
		jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 2), arg(2), jump(unix.BPF_JEQ, unix.NETLINK_ROUTE, 1, 0), ret(noFamily), ret(retAllow))
	return append(f, ret(retAllow))
}
