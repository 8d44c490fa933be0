package workspace

import "io/fs"

// Change is what one call does to files: all of its operations happen, or none.
type Change struct {
	// Tool, Principal and Call say for the history whose change it is.
	Tool, Principal, Call string
	// Undoes is the ID of the change that this one takes back, "" of none.
	Undoes string
	Ops    []Op
	// DryRun judges and computes everything and changes nothing.
	DryRun bool
}

// Op is one operation. Its paths are not followed at their last component but for
// a write, which replaces the target of a symlink and keeps the link. Directories
// that are missing above Path are made.
type Op struct {
	Kind OpKind
	Path Path
	From Path // of a move and a copy
	// New computes the content of a write from what is there. It runs under the
	// lock of the path, and again where a program that knows no lock changed the
	// file meanwhile. Its error ends the change, wrapped for all operations that
	// failed.
	New  func(old Old) ([]byte, error)
	Data []byte // of an append, and the text of a symlink
	// Mode is the permission bits of a file that a write makes or restores; 0 =
	// those of the old file, of a new one what the umask leaves of 0666. Of a
	// directory that is made likewise, of 0777.
	Mode fs.FileMode
	// Expect is what must stand at the path that a write, append or delete
	// changes, and at From for a move.
	Expect Expect
	// Overwrite lets a move or copy replace what stands at Path.
	Overwrite bool
	Recursive bool // of a delete: a directory with all that is in it
	// Restores says that the path gets back what a tool deleted there, which it may
	// though the path is protected.
	Restores bool
}

// Expect is a condition on a file, checked up to the moment of the change. The
// zero value demands nothing.
type Expect struct {
	Absent bool   // nothing may stand there; decided by the system
	Hash   string // SHA-256 in lower-case hex, or a version token of Info.Version
}

// Old is what a write finds at its path.
type Old struct {
	Exists bool
	Info   Info
	// Data is the content, Hash its SHA-256. Above [MaxEdit] both are empty and
	// Data is only the first 64 KiB, which Cut tells.
	Data []byte
	Hash string
	Cut  bool
}

// MaxEdit is the size of the largest file, in bytes, whose whole content a write is
// computed from.
const MaxEdit = 64 << 20

// Receipt says what a change did.
type Receipt struct {
	// ID names the change in the history; "" where nothing is kept. NotKept says why
	// that, or something that the change took away, is not kept; "" = all is.
	ID, NotKept string
	Done        []Done // one for each operation, in their order
}

// Done is what an operation did.
type Done struct {
	// Path is what was changed, with links followed, as it is printed.
	Path          string
	Before, After *Version // nil where nothing stands
	Files         int      // of a tree that was deleted, moved, copied or overwritten
	// Notes tell what a user should know: "had 2 hard links; this name is now a
	// file of its own".
	Notes []string
}

// ConflictError says that a file is not what Expect demands, or does not stay so.
type ConflictError struct {
	Path string // as it is printed
	Want string // Expect.Hash; "" where nothing may stand there
	Old  Old    // what stands there
	// Left says that a temporary file of the change could not be removed; "" = none.
	Left string
}

func (e *ConflictError) Error() string {
	text := e.Path + " is not what was expected"
	if e.Want == "" {
		text = e.Path + " exists"
	}
	if e.Left != "" {
		text += "; " + e.Left
	}
	return text
}
