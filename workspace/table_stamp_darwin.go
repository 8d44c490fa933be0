package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// stampOf describes what stands at a path below h, without following a link at its end;
// "." is the directory itself. What is not there
// has the zero stamp.
func stampOf(h dir, name string, now time.Time) stamp { return stampPortable(h, name, now) }

// statusTime returns when the status of a file changed.
func statusTime(fi fs.FileInfo) int64 {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return syscall.TimespecToNsec(st.Ctimespec)
	}
	return 0
}

// stampOfHost describes what a path on the host leads to, as stampOf does.
func stampOfHost(name string, now time.Time) stamp {
	fi, err := os.Stat(filepath.FromSlash(name))
	return stampOfFile(fi, err, now)
}
