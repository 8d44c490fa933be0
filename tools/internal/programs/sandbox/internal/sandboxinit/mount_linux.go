package sandboxinit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// put puts a part in its places.
func (t *tree) put(p taken) error {
	defer unix.Close(p.fd)
	for i, at := range p.at {
		fd := p.fd
		if i > 0 {
			var err error
			fd, err = unix.OpenTree(p.fd, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
			if err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			defer unix.Close(fd)
		}
		if err := mountOn(fd, at, !t.inRoot(at)); err != nil {
			if i > 0 || p.ro {
				t.note("%s is not where it was: %v", at, err)
				continue
			}
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	return nil
}

// inRoot tells whether a path lies in a root. What stands there is the user's: nothing is
// made in it, and nothing moved.
func (t *tree) inRoot(path string) bool {
	return slices.ContainsFunc(t.view.Roots, func(d Dir) bool { return path != d.Path && inside(path, d.Path) })
}

// mountOn mounts a part on a path. Where that may be made, what is missing of it is.
func mountOn(part int, path string, make bool) error {
	var st unix.Stat_t
	if err := unix.Fstat(part, &st); err != nil {
		return err
	}
	fd, err := point(path, st.Mode&unix.S_IFMT == unix.S_IFDIR, make)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.MoveMount(part, "", fd, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// point opens what is to be mounted on. It follows no link: what programs may write,
// such as HOME, is part of the way, and a link in it could lead anywhere. What stands in
// the way there is moved aside.
func point(path string, dir, make bool) (int, error) {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	names := strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for i, name := range names {
		last := i == len(names)-1
		next, err := step(fd, name, dir || !last, make)
		unix.Close(fd)
		if err != nil {
			return -1, err
		}
		fd = next
	}
	return fd, nil
}

// mend gives the owner every right to a directory on the way, from which a program may have
// taken them. Where it cannot, what comes next fails and says so.
func mend(fd int, mode uint32) {
	if mode&0o700 != 0o700 {
		_ = unix.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), mode&0o7777|0o700)
	}
}

func step(at int, name string, dir, make bool) (int, error) {
	flags := unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	for try := 0; ; try++ {
		fd, err := unix.Openat(at, name, flags, 0)
		if err == nil {
			var st unix.Stat_t
			if err := unix.Fstat(fd, &st); err != nil {
				unix.Close(fd)
				return -1, err
			}
			kind := st.Mode & unix.S_IFMT
			if kind == unix.S_IFDIR && make {
				mend(fd, st.Mode)
			}
			if dir && kind == unix.S_IFDIR || !dir && kind != unix.S_IFDIR && kind != unix.S_IFLNK {
				return fd, nil
			}
			unix.Close(fd)
			if !make {
				return -1, errors.New("something else, or a link, stands there")
			}
			if err := unix.Renameat(at, name, at, fmt.Sprintf("%s.moved-%d", name, os.Getpid())); err != nil {
				return -1, fmt.Errorf("what stands in its place cannot be moved aside: %w", err)
			}
		} else if err != unix.ENOENT || !make {
			return -1, err
		}
		if try > 3 {
			return -1, errors.New("what stands in its place comes back")
		}
		if dir {
			err = unix.Mkdirat(at, name, 0o755)
		} else if fd, err = unix.Openat(at, name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o600); err == nil {
			unix.Close(fd)
		}
		if err != nil && err != unix.EEXIST {
			return -1, err
		}
	}
}
