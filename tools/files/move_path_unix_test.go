//go:build unix

package files_test

import (
	"path/filepath"
	"syscall"
	"testing"
)

func TestMoveSpecialFile(t *testing.T) {
	b := newBench(t, nil)
	if err := syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o600); err != nil {
		t.Skip("needs: a file system with FIFOs: " + err.Error())
	}
	b.want("pipe -> p2: moved, a special file; …", b.call("move_path", args{"source": "pipe", "destination": "p2"}))
}
