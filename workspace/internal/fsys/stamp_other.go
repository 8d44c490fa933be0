//go:build !linux && !darwin

package fsys

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// StampOf describes the entry at a path below h, without following a link at its end; "."
// is the directory itself. A missing entry has the zero stamp.
func StampOf(h Dir, name string, now time.Time) Stamp { return stampPortable(h, name, now) }

// statusTime is 0: the time is kept nowhere, or in another way on each system.
func statusTime(fs.FileInfo) int64 { return 0 }

// StampOfHost describes the target of a path on the host, as StampOf does.
func StampOfHost(name string, now time.Time) Stamp {
	fi, err := os.Stat(filepath.FromSlash(name))
	return stampOfFile(fi, err, now)
}
