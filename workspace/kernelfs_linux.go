package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// kernelFS are the file systems whose files are windows to the kernel and not
// data: reading one may block (tracefs), have effects (sysfs), or tell the
// server's own environment and memory (procfs). File systems that only hold
// devices are not listed, since devices are refused everywhere.
var kernelFS = map[uint32]bool{
	unix.PROC_SUPER_MAGIC:     true,
	unix.SYSFS_MAGIC:          true,
	unix.DEBUGFS_MAGIC:        true,
	unix.TRACEFS_MAGIC:        true,
	unix.SECURITYFS_MAGIC:     true,
	unix.CGROUP_SUPER_MAGIC:   true,
	unix.CGROUP2_SUPER_MAGIC:  true,
	unix.BPF_FS_MAGIC:         true,
	unix.BINFMTFS_MAGIC:       true,
	unix.EFIVARFS_MAGIC:       true,
	unix.PSTOREFS_MAGIC:       true,
	unix.SELINUX_MAGIC:        true,
	unix.SMACK_MAGIC:          true,
	unix.AAFS_MAGIC:           true,
	unix.NSFS_MAGIC:           true,
	unix.RDTGROUP_SUPER_MAGIC: true,
	configfsMagic:             true,
	mqueueMagic:               true,
}

// Two that x/sys does not name; see statfs(2).
const (
	configfsMagic = 0x62656570
	mqueueMagic   = 0x19800202
)

// fileSystem returns the type of the file system of a descriptor.
func fileSystem(fd int) (uint32, error) {
	for {
		var st unix.Statfs_t
		if err := unix.Fstatfs(fd, &st); err != unix.EINTR {
			return uint32(st.Type), err
		}
	}
}

// dataFS is fileSystem, and answers errKernel for one of kernelFS.
func dataFS(fd int) (uint32, error) {
	fs, err := fileSystem(fd)
	if err == nil && kernelFS[fs] {
		err = errKernel
	}
	return fs, err
}

// readsWhole tells whether a file system reads as much as it is asked for, but for the
// end of a file. FUSE leaves that to a program.
func readsWhole(fs uint32) bool { return watchableFS[fs] || fs == unix.OVERLAYFS_SUPER_MAGIC }

// refuseKernelFile is dataFS for a file of package os.
func refuseKernelFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	if err := conn.Control(func(fd uintptr) { _, refused = dataFS(int(fd)) }); err != nil {
		return err
	}
	return refused
}
