package workspace

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"time"
)

// settling is how long after a change a file's times may hide another one: FAT keeps
// them to two seconds.
const settling = 2 * time.Second

// stamp is what tells a file from itself before a change.
type stamp struct {
	sign  uint64 // over all the system tells; 0 = it tells nothing
	inode uint64
	links uint64
	// fresh says that the file may change again without another sign, so that it counts
	// as changed at the next look.
	fresh bool
}

// unknown is the stamp of what the system refuses to tell about.
var unknown = stamp{fresh: true}

// identity64 is what a sign is made of. Times are in nanoseconds.
type identity64 struct {
	device, inode, size uint64
	modified, changed   int64
	mode                uint64
}

// signSeed makes the signs of one process comparable.
var signSeed = maphash.MakeSeed()

// newStamp makes a stamp of what was seen at the time now; id.changed is 0 where the
// system keeps no such time.
func newStamp(id identity64, links uint64, now time.Time) stamp {
	since := now.Add(-settling).UnixNano()
	until := now.Add(settling).UnixNano()
	// Whoever may write a file can set its time of modification ahead; when its status
	// changed is the clock of the file system, which may go ahead too.
	fresh := id.changed > since || id.modified > since && id.modified <= until
	return stamp{
		sign: maphash.Comparable(signSeed, id), inode: id.inode, links: links, fresh: fresh,
	}
}

// stampPortable is stampOf by what every system tells.
func stampPortable(h dir, name string, now time.Time) stamp {
	d, ok := h.(*portableDir)
	if !ok {
		return unknown
	}
	fi, err := d.root.Lstat(name)
	return stampOfFile(fi, err, now)
}

// stampOfFile makes a stamp of the answer of an Lstat.
func stampOfFile(fi fs.FileInfo, err error, now time.Time) stamp {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stamp{}
	case err != nil:
		return unknown
	}
	device, inode, links := identity(fi)
	return newStamp(identity64{
		device: device, inode: inode, size: uint64(fi.Size()),
		modified: fi.ModTime().UnixNano(), changed: statusTime(fi), mode: uint64(fi.Mode()),
	}, links, now)
}
