package fsys

import (
	"fmt"
	"io/fs"
	"time"
)

// Info describes an entry.
type Info struct {
	Kind    Kind
	Size    int64 // bytes
	Mode    fs.FileMode
	ModTime time.Time
	Links   uint64 // hard links; 0 if the system has no number
	// Target is the text of a symlink, Resolved the path that it leads to inside the roots;
	// "" if it leaves them or the target is missing.
	Target, Resolved string
	// Device and Inode tell a file from another; 0 if the system has none.
	Device, Inode uint64
	Owner         uint32 // the ID of a user; 0 if the system has none
}

// Version identifies the content of a file that nobody has hashed: "v:" with size, time and
// inode.
func (i Info) Version() string {
	return fmt.Sprintf("v:%d-%x-%x", i.Size, i.ModTime.UnixNano(), i.Inode)
}

// Kind is the kind of an entry.
type Kind string

// The kinds of paths.
const (
	KindFile      Kind = "file"
	KindDirectory Kind = "directory"
	KindSymlink   Kind = "symlink"
	KindOther     Kind = "other" // FIFO, socket, device
)

// DirEntry is one entry of a directory. Name is as the file system has it, which
// need not be UTF-8.
type DirEntry struct {
	Name string
	Kind Kind
}

// KindOf returns the kind of the type bits of a file mode.
func KindOf(mode fs.FileMode) Kind {
	switch mode.Type() {
	case 0:
		return KindFile
	case fs.ModeDir:
		return KindDirectory
	case fs.ModeSymlink:
		return KindSymlink
	}
	return KindOther
}

// InfoOf describes a file without its link target.
func InfoOf(fi fs.FileInfo) Info {
	info := Info{Kind: KindOf(fi.Mode()), Size: fi.Size(), Mode: fi.Mode(), ModTime: fi.ModTime()}
	info.Device, info.Inode, info.Links = Identity(fi)
	info.Owner = userOf(fi)
	return info
}
