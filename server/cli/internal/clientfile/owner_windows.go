package clientfile

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: a new file inherits from its directory.
func keepOwner(*os.File, fs.FileInfo) error { return nil }
