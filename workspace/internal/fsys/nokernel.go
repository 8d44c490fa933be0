//go:build !linux

package fsys

import (
	"errors"
	"os"
)

// OpenKernel has no kernel to ask.
func OpenKernel(*os.Root) (Root, error) { return nil, errors.ErrUnsupported }

// kernelFile is never open here.
type kernelFile struct{}

func (*kernelFile) Info() Info                        { return Info{} }
func (*kernelFile) Read([]byte) (int, error)          { return 0, os.ErrClosed }
func (*kernelFile) ReadAt([]byte, int64) (int, error) { return 0, os.ErrClosed }
func (*kernelFile) Seek(int64, int) (int64, error)    { return 0, os.ErrClosed }
func (*kernelFile) Close() error                      { return os.ErrClosed }

// refuseKernelFile accepts everything: procfs and its like are mounted nowhere
// by default on the systems that have them.
func refuseKernelFile(*os.File) error { return nil }

// DataAfter takes all of a file for data.
func DataAfter(_ *os.File, at, size int64) (start, end int64, err error) { return at, size, nil }

// mountedRoot reports whether an entry lies on another device than dev.
func mountedRoot(root *os.Root, name string, dev uint64) (bool, error) {
	fi, err := root.Lstat(name)
	if err != nil {
		return false, err
	}
	return InfoOf(fi).Device != dev, nil
}

// SyncAll is not offered: the caller syncs file by file.
func SyncAll(Dir) (done bool, err error) { return false, nil }

// Watcher is not offered: indexes validate by stat.
type Watcher struct{}

func NewWatcher(Dir) (*Watcher, error) { return nil, errors.ErrUnsupported }

func (*Watcher) Add(Dir) (int32, error)                            { return NoWatch, errors.ErrUnsupported }
func (*Watcher) Remove(int32)                                      {}
func (*Watcher) Events(func(wd int32, e Event, name []byte)) error { return errors.ErrUnsupported }
func (*Watcher) MountsChanged(Dir) bool                            { return false }
func (*Watcher) Close()                                            {}
