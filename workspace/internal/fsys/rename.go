package fsys

import (
	"errors"
	"io/fs"
	"syscall"
)

// renameHow says what a rename does if the new name exists.
type renameHow int

const (
	renameOver renameHow = iota // replaces it
	renameKeep                  // fails with fs.ErrExist
	renameSwap                  // gives it the old name
)

// errCrossDir says that entries cannot be renamed between two directories.
const errCrossDir = syscall.EXDEV

// unsupportedRename reports whether a rename failed for want of renameKeep or
// renameSwap, in the system (ENOSYS) or the file system (EINVAL and the others).
// EINVAL is also the answer to a directory moved into itself.
func unsupportedRename(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL)
}

// Linker is the part of a Dir that MoveBySteps needs.
type Linker interface {
	Dir
	// Link makes as another name of a regular file, and never replaces an entry.
	Link(name string, to Dir, as string) error
	// Rename is the rename of the system.
	Rename(name string, to Dir, as string, how renameHow) error
}

// MoveBySteps is Dir.Move for systems that have no rename that never replaces. A file gets
// its new name by a hard link, which never replaces either; a program that puts another
// file at the old name before that is removed loses it. An entry that cannot be linked is
// renamed after a check: an entry that another program makes at as in between is replaced,
// unless it is a directory that is not empty.
func MoveBySteps(from Linker, name string, to Dir, as string) error {
	if err := changeName(name, as); err != nil {
		return err
	}
	info, err := from.Stat(name)
	if err != nil {
		return err
	}
	if info.Kind == KindFile {
		err := from.Link(name, to, as)
		if err == nil {
			if err = from.Remove(name); err != nil {
				err = errors.Join(err, to.Remove(as))
			}
			return err
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, errCrossDir) {
			return err
		}
	}
	switch _, err := to.Stat(as); {
	case err == nil:
		return fs.ErrExist
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return from.Rename(name, to, as, renameOver)
}

// moveEntry is Dir.Move of both backends.
func moveEntry(from Linker, name string, to Dir, as string) error {
	err := from.Rename(name, to, as, renameKeep)
	if unsupportedRename(err) {
		return MoveBySteps(from, name, to, as)
	}
	return err
}

// exchangeEntries is Dir.Exchange of both backends.
func exchangeEntries(from Linker, name string, to Dir, as string) error {
	err := from.Rename(name, to, as, renameSwap)
	if unsupportedRename(err) {
		return errors.ErrUnsupported
	}
	return err
}
