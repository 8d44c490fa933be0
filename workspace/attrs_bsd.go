//go:build unix && !linux && !darwin

package workspace

import "os"

// copyAttributes keeps nothing: extended attributes are rare on these systems.
func copyAttributes(from, to *os.File) (lost []string, err error) { return nil, nil }
