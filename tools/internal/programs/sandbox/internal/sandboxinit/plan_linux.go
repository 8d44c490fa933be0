package sandboxinit

import "golang.org/x/sys/unix"

// plan is everything that an init needs, made before the fork. The init reads it, and writes
// the lower half in its own copy. Nothing in it points to memory that the runtime may move.
type plan struct {
	flags   uintptr // of clone
	full    bool    // there are namespaces
	bare    bool    // there are no restrictions
	control uintptr
	streams [3]uintptr
	tty     uintptr // nothing = it has none
	rules   uintptr // of Landlock
	filter  *unix.SockFprog
	mounts  []mount
	denied  []restriction
	how     unix.OpenHow
	frozen  unix.MountAttr
	pidMax  []byte // to write to pidFile, the limit of PIDs
	pidFile *byte
	pidLast []byte // to write to lastPID, the last PID that was given
	lastPID *byte
	dir     *byte
	path    *byte
	exe     uintptr // executed instead of path
	empty   *byte
	argv    **byte
	envp    **byte
	limits  []limit
	crowd   uint32 // so many processes are a crowd, see look; 0 = do not look
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
