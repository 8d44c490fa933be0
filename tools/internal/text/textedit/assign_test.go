package textedit_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/tooltest"
)

// functions is equal functions but for their heads, five lines each.
func functions(n int, number func(i int) int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "func f%d() {\n\ta := 1\n\tb := %d\n}\n\n", i+1, number(i+1))
	}
	return b.String()
}

// ranged makes chunks of lines, each after "LINE heading|".
func ranged(texts ...string) []textedit.Chunk {
	var out []textedit.Chunk
	for _, text := range texts {
		head, body, _ := strings.Cut(text, "|")
		c := chunk(body)
		number, heading, _ := strings.Cut(head, " ")
		c.Line, _ = strconv.Atoi(number)
		c.Heading = heading
		out = append(out, c)
	}
	return out
}

// same is functions that are equal, but for some that are changed.
func same(n int, changed ...int) string {
	var b strings.Builder
	for i := range n {
		number := 2
		if slices.Contains(changed, i+1) {
			number = 3
		}
		fmt.Fprintf(&b, "func f() {\n\ta := 1\n\tb := %d\n}\n\n", number)
	}
	return b.String()
}

// Several places fit, and all chunks together tell which are meant.
func TestPatchAssigns(t *testing.T) {
	equal := func(int) int { return 2 }
	second := func(at ...int) string {
		return functions(8, func(i int) int {
			if slices.Contains(at, i) {
				return 3
			}
			return 2
		})
	}
	const change = " \ta := 1\n-\tb := 2\n+\tb := 3\n }" // at lines 2, 7, 12 ... 37
	moved := "1\n2\n3\n" + functions(8, equal)
	for _, c := range []struct {
		editCase
		chunks []textedit.Chunk
		starts []int
	}{
		{editCase{name: "as far off as the one before", in: moved, want: "1\n2\n3\n" + strings.Replace(second(5), "func f1() {\n\ta :=", "func f1() {\n\tA :=", 1)},
			ranged("1| func f1() {\n-\ta := 1\n+\tA := 1\n \tb := 2", "22|"+change), []int{4, 25}},
		{editCase{name: "as far off as the one that follows", in: moved, want: "1\n2\n3\n" + strings.Replace(second(5), "func f8()", "func f9()", 1)},
			ranged("22|"+change, "36|-func f8() {\n+func f9() {\n \ta := 1"), []int{25, 39}},
		{editCase{name: "all equally far off, in several ways", in: "1\n2\n3\n" + same(8, 0), want: "1\n2\n3\n" + same(8, 1, 5)}, ranged("2|"+change, "22|"+change), []int{5, 25}},
		{editCase{name: "all equally far off, in two ways that are alike", in: "1\n2\n3\n" + same(8, 0), fails: "hunk 1: its lines are in the file 4 times, at lines 5, 10, 15, 20"}, ranged("12|"+change, "32|"+change), nil},
		{editCase{name: "lines came between", in: functions(1, equal) + "1\n2\n3\n" + functions(8, equal)[len(functions(1, equal)):], want: "func f1() {\n\ta := 1\n\tb := 3\n}\n\n1\n2\n3\n" + strings.Replace(second(7)[len(functions(1, equal)):], "func f8", "func f9", 1)},
			ranged("2|"+change, "32|"+change, "36|-func f8() {\n+func f9() {\n \ta := 1"), []int{2, 35, 39}},
		{editCase{name: "at its line, though others fit", in: functions(8, equal), want: second(5)}, ranged("22|" + change), []int{22}},
		{editCase{name: "not at its line", in: functions(8, equal), fails: "8 times, at lines 2, 7, 12, 17, 22, 27, 32, 37, and line 23, where the patch has it, does not decide", detail: []string{"22\t\ta := 1   (after 21: func f5() {"}},
			ranged("23|" + change), nil},
		{editCase{name: "false numbers, in one place only", in: functions(8, equal), want: strings.Replace(functions(8, equal), "func f8", "func f9", 1)}, ranged("2|-func f8() {\n+func f9() {\n \ta := 1"), []int{36}},
		{editCase{name: "all numbers 1, as many chunks as places", in: functions(2, equal), want: functions(2, func(int) int { return 3 })}, ranged("1|"+change, "1|"+change), []int{2, 7}},
		{editCase{name: "the heading decides", in: moved, want: "1\n2\n3\n" + second(5)}, ranged("22 func f5(|" + change), []int{25}},
		{editCase{name: "a heading that is not there", in: moved, fails: "does not decide"}, ranged("22 func f55|" + change), nil},
		{editCase{name: "its line before its heading", in: functions(8, equal), want: second(5)}, ranged("22 func f1() {|" + change), []int{22}},
		{editCase{name: "at the end of the file", in: "a\n}\nb\n}\n", want: "a\n}\nb\n}\nc\n"}, ranged("7| }\n+c"), []int{4}},
		{editCase{name: "at the end of the file, or at its line", in: "a\n}\nb\n}\n", fails: "2 times, at lines 2, 4"}, ranged("2| }\n+c"), nil},

		{editCase{name: "between its neighbours", in: "s\nx\nt\nx\nu\nx\n", want: "S\nx\nT\ny\nU\nx\n"}, chunks("-s\n+S", "-t\n+T", "-x\n+y", "-u\n+U"), []int{1, 3, 4, 5}},
		{editCase{name: "as many as there are places", in: "x\na\nx\n", want: "y\na\nz\n"}, chunks("-x\n+y", "-x\n+z"), []int{1, 3}},
		{editCase{name: "fewer than there are places", in: "x\nx\nx\n", fails: "hunk 1: its lines are in the file 2 times, at lines 1, 2"}, chunks("-x\n+y", "-x\n+z"), nil},
		{editCase{name: "the first is told by the second", in: "x\na\nb\nx\n", want: "y\na\nc\nx\n"}, chunks("-x\n+y", "-b\n+c"), []int{1, 3}},
		{editCase{name: "only before the one before", in: "x\nx\na\n", fails: "hunk 2: its lines are at line 1, 2, but not after those of the hunk before"}, chunks("-a\n+b", "-x\n+y"), nil},
		{editCase{name: "lines of another hunk", in: "a\nb\n", fails: "hunk 2: its lines are those of hunk 1, at line 2"}, chunks("-a\n-b\n+c", "-b\n+d"), nil},
		{editCase{name: "context that another changes", in: "a\nb\nc\n", want: "A\nB\nc\n"}, chunks("-a\n+A\n b", "-b\n+B\n c"), []int{1, 2}},
		{editCase{name: "shared context is the last choice", in: "a\nx\nb\nx\nc\n", want: "A\nx\nb\nx\nC\n"}, chunks("-a\n+A\n x", " x\n-c\n+C"), []int{1, 4}},

		{editCase{name: "without context after one that moved", in: "0\na\nb\nc\n", want: "0\nA\nb\nx\nc\n"}, ranged("1|-a\n+A", "3|+x"), []int{2, 4}},
		{editCase{name: "without context before one that moved", in: "0\na\nb\nc\n", fails: "hunk 1: has no context lines, and may belong before line 2, 3, and line 2, where the patch has it, does not decide"}, ranged("2|+x", "3|-c\n+C"), nil},
		{editCase{name: "without context at a line that is not there", in: "a\n", fails: "has no context lines, and the file has no line 8"}, ranged("9|+x"), nil},
		{editCase{name: "without context after anchors in several places", in: "a\nb\na\n", fails: "has no context lines, and its anchor is in several places"}, chunks("@@ a\n+x"), nil},
		{editCase{name: "without context twice", in: "a\nb\n", want: "a\nx\ny\nb\n"}, ranged("2|+x", "2|+y"), []int{2, 2}},

		{editCase{name: "byte order mark in the patch", in: "\ufeffa\nb\n", want: "\ufeffx\nb\n"}, chunks("-\ufeffa\n+\ufeffx\n b"), []int{1}},
		{editCase{name: "byte order mark in context", in: "\ufeffa\r\nb\r\n", want: "\ufeffa\r\nx\r\n"}, chunks(" \ufeffa\n-b\n+x"), []int{1}},
		{editCase{name: "byte order mark goes", in: "\ufeffa\nb\n", want: "a\nb\n"}, chunks("-\ufeffa\n+a\n b"), []int{1}},
		{editCase{name: "byte order mark of UTF-16", in: "\xff\xfea\x00\n\x00b\x00\n\x00", want: "\xff\xfea\x00\n\x00x\x00\n\x00"}, chunks(" \ufeffa\n-b\n+x"), []int{1}},
		{editCase{name: "byte order mark that is not there", in: "a\nb\n", fails: "its lines are not in the file"}, chunks("-\ufeffa\n+\ufeffx\n b"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := parse(t, c.in).Patch(c.chunks)
			check(t, result, err, c.editCase)
			if c.starts != nil && fmt.Sprint(result.Starts) != fmt.Sprint(c.starts) {
				t.Errorf("starts %v, want %v", result.Starts, c.starts)
			}
		})
	}
}

// Work must not grow with the square of the places.
func TestPatchAssignsManyPlaces(t *testing.T) {
	tooltest.Unraced(t)
	in := strings.Repeat("x\n", 100_000)
	var all []textedit.Chunk
	for range 20 {
		all = append(all, chunk(" x\n-x\n+y\n x"))
	}
	start := time.Now()
	if _, err := parse(t, in).Patch(all); err == nil || !strings.Contains(err.Error(), "times") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(start); took > time.Minute { // it takes a second
		t.Errorf("took %v", took)
	}
}
