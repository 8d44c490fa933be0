//go:build !linux && !darwin

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// stampOf describes what stands at a path below h, without following a link at its end;
// "." is the directory itself. What is not there
// has the zero stamp.
func stampOf(h dir, name string, now time.Time) stamp { return stampPortable(h, name, now) }

// statusTime is 0: the time is kept nowhere, or in another way on each system.
func statusTime(fs.FileInfo) int64 { return 0 }

// stampOfHost describes what a path on the host leads to, as stampOf does.
func stampOfHost(name string, now time.Time) stamp {
	fi, err := os.Stat(filepath.FromSlash(name))
	return stampOfFile(fi, err, now)
}
