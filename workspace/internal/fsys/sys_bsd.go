//go:build unix && !linux && !darwin

package fsys

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameAt renames between two open directories; these systems can only replace.
func renameAt(from int, name string, to int, as string, how renameHow) error {
	if how != renameOver {
		return errors.ErrUnsupported
	}
	for {
		err := unix.Renameat(from, name, to, as)
		if err != unix.EINTR {
			return err
		}
	}
}

// CopyAttributes keeps nothing: extended attributes are rare on these systems.
func CopyAttributes(from, to *os.File) (lost []string, err error) { return nil, nil }
