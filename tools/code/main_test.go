package code_test

import (
	"os"
	"syscall"
	"testing"

	"toolcrib/tools/code"
)

// TestMain lets the test's own binary run the programs that the tools start of it.
func TestMain(m *testing.M) {
	if exit, was := code.Program(os.Args[1:]); was {
		syscall.Exit(exit) // without the second that the race detector waits
	}
	os.Exit(m.Run())
}
