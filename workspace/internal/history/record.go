// Package history keeps the former contents of the files of one root, and the log of its
// changes, for all processes that serve the root.
//
// The writer of package workspace appends to it, and other code that sees a file change may:
// an [Archiver] keeps a former entry by its open directory and present name, and
// [History.Append] writes the [Record] of the change; [History.Salvage] does both for one
// entry. Nothing here knows how a change was planned.
//
// It may import workspace/state and the packages fsys and tree next to it. Start with
// [Record], then read history.go (contents), log.go (records), query.go and find.go (queries)
// and prune.go (the limits).
package history

import (
	"io/fs"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// Record is one change in the history of a root.
type Record struct {
	ID        string    `json:"id"`
	Time      time.Time `json:"time"`
	Tool      string    `json:"tool,omitempty"`
	Principal string    `json:"principal,omitempty"`
	Client    string    `json:"client,omitempty"`
	Call      string    `json:"call,omitempty"`
	Group     string    `json:"group,omitempty"`  // the run of an agent whose calls are undone together
	Undoes    string    `json:"undoes,omitempty"` // the ID of the change that it takes back
	Partly    bool      `json:"partly,omitempty"` // not all of that change
	// Program reports whether a program made the change, which may touch paths that are
	// protected from tools.
	Program bool      `json:"program,omitempty"`
	Files   []Changed `json:"files"`
	// Hidden is how many files of the change a query left out, because the view does not
	// show them.
	Hidden int `json:"-"`

	root string // the canonical name of the root whose history has it
}

// Changed is the effect of a change on one path. A move has two: of the old path and of the
// new one.
type Changed struct {
	Kind OpKind `json:"kind"`
	// Path is relative to the root, slash-separated, without links; absolute in
	// another root. [Workspace.Historical] makes it a path of the view.
	Path string `json:"path"`
	From string `json:"from,omitempty"` // of a move; like Path
	// Before and After are nil if there was or is no entry.
	Before *Version `json:"before,omitempty"`
	After  *Version `json:"after,omitempty"`
}

// CopiedTree reports whether the path is the copy of a directory. What is in it has no
// versions: what is modified after the record is by somebody else.
func (c Changed) CopiedTree() bool {
	return c.Kind == OpCopy && c.After != nil && c.After.Kind == fsys.KindDirectory
}

// OpKind is what an operation does.
type OpKind string

// The kinds of operations.
const (
	OpWrite     OpKind = "write"     // Path gets the content that New gives
	OpAppend    OpKind = "append"    // Path, which may be missing, gets Data at its end
	OpDelete    OpKind = "delete"    // Path is removed, with Recursive a directory and all below it
	OpMove      OpKind = "move"      // From becomes Path
	OpCopy      OpKind = "copy"      // Path becomes a copy of From
	OpDirectory OpKind = "directory" // Path becomes a directory, as its parents do
	OpSymlink   OpKind = "symlink"   // Path, which must be free, becomes a symlink with the text Data
)

// Version describes the entry at a path at one time.
type Version struct {
	Kind   fsys.Kind   `json:"kind"`
	Size   int64       `json:"size,omitempty"`
	Hash   string      `json:"hash,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`
	Links  uint64      `json:"links,omitempty"`  // hard links of a file that has several
	Target string      `json:"target,omitempty"` // of a symlink
	Index  string      `json:"index,omitempty"`  // of the index of a git repository: a digest of what it says
	// Kept reports whether the history has the content: under Hash, or, as a program's change
	// took it, at At: the ID of that change, a slash, and the name of a file or, with a
	// colon, the offset in a file.
	Kept bool   `json:"kept,omitempty"`
	At   string `json:"at,omitempty"`
}

// Bounds limits how much a root keeps; above them, the oldest changes are forgotten.
type Bounds struct {
	Bytes int64         // of contents and of the list of changes; 0 = 1 GiB
	Age   time.Duration // of a change; 0 = 30 days
}

// OrDefault returns the bounds with the default for each zero.
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

// VersionOf returns the version of an entry.
func VersionOf(info fsys.Info) *Version {
	v := &Version{Kind: info.Kind, Mode: info.Mode.Perm(), Target: info.Target}
	if info.Kind == fsys.KindFile {
		v.Size, v.Hash = info.Size, info.Version()
		if info.Links > 1 {
			v.Links = info.Links
		}
	}
	return v
}
