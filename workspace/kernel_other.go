//go:build !linux

package workspace

import (
	"errors"
	"os"
)

// newKernelRoot has no kernel to ask.
func newKernelRoot(*os.Root) (backend, error) { return nil, errors.ErrUnsupported }
