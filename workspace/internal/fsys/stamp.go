package fsys

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"time"
)

// settling is how long the times of a file may hide another change after one: FAT keeps
// times to two seconds.
const settling = 2 * time.Second

// Stamp is compared with a later one to see whether a file has changed.
type Stamp struct {
	Sign  uint64 // over all that the system reports; 0 = there is no file
	Inode uint64
	Links uint64
	Mode  uint16 // permission bits
	// Fresh says that the file may change again without another sign, so that it counts as
	// changed at the next look.
	Fresh bool
}

// unknown is the stamp of a file that the system refuses to describe.
var unknown = Stamp{Fresh: true}

// identity64 has the values of a sign. Times are in nanoseconds.
type identity64 struct {
	device, inode, size uint64
	modified, changed   int64
	mode                uint64
}

// signSeed makes the signs of one process comparable.
var signSeed = maphash.MakeSeed()

// newStamp makes a stamp of a file as it was at the time now; id.changed is 0 if the system
// keeps no such time.
func newStamp(id identity64, links uint64, now time.Time) Stamp {
	since := now.Add(-settling).UnixNano()
	until := now.Add(settling).UnixNano()
	// A writer of a file can set its time of modification ahead. Its status time comes from
	// the clock of the file system, which may be ahead too.
	fresh := id.changed > since || id.modified > since && id.modified <= until
	return Stamp{
		Sign: maphash.Comparable(signSeed, id), Inode: id.inode, Links: links, Mode: uint16(id.mode & 0o777), Fresh: fresh,
	}
}

// stampPortable is StampOf by os.Root, for every system.
func stampPortable(h Dir, name string, now time.Time) Stamp {
	d, ok := h.(*portableDir)
	if !ok {
		return unknown
	}
	fi, err := d.root.Lstat(name)
	return stampOfFile(fi, err, now)
}

// stampOfFile makes a stamp of the answer of an Lstat.
func stampOfFile(fi fs.FileInfo, err error, now time.Time) Stamp {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Stamp{}
	case err != nil:
		return unknown
	}
	device, inode, links := Identity(fi)
	return newStamp(identity64{
		device: device, inode: inode, size: uint64(fi.Size()),
		modified: fi.ModTime().UnixNano(), changed: statusTime(fi), mode: uint64(fi.Mode()),
	}, links, now)
}
