package workspace

import (
	"io"
	"io/fs"
)

// Change is what one call does to files: all of its operations happen, or none.
type Change struct {
	// Tool, Principal, Client, Call and Group are recorded in the history.
	Tool, Principal, Client, Call, Group string
	// Undoes is the ID of the change that this one undoes, "" = none; with Partly not all of it.
	Undoes string
	Partly bool
	Ops    []Op
	// DryRun judges and computes everything and changes nothing.
	DryRun bool
}

// Op is one operation. A write follows a symlink at the end of its path: it replaces the
// target and keeps the link. The other operations act on the link. Missing directories
// above Path are made.
type Op struct {
	Kind OpKind
	Path Path
	From Path // of a move and a copy
	// New computes the content of a write from the file at Path. It runs under the lock of
	// the path, and again if a program that knows no lock has changed the file meanwhile.
	// Its error ends the change, wrapped for all operations that failed.
	New func(old Old) ([]byte, error)
	// Fill, if set, writes a content too large for New, perhaps again. New may be set too: it is
	// called if the file can only be written in place.
	Fill func(to io.Writer) error
	Data []byte // of an append, and the text of a symlink
	// Mode is the permission bits of a file that a write makes or restores, fs.ModeIrregular for
	// none of them; 0 = those of the old file, or for a new one 0666 less the umask. For a
	// directory that is made, 0 = 0777 less the umask. An OpDirectory that restores gives it to what
	// is there, be it a file.
	Mode fs.FileMode
	// Expect is a condition on the file at the path of a write, append or delete, and at
	// From of a move.
	Expect Expect
	// Overwrite lets a move or copy replace the entry at Path.
	Overwrite bool
	Recursive bool // of a delete: a directory with all that is in it
	// Restores says that the operation brings back what a tool deleted at the path. It may
	// do so though the path is protected.
	Restores bool
}

// Expect is a condition on a file, checked up to the moment of the change; the zero one is none.
type Expect struct {
	Absent bool   // no entry may exist; the system decides
	Hash   string // SHA-256 in hex or its first digits, at least HashDigits; or a version token of Info.Version
}

// Old is the file that a write finds at its path.
type Old struct {
	Exists bool
	Info   Info
	// Data is the content, Hash its SHA-256. Above [MaxEdit] Hash is empty, Data is the
	// first 64 KiB only, and Cut is set.
	Data []byte
	Hash string
	Cut  bool
}

// MaxEdit is the size in bytes of the largest file that New gets whole.
const MaxEdit = 64 << 20

// Receipt is the result of a change.
type Receipt struct {
	// ID names the change in the history; "" if no history is kept. NotKept says why the
	// history lacks the change or a part of it; "" = it has all.
	ID, NotKept string
	Done        []Done // one for each operation, in their order
}

// Done is the result of an operation.
type Done struct {
	// Path is the path that was changed, with links followed, as it is printed.
	Path          string
	Before, After *Version // nil = no entry
	Files         int      // of a tree that was deleted, moved, copied or overwritten
	// Notes are for the user: "had 2 hard links; this name is now a file of its own".
	Notes []string
}

// ConflictError says that a file does not meet Expect, or stopped meeting it meanwhile.
type ConflictError struct {
	Path string // as it is printed
	Want string // Expect.Hash; "" = no entry
	Old  Old    // the file found
	// Left says that a temporary file of the change could not be removed; "" = none.
	Left string
}

func (e *ConflictError) Error() string {
	text := e.Path + " is not the file that was expected"
	if e.Want == "" {
		text = e.Path + " exists"
	}
	if e.Left != "" {
		text += "; " + e.Left
	}
	return text
}
