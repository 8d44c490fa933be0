package observer

import "golang.org/x/sys/unix"

const sysRenameat = unix.SYS_RENAMEAT

// older returns the effects of the calls that only this architecture has.
func (o *Observer) older(r *report, number int32, cwd uint64) []effect {
	a := r.args
	switch number {
	case unix.SYS_OPEN:
		return o.opened(r, cwd, a[0], a[1])
	case unix.SYS_CREAT:
		return o.changed(r, cwd, a[0])
	case unix.SYS_CHMOD:
		return o.changed(r, cwd, a[0])
	case unix.SYS_UNLINK, unix.SYS_RMDIR:
		return o.entry(r, cwd, a[0], true)
	case unix.SYS_MKDIR, unix.SYS_MKNOD:
		return o.entry(r, cwd, a[0], false)
	case unix.SYS_LINK:
		return append(o.entry(r, cwd, a[0], true), o.entry(r, cwd, a[1], false)...)
	case unix.SYS_SYMLINK:
		return o.entry(r, cwd, a[1], false)
	case unix.SYS_RENAME:
		return o.renamed(r, cwd, a[0], cwd, a[1], 0)
	}
	return nil
}
