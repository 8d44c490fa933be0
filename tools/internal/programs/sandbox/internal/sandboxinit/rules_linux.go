package sandboxinit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// handled returns the rights that a version of Landlock controls: to files, to TCP ports, and
// scopes, which limit signals and abstract sockets.
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

// resolvesUnix is the first version of Landlock that controls connections to Unix sockets in
// the file system.
const resolvesUnix = 9

// LandlockVersion returns the kernel's version of Landlock, 0 = none.
func LandlockVersion() int {
	v, _, err := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(v)
}

// grant is a right to a path or, without a path, to an open file.
type grant struct {
	path   string
	fd     int
	rights uint64
}

// ruleset makes rules that allow only the grants. It skips paths that do not exist. Without a
// private network, programs have no TCP.
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

// usual lists the devices that every program may use.
var usual = []string{"null", "zero", "full", "random", "urandom", "tty"}

// grantsOf returns the rights of the programs of a view; with readOnly, of those that change
// nothing in the roots.
func grantsOf(v View, readOnly bool) []grant {
	var all []grant
	for _, name := range usual {
		all = append(all, grant{path: "/dev/" + name, rights: mayUse})
	}
	if v.Level == Full { // mounts hide private paths
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
	rights := uint64(mayWrite)
	if readOnly {
		rights = mayRead
	}
	for _, d := range v.Roots {
		all = append(all, grant{path: d.Path, rights: rights})
	}
	return all
}

// readable returns the directories that programs may read without a mount namespace: all
// that contain nothing private. A directory that does is replaced by its readable entries.
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
			if e.Type()&fs.ModeSymlink == 0 { // the right to its target counts
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

// private returns the paths of the system with data of users and of running programs.
// Sandboxed programs see them only through a root.
func private() []string {
	return []string{"/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/shadow", "/etc/shadow-", "/etc/ssl/private", "/etc/sudoers", "/etc/sudoers.d", "/var/lib/containerd", "/var/lib/docker", "/var/lib/private",
		"/tmp", "/run", "/home", "/root", "/var/tmp", "/var/run", "/dev", "/sys", "/boot", "/lost+found", "/var/spool", "/var/mail", "/var/backups", "/var/log"}
}

type kind int

const (
	open   kind = iota // contains nothing private
	hidden             // is private, or a directory above it is
	mixed              // contains something private
)

func kindOf(dir string, private []string) kind {
	k := open
	for _, p := range private {
		switch {
		case inside(dir, p):
			return hidden
		case inside(p, dir):
			k = mixed
		}
	}
	return k
}

// inside reports whether path is dir or lies below it; both are clean.
func inside(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

func join(dir, name string) string { return filepath.Join(dir, name) }

// homeAt returns the path of HOME in the view of programs.
func homeAt(v View) string {
	if v.Level != Full {
		return v.Home.Path
	}
	return v.Home.At[0]
}
