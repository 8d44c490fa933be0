package sandboxinit

import "golang.org/x/sys/unix"

const (
	auditArch  = 0xc000003e
	foreignABI = 0x40000000 // x32 has the numbers above
	openHere   = unix.SYS_OPEN
)

var refusedHere = [...]uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_QUERY_MODULE, unix.SYS_GET_KERNEL_SYMS}

var modesHere = [...][2]uint32{{unix.SYS_CHMOD, 1}, {unix.SYS_CREAT, 1}, {unix.SYS_MKNOD, 1}}

var reportedHere = [...]uint32{
	unix.SYS_CREAT, unix.SYS_UNLINK, unix.SYS_RMDIR, unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_MKNOD, unix.SYS_CHMOD,
}
