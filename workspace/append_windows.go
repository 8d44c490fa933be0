package workspace

import (
	"io"
	"os"
)

// appendTo adds data at the end of the file, and returns where that was.
func appendTo(f *os.File, data []byte) (at int64, err error) {
	if at, err = f.Seek(0, io.SeekEnd); err != nil {
		return 0, err
	}
	_, err = f.Write(data)
	return at, err
}
