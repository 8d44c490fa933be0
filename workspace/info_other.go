//go:build !unix

package workspace

import "io/fs"

// openFlags is empty: these systems have no FIFO among their files.
const openFlags = 0

func identity(fs.FileInfo) (device, inode, links uint64) { return 0, 0, 0 }
