package tooltest

import (
	"os"
	"syscall"
	"testing"
)

// Main is a TestMain that lets the test's own binary run the programs that tools start of it.
func Main(m *testing.M, program func(args []string) (exit int, was bool)) {
	if exit, was := program(os.Args[1:]); was {
		syscall.Exit(exit) // without the second that the race detector waits
	}
	os.Exit(m.Run())
}
