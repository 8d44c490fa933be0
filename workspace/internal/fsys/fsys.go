// Package fsys has the system calls: it opens directories and files below a root, reads,
// lists, describes and changes entries by the handles of their directories, watches for
// changes and stamps files. It never reaches a file outside of an open root, even if the
// tree changes meanwhile. It knows nothing of paths as users write them, of rules, or of the
// history; it imports nothing of toolcrib.
//
// Start reading here: the rest of the workspace uses [Root] and [Dir]. On Linux they use
// openat2 (kernel_linux.go, dir_linux.go), on other systems os.Root (portable.go). Other
// differences between systems are in the files sys_*.go.
package fsys

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Root opens entries below one root. A rel is slash-separated, relative and free of "..";
// it may end in a slash, which demands a directory. Every method follows the links that
// stay below the root and returns ErrEscapes for a link that leaves it, even if the tree
// changes meanwhile. Errors are those of the system or of the list below.
type Root interface {
	OpenFile(rel string, f *File) error   // opens a regular file for reading into f
	OpenListed(rel string, f *File) error // as that of Dir
	OpenDir(rel string) (Dir, error)
	OpenPlainDir(rel string) (Dir, error) // follows no link at all: ErrIsLink
	Stat(rel string) (Info, error)
	Lstat(rel string) (Info, error)      // does not follow the last component
	Readlink(rel string) (string, error) // ErrNotLink if it is no link
	Sub(rel string) (Root, error)        // a directory as a root of its own
	Name() string
	Close() error
}

// Dir is an open directory below a root. A name is one component, never "..",
// and a link is never followed: it is an error to open one. The handle belongs to
// the directory and not to its name, so it survives a move.
type Dir interface {
	// Open opens a directory of the directory.
	Open(name string) (Dir, error)
	// OpenFile opens a regular file of the directory for reading into f. f belongs to the
	// caller, which saves an allocation.
	OpenFile(name string, f *File) error
	// OpenListed is OpenFile for an entry that was listed as a regular file. It need not
	// check this again: it may open a FIFO or device that has replaced the file. It may
	// fail where OpenFile does not.
	OpenListed(name string, f *File) error
	// OpenRead is OpenFile for callers that need the file itself.
	OpenRead(name string) (*os.File, Info, error)
	// Entries reads the directory from its start, in the order of the file system; it stops
	// after limit entries, 0 = never.
	Entries(limit int) ([]DirEntry, error)
	// Stat describes an entry, or with "." the directory itself.
	Stat(name string) (Info, error)
	Close() error
	dirChange
}

// dirChange changes the entries of a directory. No name may be ".". No method blocks or
// touches the target of a link. The bits of perm are those of [fs.ModePerm] with setuid,
// setgid and sticky.
type dirChange interface {
	// Create makes a new file and opens it for reading and writing; perm is subject to the
	// umask, and to the default ACL of the directory.
	Create(name string, perm fs.FileMode) (*os.File, error)
	// OpenWrite opens a regular file for reading and writing.
	OpenWrite(name string) (*os.File, Info, error)
	// Writable returns nil if the caller may write a regular file. It does not change the
	// file.
	Writable(name string) error
	// Changeable returns nil if the caller may make and remove entries of the directory.
	Changeable() error
	// Mkdir makes a directory; perm is subject to the umask and default ACL.
	Mkdir(name string, perm fs.FileMode) error
	// Symlink makes a link with the text target, which need not exist.
	Symlink(target, name string) error
	// Remove removes an entry that is not a directory, or an empty directory.
	Remove(name string) error
	// Move renames an entry and never replaces one: fs.ErrExist if as exists. A file system
	// without such a rename has a window, see MoveBySteps. The error is EXDEV if the system
	// cannot rename between the directories.
	Move(name string, to Dir, as string) error
	// Replace renames a file or link over the entry as, unless that is a directory. If both
	// are hard links of one file, the system leaves both. EXDEV as with Move.
	Replace(name string, to Dir, as string) error
	// Exchange swaps two entries of any kinds in one step; ErrUnsupported if the system or
	// file system cannot, EXDEV as with Move.
	Exchange(name string, to Dir, as string) error
	// Chmod sets the bits of a directory or file, on Linux also of one that nobody may read.
	Chmod(name string, perm fs.FileMode) error
	// Chtimes sets the modification time of an entry; of a link, its own.
	Chtimes(name string, when time.Time) error
	// Mounted reports whether another file system, or another part of the same, is mounted
	// at an entry.
	Mounted(name string) (bool, error)
	// Sync makes the list of entries survive a loss of power.
	Sync() error
	// Self opens the directory itself as a file; the caller closes it.
	Self() (*os.File, error)
}

// The refusals of a Root or a Dir itself.
var (
	ErrEscapes = errors.New("leaves the root")
	ErrSpecial = errors.New("not a regular file or directory")
	ErrKernel  = errors.New("is on a file system of the kernel")
	ErrNotLink = errors.New("not a symlink")
	ErrIsDir   = errors.New("is a directory")
	ErrIsLink  = errors.New("is a symlink")
	ErrName    = errors.New("not the name of an entry")
	ErrSwapped = errors.New("was replaced by another meanwhile") // since a moment before
)

// changeName refuses a text that is not the name of an entry, and ".".
func changeName(names ...string) error {
	for _, name := range names {
		if name == "." {
			return ErrName
		}
		if err := entryName(name); err != nil {
			return err
		}
	}
	return nil
}

// entryName refuses a text that is not one component.
func entryName(name string) error {
	if name == "" || name == ".." {
		return ErrName
	}
	for i := range len(name) {
		if name[i] == 0 || os.IsPathSeparator(name[i]) {
			return ErrName
		}
	}
	return nil
}
