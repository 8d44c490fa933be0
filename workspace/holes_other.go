//go:build !linux

package workspace

import "os"

// dataAfter takes all of a file for data.
func dataAfter(_ *os.File, at, size int64) (start, end int64, err error) { return at, size, nil }
