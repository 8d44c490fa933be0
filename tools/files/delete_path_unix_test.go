//go:build unix

package files_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

// A special file is neither deleted by itself nor asked about.
func TestDeleteSpecialFile(t *testing.T) {
	b := newBench(t, nil)
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Skip("needs: a file system with FIFOs: " + err.Error())
	}
	b.want("", b.question("delete_path", args{"path": "pipe"}))
	b.want("error: …", b.call("delete_path", args{"path": "pipe"}))
}
