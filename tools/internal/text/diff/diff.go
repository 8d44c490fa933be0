// Package diff shows how two texts differ, for results and error messages.
//
// Start at [Unified]; [Lines] compares line by line, and [Marked] shows the differences
// inside a line. The package imports only package textfile of toolcrib.
package diff

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// mostLines is the most lines of both sides that are compared one by one. Above it
// everything between the first and the last difference counts as replaced.
const mostLines = 200_000

// Change says that lines A0 to A1 of one side are lines B0 to B1 of the other. Lines count
// from 0, and the second of each pair is excluded.
type Change struct{ A0, A1, B0, B1 int }

// Lines returns the changes that turn a into b, in order; no two of them touch. The search
// for the fewest changed lines is bounded: texts with little in common may get more.
func Lines(a, b []string) []Change {
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	midA, midB := a[head:len(a)-tail], b[head:len(b)-tail]
	switch {
	case len(midA) == 0 && len(midB) == 0:
		return nil
	case len(midA) == 0 || len(midB) == 0 || len(midA)+len(midB) > mostLines,
		len(midA) == 1 && !slices.Contains(midB, midA[0]), len(midB) == 1 && !slices.Contains(midA, midB[0]):
		return []Change{{head, head + len(midA), head, head + len(midB)}}
	}
	var changes []Change
	for _, d := range lcs.DiffLines(midA, midB) {
		c := Change{head + d.Start, head + d.End, head + d.ReplStart, head + d.ReplEnd}
		if n := len(changes); n > 0 && changes[n-1].A1 == c.A0 && changes[n-1].B1 == c.B0 {
			changes[n-1].A1, changes[n-1].B1 = c.A1, c.B1
			continue
		}
		changes = append(changes, c)
	}
	return changes
}

// Stat returns how many lines were added and removed.
func Stat(a, b string) (added, removed int) {
	if a == b {
		return 0, 0
	}
	c := compare(a, b, 0)
	for _, change := range c.changes {
		added += change.B1 - change.B0
		removed += change.A1 - change.A0
	}
	return added, removed
}

// Common returns how many bytes two texts share at their start and, in the rest, at their
// end. Both parts end between characters.
func Common(a, b string) (prefix, suffix int) {
	n := min(len(a), len(b))
	for prefix < n && a[prefix] == b[prefix] {
		// Whole blocks first: most of a file is the same.
		const block = 4096
		if prefix+block <= n && a[prefix:prefix+block] == b[prefix:prefix+block] {
			prefix += block
			continue
		}
		prefix++
	}
	for prefix > 0 && (prefix < len(a) && !utf8.RuneStart(a[prefix]) || prefix < len(b) && !utf8.RuneStart(b[prefix])) {
		prefix--
	}
	a, b = a[prefix:], b[prefix:]
	n = min(len(a), len(b))
	for suffix < n && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		const block = 4096
		if suffix+block <= n && a[len(a)-suffix-block:len(a)-suffix] == b[len(b)-suffix-block:len(b)-suffix] {
			suffix += block
			continue
		}
		suffix++
	}
	for suffix > 0 && !utf8.RuneStart(a[len(a)-suffix]) {
		suffix--
	}
	return prefix, suffix
}

// comparison is the differing part of two texts with some lines around it.
type comparison struct {
	first   int      // number of the first of the lines
	a, b    []string // lines with their ends
	changes []Change // of a and b
}

// compare splits only the part of the texts that differs and a number of lines
// around it, so that a small change in a large file costs little.
func compare(a, b string, context int) comparison {
	prefix, suffix := Common(a, b)
	start := strings.LastIndexByte(a[:prefix], '\n') + 1
	for range context {
		if start > 0 {
			start = strings.LastIndexByte(a[:start-1], '\n') + 1
		}
	}
	// The part at the end begins where a line begins on both sides, after the
	// lines that are shown around the change.
	rest := len(a) - suffix
	if suffix > 0 && (!startsLine(a, rest) || !startsLine(b, len(b)-suffix)) {
		rest = lineAfter(a, rest)
	}
	for range context {
		rest = lineAfter(a, rest)
	}
	suffix = len(a) - rest
	c := comparison{
		first: strings.Count(a[:start], "\n") + 1,
		a:     splitLines(a[start : len(a)-suffix]),
		b:     splitLines(b[start : len(b)-suffix]),
	}
	c.changes = Lines(c.a, c.b)
	return c
}

func startsLine(s string, i int) bool { return i == 0 || s[i-1] == '\n' }

func lineAfter(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

// splitLines returns the lines with their ends.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}
