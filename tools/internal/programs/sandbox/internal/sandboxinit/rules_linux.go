package sandboxinit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of Landlock.
const (
	mayRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_EXECUTE
	mayUse  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// mayWrite is everything but making device nodes.
	mayWrite = mayRead | mayUse | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	ofFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX | mayUse
	devices = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// handled are the rights that a version of Landlock decides about: those of the files, of
// the ports of TCP, and whom a program may signal or reach by an abstract socket.
func handled(version int) (files, ports, scopes uint64) {
	files = (mayWrite | devices) &^ (unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX)
	for _, since := range []struct {
		version int
		files   uint64
		ports   uint64
		scopes  uint64
	}{
		{2, unix.LANDLOCK_ACCESS_FS_REFER, 0, 0},
		{3, unix.LANDLOCK_ACCESS_FS_TRUNCATE, 0, 0},
		{4, 0, unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, 0},
		{5, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV, 0, 0},
		{6, 0, 0, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL},
		{resolvesUnix, unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX, 0, 0},
	} {
		if version >= since.version {
			files |= since.files
			ports |= since.ports
			scopes |= since.scopes
		}
	}
	return files, ports, scopes
}

// resolvesUnix is the version of Landlock that decides who connects to a socket of the
// file system.
const resolvesUnix = 9

// LandlockVersion returns the version of Landlock that the kernel has, 0 for none.
func LandlockVersion() int {
	v, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(v)
}

// grant is a right to what lies at a path, or to what a descriptor is, where there is no
// path.
type grant struct {
	path   string
	fd     int
	rights uint64
}

// ruleset makes the rules: nothing is allowed but the grants. What does not exist is
// left out. Where the network is that of the machine, programs have no TCP.
func ruleset(grants []grant, private bool) (int, error) {
	files, ports, scopes := handled(LandlockVersion())
	if private {
		ports = 0
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: files, Handled_access_net: ports, Scoped: scopes}
	r, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, fmt.Errorf("landlock: %w", errno)
	}
	for _, g := range grants {
		if err := allow(int(r), g, files); err != nil && !errors.Is(err, fs.ErrNotExist) {
			unix.Close(int(r))
			return -1, fmt.Errorf("landlock: %s: %w", g.path, err)
		}
	}
	return int(r), nil
}

func allow(rules int, g grant, files uint64) error {
	fd := g.fd
	if g.path != "" {
		var err error
		if fd, err = unix.Open(g.path, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return err
		}
		defer unix.Close(fd)
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights := g.rights & files
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFiles
	}
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// usual are the devices that every program may use.
var usual = []string{"null", "zero", "full", "random", "urandom", "tty"}

// grantsOf are the rights of the programs of a view.
func grantsOf(v View) []grant {
	var all []grant
	for _, name := range usual {
		all = append(all, grant{path: "/dev/" + name, rights: mayUse})
	}
	if v.Level == Full { // what must not be read is not there
		all = append(all, grant{path: "/", rights: mayRead})
		for _, path := range []string{"/tmp", "/var/tmp", "/dev/shm", "/dev/pts", homeAt(v)} {
			all = append(all, grant{path: path, rights: mayWrite})
		}
		for _, l := range v.Layers {
			all = append(all, grant{path: l.At, rights: mayWrite})
		}
	} else {
		for _, path := range readable(v) {
			all = append(all, grant{path: path, rights: mayRead})
		}
		for _, path := range []string{v.Home.Path, join(v.Temp.Path, "tmp"), join(v.Temp.Path, "var")} {
			all = append(all, grant{path: path, rights: mayWrite})
		}
	}
	for _, d := range v.Roots {
		all = append(all, grant{path: d.Path, rights: mayWrite})
	}
	return all
}

// readable are the directories that programs may read without a mount namespace: all
// but those that hold what is private. A directory above one of these is taken apart.
func readable(v View) []string {
	var all []string
	private := append(private(), v.Hide...)
	var add func(dir string)
	add = func(dir string) {
		switch kindOf(dir, private) {
		case hidden:
			return
		case open:
			all = append(all, dir)
			return
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // then programs cannot read it either
		}
		for _, e := range entries {
			if e.Type()&fs.ModeSymlink == 0 { // what it leads to has its own right
				add(join(dir, e.Name()))
			}
		}
	}
	add("/")
	for _, l := range v.Layers {
		all = append(all, l.Lower)
	}
	return append(all, v.Read...)
}
