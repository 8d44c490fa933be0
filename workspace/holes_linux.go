package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// dataAfter finds where in a file of the given size data begins at or after an
// offset, and where it ends; start is size where only a hole follows. All is data
// on a file system that has no holes.
func dataAfter(f *os.File, at, size int64) (start, end int64, err error) {
	start, err = f.Seek(at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO):
		return size, size, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, errors.ErrUnsupported):
		return at, size, nil
	case err != nil:
		return 0, 0, err
	}
	end, err = f.Seek(start, unix.SEEK_HOLE)
	if errors.Is(err, unix.ENXIO) { // it has become shorter
		return size, size, nil
	}
	return min(start, size), min(end, size), err
}
