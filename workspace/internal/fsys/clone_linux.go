package fsys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Clone makes the content of an empty file that of another one, sharing its blocks. Few file
// systems can.
func Clone(to, from *os.File) error {
	return control(to, func(dst int) error {
		return control(from, func(src int) error { return unix.IoctlFileClone(dst, src) })
	})
}
