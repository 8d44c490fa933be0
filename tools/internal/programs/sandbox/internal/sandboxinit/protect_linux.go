package sandboxinit

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// protect mounts paths over themselves, so that programs cannot move them or, if the mount is
// read-only, change them. It is called again for each program, because another program may
// have replaced a path, which removes the mount. It unmounts Unreadable paths, so that the
// server can look into them again.
func (t *tree) protect(list []Restriction) error {
	for _, path := range t.unread {
		if err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && err != unix.EINVAL && !absent(err) {
			return fmt.Errorf("look into %s again: %w", path, err)
		}
	}
	t.unread = nil
	for _, c := range list {
		if err := bindOver(c.Path, c.Kind != Pinned); err != nil {
			return fmt.Errorf("protect %s: %w", c.Path, err)
		}
		if c.Kind == Unreadable {
			t.unread = append(t.unread, c.Path)
		}
	}
	return nil
}

// keepWays pins the private directories that contain roots, and gives the owner the rights
// to them that a program may have removed. Otherwise programs would not find their directory.
func (t *tree) keepWays() error {
	tops := append([]string{"/tmp", "/var/tmp"}, t.view.Home.At...)
	for _, top := range tops {
		if err := t.keepWay(top, false); err != nil {
			return err
		}
	}
	for _, d := range t.view.Roots {
		for _, name := range d.Names() {
			for _, top := range tops {
				for at := top; inside(name, top) && at != name; {
					next, _, _ := strings.Cut(strings.TrimPrefix(name, at+"/"), "/")
					if at = join(at, next); at == name {
						break
					}
					if err := t.keepWay(at, true); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (t *tree) keepWay(path string, keep bool) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if absent(err) {
		return nil // the root could not be mounted at this name, see put
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	mend(fd, st.Mode)
	if !keep {
		return nil
	}
	return bindOver(path, false)
}

// bindOver mounts a path over itself, if it exists, is not mounted yet, and has no links
// before its last component. The path may itself be a link. Some kernels cannot mount on
// links; then the server's comparison finds a replaced link.
func bindOver(path string, ro bool) error {
	if done, err := isMount(path, ro); done || absent(err) {
		return nil
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	part, err := unix.OpenTree(fd, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	defer unix.Close(part)
	if ro {
		if err := unix.MountSetattr(part, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return err
		}
	}
	err = unix.MoveMount(part, "", fd, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
	var st unix.Stat_t
	if err == unix.EINVAL && unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil
	}
	return err
}

// isMount reports whether something is mounted at a path; with ro, whether it is read-only.
func isMount(path string, ro bool) (bool, error) {
	var at unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &at); err != nil || at.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 || !ro {
		return err == nil && at.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, err
	}
	var fs unix.Statfs_t
	err := unix.Statfs(path, &fs)
	return err == nil && fs.Flags&unix.ST_RDONLY != 0, err
}

func absent(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR)
}

// hideSockets mounts the null device over sockets that programs could see, because neither a
// read-only mount nor the private network prevents a connection to them.
func hideSockets(paths []string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			continue // it is gone, or a directory above it is hidden
		}
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide the socket %s: %w", path, err)
		}
	}
	return nil
}
