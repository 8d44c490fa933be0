// Package fsys is the calls of the system: it opens directories and files below a root,
// reads, lists, describes and changes entries by the handles of their directories, tells
// of changes and stamps files. What lies outside of an open root is out of its reach,
// whatever changes the tree meanwhile. It knows nothing of paths as users write them, of
// rules, or of the history; it imports nothing of toolcrib.
//
// Start reading here: [Root] and [Dir] are what the rest of the workspace stands on. Linux
// has them by openat2 (kernel_linux.go, dir_linux.go), every other system by os.Root
// (portable.go). What differs between systems beside is in the files sys_*.go.
package fsys

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Root opens what lies below one root. A rel is slash-separated, relative and
// free of ".."; it may end in a slash, which demands a directory. Every method
// follows the links that stay below the root and answers errEscapes for a link
// that leaves it, whatever changes the tree meanwhile. Errors are those of the
// system or of the list below.
type Root interface {
	OpenFile(rel string, f *File) error   // opens a regular file for reading into f
	OpenListed(rel string, f *File) error // as that of dir
	OpenDir(rel string) (Dir, error)
	OpenPlainDir(rel string) (Dir, error) // follows no link at all: errIsLink
	Stat(rel string) (Info, error)
	Lstat(rel string) (Info, error)      // does not follow the last component
	Readlink(rel string) (string, error) // errNotLink for anything but a link
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
	// OpenFile opens a regular file of the directory for reading into f, which belongs
	// to the caller so that what wraps it takes one allocation.
	OpenFile(name string, f *File) error
	// OpenListed is openFile for what was listed as a regular file. It need not look
	// what has become of that since: a FIFO or device may be opened for it. It may fail
	// where openFile does not.
	OpenListed(name string, f *File) error
	// OpenRead is openFile for those who need more of a file than to read it.
	OpenRead(name string) (*os.File, Info, error)
	// Entries reads the directory from its start, in the order of the file system;
	// it stops early once it has limit entries, where limit is not 0.
	Entries(limit int) ([]DirEntry, error)
	// Stat describes an entry, or with "." the directory itself.
	Stat(name string) (Info, error)
	Close() error
	dirChange
}

// dirChange is what changes the entries of a dir. No name may be ".", and nothing
// blocks or touches what a link leads to. The bits of perm are those of
// [fs.ModePerm] with setuid, setgid and sticky.
type dirChange interface {
	// Create makes a file that was not there and opens it for reading and writing;
	// perm is subject to the umask, and to the default ACL of the directory.
	Create(name string, perm fs.FileMode) (*os.File, error)
	// OpenWrite opens a regular file for reading and writing.
	OpenWrite(name string) (*os.File, Info, error)
	// Writable reports whether the caller may write a regular file, which it leaves
	// as it is; nil = yes.
	Writable(name string) error
	// Changeable reports whether the caller may make and remove entries of the
	// directory itself; nil = yes.
	Changeable() error
	// Mkdir makes a directory; perm is subject to the umask and default ACL.
	Mkdir(name string, perm fs.FileMode) error
	// Symlink makes a link that holds the text target, which is not looked at.
	Symlink(target, name string) error
	// Remove takes away an entry that is not a directory, or an empty directory.
	Remove(name string) error
	// Move renames an entry and never replaces: fs.ErrExist where anything stands
	// at as. A file system without such a rename has a window, see MoveBySteps.
	// Between directories that the system cannot rename between, EXDEV.
	Move(name string, to Dir, as string) error
	// Replace renames a file or link over what stands at as, if that is no
	// directory. Where both are hard links of one file, the system leaves both.
	// EXDEV as with move.
	Replace(name string, to Dir, as string) error
	// Exchange swaps two entries of whatever kinds in one step; ErrUnsupported
	// where the system or file system cannot, EXDEV as with move.
	Exchange(name string, to Dir, as string) error
	// Chmod sets the bits of a directory that the caller may list.
	Chmod(name string, perm fs.FileMode) error
	// Chtimes sets when an entry, be it a link, was changed last.
	Chtimes(name string, when time.Time) error
	// Mounted reports whether an entry is where another file system is mounted, or
	// another part of the same.
	Mounted(name string) (bool, error)
	// Sync makes durable which entries the directory has.
	Sync() error
	// Self opens the directory itself as a file, which is closed on its own.
	Self() (*os.File, error)
}

// What a Root or a dir refuses by itself, before classify words it.
var (
	ErrEscapes = errors.New("leaves the root")
	ErrSpecial = errors.New("not a regular file or directory")
	ErrKernel  = errors.New("lies on a file system of the kernel")
	ErrNotLink = errors.New("not a symlink")
	ErrIsDir   = errors.New("is a directory")
	ErrIsLink  = errors.New("is a symlink")
	ErrName    = errors.New("not the name of an entry")
	ErrSwapped = errors.New("was replaced by another meanwhile") // another than a moment before
)

// changeName refuses what is not the name of an entry: unlike entryName also ".".
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

// entryName refuses what is not one component.
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
