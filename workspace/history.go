package workspace

import (
	"io/fs"
	"time"
)

// Record is one change in the history of a root.
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

	root string // whose history has it, by its canonical name
}

// Root returns the canonical name of the root whose history has the record; "" if it
// comes from none.
func (rec Record) Root() string { return rec.root }

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
	Kind   Kind        `json:"kind"`
	Size   int64       `json:"size,omitempty"`
	Hash   string      `json:"hash,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Target string      `json:"target,omitempty"` // of a symlink
	// Kept says that the content is in the history under Hash.
	Kept bool `json:"kept,omitempty"`
}

// HistoryBounds is how much a root keeps; beyond, the oldest changes are forgotten.
type HistoryBounds struct {
	Bytes int64         // of contents and of the list of changes; 0 = 1 GiB
	Age   time.Duration // of a change; 0 = 30 days
}

func (b HistoryBounds) orDefault() HistoryBounds {
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

// versionOf is what Info says of an entry.
func versionOf(info Info) *Version {
	v := &Version{Kind: info.Kind, Mode: info.Mode.Perm(), Target: info.Target}
	if info.Kind == KindFile {
		v.Size, v.Hash = info.Size, info.Version()
	}
	return v
}
