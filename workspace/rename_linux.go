package workspace

import "golang.org/x/sys/unix"

// renameAt renames between two open directories.
func renameAt(from int, name string, to int, as string, how renameHow) error {
	flags := [...]uint{renameOver: 0, renameKeep: unix.RENAME_NOREPLACE, renameSwap: unix.RENAME_EXCHANGE}
	for {
		var err error
		if how == renameOver {
			err = unix.Renameat(from, name, to, as)
		} else {
			err = unix.Renameat2(from, name, to, as, flags[how])
		}
		if err != unix.EINTR {
			return err
		}
	}
}
