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

// refuseKernelFS answers errKernel for a descriptor on one of kernelFS.
func refuseKernelFS(fd int) error {
	for {
		var st unix.Statfs_t
		err := unix.Fstatfs(fd, &st)
		switch {
		case err == unix.EINTR:
			continue
		case err == nil && kernelFS[uint32(st.Type)]:
			return errKernel
		}
		return err
	}
}

// refuseKernelFile is refuseKernelFS for a file of package os.
func refuseKernelFile(f *os.File) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var refused error
	if err := conn.Control(func(fd uintptr) { refused = refuseKernelFS(int(fd)) }); err != nil {
		return err
	}
	return refused
}
