package sandboxinit

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

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
