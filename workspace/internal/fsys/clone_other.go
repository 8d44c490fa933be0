//go:build !linux

package fsys

import (
	"errors"
	"os"
)

// Clone makes the content of an empty file that of another one, sharing its blocks; only
// Linux has it here.
func Clone(_, _ *os.File) error { return errors.ErrUnsupported }
