package fsys

import (
	"golang.org/x/sys/unix"
)

// renameAt renames between two open directories.
func renameAt(from int, name string, to int, as string, how renameHow) error {
	flags := [...]uint32{renameOver: 0, renameKeep: unix.RENAME_EXCL, renameSwap: unix.RENAME_SWAP}
	for {
		err := unix.RenameatxNp(from, name, to, as, flags[how])
		if err != unix.EINTR {
			return err
		}
	}
}

const errNoAttribute = unix.ENOATTR
