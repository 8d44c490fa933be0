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

// takeDevices takes the devices that every program may use, in the order of usual.
func takeDevices() ([]int, error) {
	var fds []int
	for _, name := range usual {
		fd, err := unix.OpenTree(unix.AT_FDCWD, "/dev/"+name, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
		if err != nil {
			return nil, fmt.Errorf("/dev/%s: %w", name, err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// makeDev fills /dev, which is covered: with these devices, shared memory, and terminals
// of its own.
func (t *tree) makeDev(devices []int) error {
	if err := makeShut(); err != nil {
		return err
	}
	for i, name := range usual {
		err := mountOn(devices[i], "/dev/"+name, true)
		unix.Close(devices[i])
		if err != nil {
			return fmt.Errorf("/dev/%s: %w", name, err)
		}
	}
	for _, link := range [][2]string{{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"}, {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}} {
		if err := os.Symlink(link[0], "/dev/"+link[1]); err != nil {
			return err
		}
	}
	for _, m := range []struct {
		at, kind, data string
		flags          uintptr
	}{
		{"/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620", unix.MS_NOEXEC},
		{"/dev/shm", "tmpfs", "size=1g,mode=1777", unix.MS_NODEV},
	} {
		if err := os.Mkdir(m.at, 0o755); err != nil {
			return err
		}
		if err := unix.Mount(m.kind, m.at, m.kind, unix.MS_NOSUID|m.flags, m.data); err != nil {
			return fmt.Errorf("%s: %w", m.at, err)
		}
	}
	return nil
}

// Where the view has what is laid over places that nobody is to look into. Neither can be
// opened by anybody who has no capabilities, and what they lie in can only be read.
const (
	shutPlace     = "/dev/.shut"
	shutDirectory = shutPlace + "/directory"
	shutFile      = shutPlace + "/file"
)

// makeShut makes them, while /dev can be written.
func makeShut() error {
	if err := os.Mkdir(shutPlace, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(shutDirectory, 0); err != nil {
		return err
	}
	return os.WriteFile(shutFile, nil, 0)
}

// setCovers prepares the covers of a program.
func (p *plan) setCovers(list []Cover) {
	p.how = unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	p.frozen = unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	directory, file := cstring(shutDirectory), cstring(shutFile)
	for _, c := range list {
		next := cover{path: cstring(c.Path)}
		switch {
		case c.How == CoverReadOnly:
			next.readOnly = true
		case c.How == CoverShut && c.Directory:
			next.source, next.readOnly = directory, true
		case c.How == CoverShut:
			next.source, next.readOnly = file, true
		}
		p.covers = append(p.covers, next)
	}
}
