package workspace

import (
	"errors"
	"os"
)

// backend opens what lies below one root. A rel is slash-separated, relative and
// free of ".."; it may end in a slash, which demands a directory. Every method
// follows the links that stay below the root and answers errEscapes for a link
// that leaves it, whatever changes the tree meanwhile. Errors are those of the
// system or of the list below.
type backend interface {
	openFile(rel string) (*os.File, Info, error)
	openDir(rel string) (dir, error)
	stat(rel string) (Info, error)
	lstat(rel string) (Info, error)      // does not follow the last component
	readlink(rel string) (string, error) // errNotLink for anything but a link
	sub(rel string) (backend, error)     // a directory as a root of its own
	name() string
	close() error
}

// dir is an open directory below a root. A name is one component, never "..",
// and a link is never followed: it is an error to open one. The handle belongs to
// the directory and not to its name, so it survives a move.
type dir interface {
	// open opens a directory of the directory.
	open(name string) (dir, error)
	// openFile opens a regular file of the directory for reading.
	openFile(name string) (File, error)
	// entries reads the directory from its start, in the order of the file system;
	// it stops early once it has limit entries, where limit is not 0.
	entries(limit int) ([]DirEntry, error)
	// stat describes an entry, or with "." the directory itself.
	stat(name string) (Info, error)
	close() error
}

// What a backend or a dir refuses by itself, before classify words it.
var (
	errEscapes = errors.New("leaves the root")
	errSpecial = errors.New("not a regular file or directory")
	errKernel  = errors.New("lies on a file system of the kernel")
	errNotLink = errors.New("not a symlink")
	errIsDir   = errors.New("is a directory")
	errIsLink  = errors.New("is a symlink")
	errName    = errors.New("not the name of an entry")
)

// entryName refuses what is not one component.
func entryName(name string) error {
	if name == "" || name == ".." {
		return errName
	}
	for i := range len(name) {
		if name[i] == 0 || os.IsPathSeparator(name[i]) {
			return errName
		}
	}
	return nil
}
