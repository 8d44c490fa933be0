package sandboxinit

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// protect mounts places over themselves, so that no program moves them or, where they can
// only be read, changes them. It can be called again: what another program has replaced
// meanwhile is no mount any more. What could not be looked into is looked at anew.
func (t *tree) protect(list []Cover) error {
	for _, path := range t.unread {
		if err := unix.Unmount(path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && err != unix.EINVAL && !absent(err) {
			return fmt.Errorf("look into %s again: %w", path, err)
		}
	}
	t.unread = nil
	for _, c := range list {
		if err := bindOver(c.Path, c.How != CoverKeep); err != nil {
			return fmt.Errorf("protect %s: %w", c.Path, err)
		}
		if c.How == CoverUnread {
			t.unread = append(t.unread, c.Path)
		}
	}
	return nil
}

// keepWays keeps the private directories that roots are mounted in where they are, and
// gives the owner the rights to them that a program may have taken: without one of these no
// program would find its directory.
func (t *tree) keepWays() error {
	tops := append([]string{"/tmp", "/var/tmp"}, t.view.Home.At...)
	for _, top := range tops {
		if err := t.keepWay(top, false); err != nil {
			return err
		}
	}
	for _, d := range t.view.Roots {
		for _, name := range append([]string{d.Path}, d.At...) {
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
		return nil // a name that the root could not have, see put
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

// bindOver mounts what lies at a path over itself, where it exists, is no such mount yet,
// and no link is on the way. It may itself be a link; where the kernel mounts nothing on
// those, the server sees that another one stands there.
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

// isMount tells whether something is mounted at a path, and where ro is set whether it can
// only be read.
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

// hideSockets covers sockets that can be seen: neither a mount that can only be read nor
// the private network keeps from connecting to one.
func hideSockets(paths []string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&os.ModeSocket == 0 {
			continue // it is hidden with what it lies in, or gone
		}
		if err := unix.Mount("/dev/null", path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hide the socket %s: %w", path, err)
		}
	}
	return nil
}
