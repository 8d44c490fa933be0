//go:build !unix

package fsys

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// OpenFlags is empty: these systems have no FIFO among their files.
const OpenFlags = 0

// Identity returns the device and inode of a file and its number of hard links; 0 if the
// system has none.
func Identity(fs.FileInfo) (device, inode, links uint64) { return 0, 0, 0 }

// userOf returns the ID of the user who owns a file; 0 if the system has none.
func userOf(fs.FileInfo) uint32 { return 0 }

// renameRoots renames within a directory. os.Root does not rename between two, and
// can only replace.
func renameRoots(from *os.Root, name string, to *os.Root, as string, how renameHow) error {
	if how != renameOver {
		return errors.ErrUnsupported
	}
	if err := sameRoot(from, to); err != nil {
		return err
	}
	return from.Rename(name, as)
}

// linkRoots makes a hard link within a directory.
func linkRoots(from *os.Root, name string, to *os.Root, as string) error {
	if err := sameRoot(from, to); err != nil {
		return err
	}
	return from.Link(name, as)
}

// chtimesRoot sets the time of an entry that is not a link; os.Root cannot do it for links.
func chtimesRoot(root *os.Root, name string, when time.Time) error {
	fi, err := root.Lstat(name)
	if err != nil || fi.Mode()&os.ModeSymlink != 0 {
		return err
	}
	return root.Chtimes(name, when, when)
}

func sameRoot(a, b *os.Root) error {
	ai, err := a.Stat(".")
	if err != nil {
		return err
	}
	bi, err := b.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(ai, bi) {
		return errCrossDir
	}
	return nil
}

// syncDir has nothing to do: these systems do not sync directories.
func syncDir(*os.File) error { return nil }
