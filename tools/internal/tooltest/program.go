package tooltest

import (
	"flag"
	"os"
	"syscall"
	"testing"
)

// Main is a TestMain that lets the test's own binary run the programs that tools start of it.
func Main(m *testing.M, program func(args []string) (exit int, was bool)) {
	if exit, was := program(os.Args[1:]); was {
		syscall.Exit(exit) // without the second that the race detector waits
	}
	os.Exit(Together(m))
}

// Together runs the tests of a package, eight of the parallel ones at a time unless -parallel
// says how many: they wait for most of their time, if not with the race detector. It returns
// the exit code.
func Together(m *testing.M) int {
	if Slowdown == 1 {
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
	}
	return m.Run()
}
