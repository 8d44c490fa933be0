package files_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"
)

// A client that follows the hints of results mechanically gets all of a file or list:
// these tests know only the form of the hints of a tool.

var (
	hintOffset = regexp.MustCompile(`; next: offset=(-?\d+)$`)
	hintCut    = regexp.MustCompile(`…\[\+(\d+) bytes: byte_offset=(\d+) byte_limit=(\d+)\]$`)
	numbered   = regexp.MustCompile(`^(-?\d+)\t(.*)$`)
)

func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// apart shows where two texts part.
func apart(got, want string) string {
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	return fmt.Sprintf("at byte %d got %.60q, want %.60q", n, got[n:], want[n:])
}
