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

// put mounts a part at its paths.
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

// inRoot reports whether a path lies in a root. Roots belong to the user: nothing may be made
// or moved there.
func (t *tree) inRoot(path string) bool {
	return slices.ContainsFunc(t.view.Roots, func(d Dir) bool { return path != d.Path && inside(path, d.Path) })
}

// mountOn mounts a part on a path. With make it creates the path.
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

// point opens a mount point. It follows no links, because programs can write to parts of the
// path, such as HOME, and a link there could lead anywhere. With make it moves other files
// out of the way.
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

// mend gives the owner all rights to a directory, which a program may have removed. If it
// cannot, the next step fails and reports that.
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
				return -1, errors.New("another file, or a link, is there")
			}
			if err := unix.Renameat(at, name, at, fmt.Sprintf("%s.moved-%d", name, os.Getpid())); err != nil {
				return -1, fmt.Errorf("the file in its place cannot be moved aside: %w", err)
			}
		} else if err != unix.ENOENT || !make {
			return -1, err
		}
		if try > 3 {
			return -1, errors.New("the file in its place comes back")
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

// takeDevices clones the devices that every program may use, in the order of usual.
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

// makeDev fills the new /dev with these devices, shared memory and private terminals.
func (t *tree) makeDev(devices []int) error {
	if err := makeMasks(); err != nil {
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

// An empty directory and file, to be mounted over masked paths. Without capabilities nobody
// can open them, and their directory is read-only.
const (
	masksDir      = "/dev/.masked"
	maskDirectory = masksDir + "/directory"
	maskFile      = masksDir + "/file"
)

// makeMasks makes them while /dev is writable.
func makeMasks() error {
	if err := os.Mkdir(masksDir, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(maskDirectory, 0); err != nil {
		return err
	}
	return os.WriteFile(maskFile, nil, 0)
}

// frozen returns restrictions that keep a program from changing the roots.
func frozen(roots []Dir) (list []Restriction) {
	for _, d := range roots {
		for _, at := range d.Names() {
			list = append(list, Restriction{Path: at, Kind: ReadOnly, Directory: true})
		}
	}
	return list
}

// setDenied prepares the restrictions of the denied paths.
func (p *plan) setDenied(list []Restriction) {
	p.how = unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	p.frozen = unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	directory, file := cstring(maskDirectory), cstring(maskFile)
	for _, c := range list {
		next := restriction{path: cstring(c.Path)}
		switch {
		case c.Kind == ReadOnly:
			next.readOnly = true
		case c.Kind == Masked && c.Directory:
			next.source, next.readOnly = directory, true
		case c.Kind == Masked:
			next.source, next.readOnly = file, true
		}
		p.denied = append(p.denied, next)
	}
}
