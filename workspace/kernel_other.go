//go:build !linux

package workspace

import (
	"errors"
	"os"
)

// newKernelRoot has no kernel to ask.
func newKernelRoot(*os.Root) (backend, error) { return nil, errors.ErrUnsupported }

// kernelFile is never open here.
type kernelFile struct{}

func (*kernelFile) Info() Info                        { return Info{} }
func (*kernelFile) Read([]byte) (int, error)          { return 0, os.ErrClosed }
func (*kernelFile) ReadAt([]byte, int64) (int, error) { return 0, os.ErrClosed }
func (*kernelFile) Seek(int64, int) (int64, error)    { return 0, os.ErrClosed }
func (*kernelFile) Close() error                      { return os.ErrClosed }
