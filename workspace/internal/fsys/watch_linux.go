package fsys

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// watchMask has the events of a watch. IN_CLOSE_WRITE reports stores into mapped files, for
// which there is no IN_MODIFY.
const watchMask = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO |
	unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_EXCL_UNLINK

// eventBuffer is how much of the queue one system call reads.
const eventBuffer = 64 << 10

// watchableFS are the file systems whose changes all come by this kernel, which reports
// each. Network file systems and FUSE also change elsewhere, and of overlayfs a lower
// layer may.
var watchableFS = map[uint32]bool{
	unix.BTRFS_SUPER_MAGIC:    true,
	unix.EXT4_SUPER_MAGIC:     true, // also ext2 and ext3
	unix.F2FS_SUPER_MAGIC:     true,
	unix.MSDOS_SUPER_MAGIC:    true,
	unix.RAMFS_MAGIC:          true,
	unix.TMPFS_MAGIC:          true,
	unix.XFS_SUPER_MAGIC:      true,
	unix.EXFAT_SUPER_MAGIC:    true,
	unix.NILFS_SUPER_MAGIC:    true,
	unix.EROFS_SUPER_MAGIC_V1: true,
	unix.SQUASHFS_MAGIC:       true,
	unix.ISOFS_SUPER_MAGIC:    true,
	unix.UDF_SUPER_MAGIC:      true,
	zfsMagic:                  true,
	bcachefsMagic:             true,
}

// Two that x/sys does not name.
const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)

const mountInfo = "/proc/self/mountinfo"

// Watcher is an inotify queue. The system call that changes a watched directory queues
// the event before it returns, so that a later read of the queue has it.
type Watcher struct {
	fd      int
	mounts  int    // /proc/self/mountinfo, polled for changes
	below   string // the mounts below the directory
	devices map[uint64]bool
	buf     []byte
}

// NewWatcher fails if the system has no inotify or no instance left, and for a directory on
// another file system than those of watchableFS.
func NewWatcher(top Dir) (*Watcher, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, err
	}
	w := &Watcher{fd: fd, mounts: -1, devices: map[uint64]bool{}, buf: make([]byte, eventBuffer)}
	// Polling reports each change since the opening once. The runtime polls an os.File, and
	// would get the report instead.
	if w.mounts, err = unix.Open(mountInfo, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
		w.below, err = mountsBelow(top)
	}
	if err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// Close ends all watches.
func (w *Watcher) Close() {
	unix.Close(w.fd)
	if w.mounts >= 0 {
		unix.Close(w.mounts)
	}
}

// Add watches an open directory and returns its watch, which is that of any other
// handle of the same directory.
func (w *Watcher) Add(h Dir) (wd int32, err error) {
	k, ok := h.(*kernelDir)
	if !ok {
		return NoWatch, errors.ErrUnsupported
	}
	err = k.use(func(fd int) error {
		if !w.devices[k.dev] {
			fs, err := fileSystem(fd)
			if err == nil && !watchableFS[fs] {
				err = errors.ErrUnsupported
			}
			if err != nil {
				return err
			}
			w.devices[k.dev] = true
		}
		// By way of the handle: the path may lead elsewhere by now.
		n, err := unix.InotifyAddWatch(w.fd, "/proc/self/fd/"+strconv.Itoa(fd), watchMask)
		wd = int32(n)
		return err
	})
	if err != nil {
		return NoWatch, err
	}
	return wd, nil
}

// Remove ends a watch. It fails for one that has ended by itself.
func (w *Watcher) Remove(wd int32) { _, _ = unix.InotifyRmWatch(w.fd, uint32(wd)) }

// Events calls f for the events that are in the queue at the beginning: later ones may come
// as fast as they are read. name is that of the entry, empty for the directory itself, and
// valid during the call.
func (w *Watcher) Events(each func(wd int32, e Event, name []byte)) error {
	size, err := unix.IoctlGetInt(w.fd, unix.TIOCINQ)
	if err != nil {
		return err
	}
	for size > 0 {
		n, err := unix.Read(w.fd, w.buf)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return nil
		case err != nil:
			return err
		}
		size -= n
		for buf := w.buf[:n]; len(buf) >= unix.SizeofInotifyEvent; {
			wd := int32(binary.NativeEndian.Uint32(buf))
			mask := binary.NativeEndian.Uint32(buf[4:])
			padded := int(binary.NativeEndian.Uint32(buf[12:]))
			buf = buf[unix.SizeofInotifyEvent:]
			name := buf[:padded]
			buf = buf[padded:]
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			each(wd, eventOf(mask), name)
		}
	}
	return nil
}

// eventOf translates a mask of inotify.
func eventOf(mask uint32) Event {
	var e Event
	for _, m := range [...]struct {
		mask uint32
		e    Event
	}{
		{unix.IN_Q_OVERFLOW | unix.IN_UNMOUNT, EventLost},
		{unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO, EventListing},
		{unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO, EventGone},
		{unix.IN_DELETE | unix.IN_MOVED_TO, EventEnded},
		{unix.IN_MODIFY | unix.IN_CLOSE_WRITE, EventContent},
		{unix.IN_MODIFY, EventStored},
		{unix.IN_ATTRIB, EventStatus},
		{unix.IN_DELETE_SELF | unix.IN_MOVE_SELF, EventMoved},
		{unix.IN_IGNORED, EventUnwatched},
		{unix.IN_ISDIR, EventDirectory},
	} {
		if mask&m.mask != 0 {
			e |= m.e
		}
	}
	return e
}

// MountsChanged reports whether anything was mounted or unmounted below the directory top
// since the last call.
func (w *Watcher) MountsChanged(top Dir) bool {
	polled := []unix.PollFd{{Fd: int32(w.mounts), Events: unix.POLLPRI}}
	if n, err := unix.Poll(polled, 0); err == nil && n == 0 {
		return false
	}
	below, err := mountsBelow(top)
	changed := err != nil || below != w.below
	w.below = below
	return changed
}

// mountsBelow returns the number and directory of each mount below an open directory. The
// fields of a line are the number of the mount, that of its parent, the device, its root
// there and its directory, in which spaces and the like are octal escapes.
func mountsBelow(top Dir) (string, error) {
	k, ok := top.(*kernelDir)
	if !ok {
		return "", errors.ErrUnsupported
	}
	var at string
	err := k.use(func(fd int) (err error) {
		at, err = os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		return err
	})
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(mountInfo)
	if err != nil {
		return "", err
	}
	at = mountEscapes.Replace(at)
	if at != "/" {
		at += "/"
	}
	var found strings.Builder
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) > 4 && strings.HasPrefix(fields[4], at) {
			found.WriteString(fields[0] + " " + fields[4] + "\n")
		}
	}
	return found.String(), nil
}

var mountEscapes = strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`)
