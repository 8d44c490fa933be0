package fsys

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"time"
)

// settling is how long after a change a file's times may hide another one: FAT keeps
// them to two seconds.
const settling = 2 * time.Second

// Stamp is what tells a file from itself before a change.
type Stamp struct {
	Sign  uint64 // over all the system tells; 0 = it tells nothing
	Inode uint64
	Links uint64
	// Fresh says that the file may change again without another sign, so that it counts
	// as changed at the next look.
	Fresh bool
}

// unknown is the stamp of what the system refuses to tell about.
var unknown = Stamp{Fresh: true}

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
func newStamp(id identity64, links uint64, now time.Time) Stamp {
	since := now.Add(-settling).UnixNano()
	until := now.Add(settling).UnixNano()
	// Whoever may write a file can set its time of modification ahead; when its status
	// changed is the clock of the file system, which may go ahead too.
	fresh := id.changed > since || id.modified > since && id.modified <= until
	return Stamp{
		Sign: maphash.Comparable(signSeed, id), Inode: id.inode, Links: links, Fresh: fresh,
	}
}

// stampPortable is stampOf by what every system tells.
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
