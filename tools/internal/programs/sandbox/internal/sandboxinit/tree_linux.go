package sandboxinit

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tree makes the file system that programs see, in the mount namespace of the zygote: it is
// read-only, private paths are hidden, and writable paths are mounted back.
type tree struct {
	view   View
	notes  []string
	files  []string // to be hidden
	unread []string // paths of roots, see Unreadable
}

// userPathError says that a directory of the user, and not the system, is the reason why the
// view cannot be made.
type userPathError struct{ error }

func (t *tree) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// taken is a clone of a mount of the host, made before private paths were hidden.
type taken struct {
	fd int
	at []string
	ro bool
}

func makeTree(v View) (*tree, error) {
	t := &tree{view: v}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make the mounts private: %w", err)
	}
	parts, err := t.take()
	if err != nil {
		return nil, userPathError{err}
	}
	devices, err := takeDevices()
	if err != nil {
		return nil, err
	}
	all := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, all); err != nil {
		return nil, fmt.Errorf("make the file system readable alone: %w", err)
	}
	masks, err := t.hidePrivate()
	if err != nil {
		return nil, err
	}
	if err := t.makeDev(devices); err != nil {
		return nil, err
	}
	if err := t.hideFiles(); err != nil {
		return nil, err
	}
	for _, p := range parts {
		if err := t.put(p); err != nil {
			return nil, userPathError{err}
		}
	}
	if err := errors.Join(t.keepWays(), t.protect(v.Protected)); err != nil {
		return nil, userPathError{err}
	}
	if err := hideSockets(v.Sockets); err != nil {
		return nil, err
	}
	for _, fd := range masks {
		err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
		unix.Close(fd)
		if err != nil {
			return nil, fmt.Errorf("make the mounts over private paths read-only: %w", err)
		}
	}
	return t, unix.Chdir("/")
}

// hideFiles hides the private files. It is called again for each program, because replacing a
// file removes its mount.
func (t *tree) hideFiles() error {
	for _, at := range t.files {
		info, err := os.Lstat(at)
		if err != nil || info.IsDir() || info.Mode()&(os.ModeSymlink|os.ModeDevice) != 0 {
			continue // it does not exist, or it or a directory above it is hidden already
		}
		if err := unix.Mount("/dev/null", at, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide %s: %w", at, err)
		}
	}
	return nil
}

// take clones the mounts that put mounts back later, in that order.
func (t *tree) take() ([]taken, error) {
	v := t.view
	var parts []taken
	add := func(path string, d Dir, ro bool, at ...string) error {
		fd, err := takeDir(path, d, ro)
		if err != nil {
			return err
		}
		parts = append(parts, taken{fd, at, ro})
		return nil
	}
	if err := add(join(v.Temp.Path, "tmp"), Dir{}, false, "/tmp"); err != nil {
		return nil, err
	}
	if err := add(join(v.Temp.Path, "var"), Dir{}, false, "/var/tmp"); err != nil {
		return nil, err
	}
	if err := add(v.Home.Path, v.Home, false, v.Home.At...); err != nil {
		return nil, err
	}
	for _, path := range append([]string{"/sys/devices/system/cpu", "/sys/devices/system/node"}, v.Read...) {
		if err := add(path, Dir{}, true, path); err != nil {
			t.note("%s cannot be read: %v", path, err)
		}
	}
	for _, l := range v.Layers {
		fd, err := takeLayer(l)
		for try := 0; errors.Is(err, unix.EBUSY) && try < 100; try++ { // that of an earlier view is being unmounted
			time.Sleep(2 * time.Millisecond)
			fd, err = takeLayer(l)
		}
		if err == nil {
			parts = append(parts, taken{fd, []string{l.At}, false})
			continue
		}
		if err := add(l.Lower, Dir{}, true, l.At); err != nil {
			t.note("%s cannot be read: %v", l.Lower, err)
		}
	}
	for _, d := range v.Roots {
		if err := add(d.Path, d, false, d.Names()...); err != nil {
			return nil, fmt.Errorf("root %s: %w", d.Path, err)
		}
	}
	slices.SortStableFunc(parts, func(a, b taken) int { return cmp.Compare(depth(a.at[0]), depth(b.at[0])) })
	return parts, nil
}

func depth(path string) int { return strings.Count(path, "/") }

// takeDir clones the mount of a directory with the mounts in it, and checks that it is the
// directory of d.
func takeDir(path string, d Dir, ro bool) (int, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return -1, err
	}
	if d.Inode != 0 && (uint64(st.Dev) != d.Device || st.Ino != d.Inode) {
		return -1, errors.New("another directory has taken its place")
	}
	part, err := unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, err
	}
	attr := &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
	if ro {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if err := unix.MountSetattr(part, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		unix.Close(part)
		return -1, err
	}
	return part, nil
}

// takeLayer makes the overlay of a layer.
func takeLayer(l Layer) (int, error) {
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fs)
	for _, set := range [][2]string{{"source", "toolcrib"}, {"lowerdir", l.Lower}, {"upperdir", l.Upper}, {"workdir", l.Work}} {
		if err := unix.FsconfigSetString(fs, set[0], set[1]); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigSetFlag(fs, "userxattr"); err != nil {
		return -1, err
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, err
	}
	return unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}

// hidePrivate mounts an empty directory over each private one. It returns these mounts, which
// are still writable.
func (t *tree) hidePrivate() ([]int, error) {
	var masks []int
	paths := append(private(), t.view.Hide...)
	for _, at := range t.view.Home.At { // it may lie anywhere
		if parent := filepath.Dir(at); kindOf(parent, paths) != hidden {
			paths = append(paths, at)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(depth(a), depth(b)) })
	for _, at := range paths {
		info, err := os.Lstat(at)
		if err != nil || !info.IsDir() {
			t.files = append(t.files, at)
			continue
		}
		if err := unix.Mount("tmpfs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=4m,nr_inodes=16k,mode=0755"); err != nil {
			return nil, fmt.Errorf("hide %s: %w", at, err)
		}
		fd, err := unix.Open(at, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		masks = append(masks, fd)
	}
	return masks, nil
}
