//go:build unix

package durable_test

import (
	"os"
	"syscall"
	"testing"
)

// stopped stops a process, or lets it go on.
func stopped(t *testing.T, p *os.Process, stop bool) {
	t.Helper()
	sig := syscall.SIGCONT
	if stop {
		sig = syscall.SIGSTOP
	}
	if err := p.Signal(sig); err != nil {
		t.Fatal(err)
	}
}
