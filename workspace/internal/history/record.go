// Package history is what was there before: the former contents of the files of one root,
// and the log of its changes, for all processes that serve the root.
//
// The writer of package workspace appends to it, and so may whatever else sees a file
// change: a [Keeper] takes what stood at a path by the open directory and the name where it
// stands now, and [History.Append] writes the [Record] of the change; [History.Salvage] is
// both for one entry. Nothing here knows how a change was planned.
//
// It imports workspace/state and the packages fsys and tree beside it. Start with [Record],
// then read history.go (contents), log.go (records) and prune.go (what is forgotten).
package history

import (
	"io/fs"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// Record is one change in the History of a root.
type Record struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Tool      string    `json:"tool,omitempty"`
	Principal string    `json:"principal,omitempty"`
	Call      string    `json:"call,omitempty"`
	Undoes    string    `json:"undoes,omitempty"` // the ID of the change that it takes back
	Files     []Changed `json:"files"`
	// Hidden is how many files of the change History left out, because they lie
	// outside of the view.
	Hidden int `json:"-"`

	root string // whose History has it, by its canonical name
}

// Changed is what a change did to one path. A move has two: the path that went and
// the one that came.
type Changed struct {
	Kind OpKind `json:"kind"`
	// Path is relative to the root, slash-separated, without links; absolute in
	// another root. [Workspace.Historical] makes it a path of the view.
	Path string `json:"path"`
	From string `json:"from,omitempty"` // of a move; like Path
	// Before and After are nil where nothing stood or stands.
	Before *Version `json:"before,omitempty"`
	After  *Version `json:"after,omitempty"`
}

// OpKind is what an operation does.
type OpKind string

// The kinds of operations.
const (
	OpWrite     OpKind = "write"     // Path gets the content that New gives
	OpAppend    OpKind = "append"    // Path, where it exists, gets Data at its end
	OpDelete    OpKind = "delete"    // Path goes, with Recursive a directory and all in it
	OpMove      OpKind = "move"      // From becomes Path
	OpCopy      OpKind = "copy"      // Path becomes what From is
	OpDirectory OpKind = "directory" // Path is made a directory, as its parents are
	OpSymlink   OpKind = "symlink"   // Path becomes a symlink with the text Data; nothing may stand there
)

// Version is what stood at a path at one time.
type Version struct {
	Kind   fsys.Kind   `json:"kind"`
	Size   int64       `json:"size,omitempty"`
	Hash   string      `json:"hash,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Target string      `json:"target,omitempty"` // of a symlink
	// Kept says that the content is in the History under Hash.
	Kept bool `json:"kept,omitempty"`
}

// Bounds is how much a root keeps; beyond, the oldest changes are forgotten.
type Bounds struct {
	Bytes int64         // of contents and of the list of changes; 0 = 1 GiB
	Age   time.Duration // of a change; 0 = 30 days
}

// OrDefault returns the bounds with the defaults in the place of zeros.
func (b Bounds) OrDefault() Bounds {
	if b.Bytes == 0 {
		b.Bytes = 1 << 30
	}
	if b.Age == 0 {
		b.Age = 30 * 24 * time.Hour
	}
	return b
}

// MaxKept is the size of the largest file, in bytes, whose content is kept.
const MaxKept = 64 << 20

// VersionOf is what Info says of an entry.
func VersionOf(info fsys.Info) *Version {
	v := &Version{Kind: info.Kind, Mode: info.Mode.Perm(), Target: info.Target}
	if info.Kind == fsys.KindFile {
		v.Size, v.Hash = info.Size, info.Version()
	}
	return v
}
