package pdftest

import (
	"os"
	"path/filepath"
)

// Compiled is the directory in which tests keep the compiled code of PDFium, since compiling
// takes seconds. It outlasts the tests: the code is checked by its hash, and another version
// has another name.
func Compiled() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "toolcrib-tests"), nil
}
