//go:build unix

package workspace

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// appendTo adds data where the file ends by then, which the system finds out in the
// same step, and returns where that was.
func appendTo(f *os.File, data []byte) (at int64, err error) {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETFL, unix.O_APPEND); err != nil {
		return 0, err
	}
	n, err := f.Write(data)
	end, e := f.Seek(0, io.SeekCurrent)
	if err == nil {
		err = e
	}
	return end - int64(n), err
}
