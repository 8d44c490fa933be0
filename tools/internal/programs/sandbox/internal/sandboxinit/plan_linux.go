package sandboxinit

import "golang.org/x/sys/unix"

// plan is all that an init needs, made before the fork. The init reads it, and writes
// the lower half in its own copy; nothing in it points to what the runtime may move.
type plan struct {
	flags   uintptr // of clone
	full    bool    // there are namespaces
	bare    bool    // there are no restrictions
	control uintptr
	streams [3]uintptr
	tty     uintptr // none where it is nothing
	rules   uintptr // of Landlock
	filter  *unix.SockFprog
	mounts  []mount
	covers  []cover
	how     unix.OpenHow
	frozen  unix.MountAttr
	pidMax  []byte // what is written to the limit of processes
	pidFile *byte
	pidLast []byte // what is written to the last PID that was given
	lastPID *byte
	dir     *byte
	path    *byte
	exe     uintptr // is executed in the place of path
	empty   *byte
	argv    **byte
	envp    **byte
	limits  []limit
	crowd   uint32 // that many processes are one, see look; 0 = none is looked for
	proc    *byte

	processors unix.CPUSet // for a crowd

	pidfd    int32
	child    uintptr
	sigfd    uintptr
	pipe     [2]int32
	mask     uint64
	action   [4]uint64
	poll     [2]unix.PollFd
	wait     unix.Timespec
	status   uint32
	ended    bool
	result   uint32
	left     uint32
	usage    unix.Rusage
	event    [4]uint64
	failure  [2]uint32
	caps     unix.CapUserHeader
	keepCaps [2]unix.CapUserData // none
	message  [2]byte
	scratch  [4096]byte
	children *byte
	clock    unix.Timespec
	looked   int64
}

const nothing = ^uintptr(0)

type mount struct {
	source, target, kind *byte
	flags                uintptr
	optional             bool // it may be missing
}

type limit struct {
	resource uintptr
	value    unix.Rlimit
}
