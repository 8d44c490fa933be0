package workspace

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// backend opens what lies below one root. A rel is slash-separated, relative and
// free of ".."; it may end in a slash, which demands a directory. Every method
// follows the links that stay below the root and answers errEscapes for a link
// that leaves it, whatever changes the tree meanwhile. Errors are those of the
// system or of the list below.
type backend interface {
	openFile(rel string, f *rawFile) error   // opens a regular file for reading into f
	openListed(rel string, f *rawFile) error // as that of dir
	openDir(rel string) (dir, error)
	openPlainDir(rel string) (dir, error) // follows no link at all: errIsLink
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
	// openFile opens a regular file of the directory for reading into f, which belongs
	// to the caller so that what wraps it takes one allocation.
	openFile(name string, f *rawFile) error
	// openListed is openFile for what was listed as a regular file. It need not look
	// what has become of that since: a FIFO or device may be opened for it. It may fail
	// where openFile does not.
	openListed(name string, f *rawFile) error
	// openRead is openFile for those who need more of a file than to read it.
	openRead(name string) (*os.File, Info, error)
	// entries reads the directory from its start, in the order of the file system;
	// it stops early once it has limit entries, where limit is not 0.
	entries(limit int) ([]DirEntry, error)
	// stat describes an entry, or with "." the directory itself.
	stat(name string) (Info, error)
	close() error
	dirChange
}

// dirChange is what changes the entries of a dir. No name may be ".", and nothing
// blocks or touches what a link leads to. The bits of perm are those of
// [fs.ModePerm] with setuid, setgid and sticky.
type dirChange interface {
	// create makes a file that was not there and opens it for reading and writing;
	// perm is subject to the umask, and to the default ACL of the directory.
	create(name string, perm fs.FileMode) (*os.File, error)
	// openWrite opens a regular file for reading and writing.
	openWrite(name string) (*os.File, Info, error)
	// writable tells whether the caller may write a regular file, which it leaves
	// as it is; nil = yes.
	writable(name string) error
	// changeable tells whether the caller may make and remove entries of the
	// directory itself; nil = yes.
	changeable() error
	// mkdir makes a directory; perm is subject to the umask and default ACL.
	mkdir(name string, perm fs.FileMode) error
	// symlink makes a link that holds the text target, which is not looked at.
	symlink(target, name string) error
	// remove takes away an entry that is not a directory, or an empty directory.
	remove(name string) error
	// move renames an entry and never replaces: fs.ErrExist where anything stands
	// at as. A file system without such a rename has a window, see moveBySteps.
	// Between directories that the system cannot rename between, EXDEV.
	move(name string, to dir, as string) error
	// replace renames a file or link over what stands at as, if that is no
	// directory. Where both are hard links of one file, the system leaves both.
	// EXDEV as with move.
	replace(name string, to dir, as string) error
	// exchange swaps two entries of whatever kinds in one step; ErrUnsupported
	// where the system or file system cannot, EXDEV as with move.
	exchange(name string, to dir, as string) error
	// chmod sets the bits of a directory that the caller may list.
	chmod(name string, perm fs.FileMode) error
	// chtimes sets when an entry, be it a link, was changed last.
	chtimes(name string, when time.Time) error
	// mounted tells whether an entry is where another file system is mounted, or
	// another part of the same.
	mounted(name string) (bool, error)
	// sync makes durable which entries the directory has.
	sync() error
	// self opens the directory itself as a file, which is closed on its own.
	self() (*os.File, error)
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

// changeName refuses what is not the name of an entry: unlike entryName also ".".
func changeName(names ...string) error {
	for _, name := range names {
		if name == "." {
			return errName
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
		return errName
	}
	for i := range len(name) {
		if name[i] == 0 || os.IsPathSeparator(name[i]) {
			return errName
		}
	}
	return nil
}
