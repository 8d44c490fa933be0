package code_test

import (
	"os"
	"testing"

	"toolcrib/tools/code"
)

// TestMain lets the test's own binary run the programs that the tools start of it.
func TestMain(m *testing.M) {
	if exit, was := code.Program(os.Args[1:]); was {
		os.Exit(exit)
	}
	os.Exit(m.Run())
}
