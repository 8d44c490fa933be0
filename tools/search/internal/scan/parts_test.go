package scan_test

import (
	"iter"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/search/internal/match"
	"toolcrib/tools/search/internal/scan"
)

// parts are those that begin at the offsets of a list and end at the next one.
func parts(of ...int64) iter.Seq2[int64, int64] {
	return func(yield func(int64, int64) bool) {
		for len(of) > 1 && yield(of[0], of[1]) {
			of = of[2:]
		}
	}
}

// A file is searched only if one of its parts has a match, and then all of it.
func TestParts(t *testing.T) {
	const text = "one\nfoo 1\ntwo\nthree\nfoo 2\n"
	large := strings.Repeat("x\n", 300_000)
	for _, tt := range []struct {
		name string
		file file
		want string
	}{
		{"in a part", file{text: text, parts: parts(0, 4, 4, 10)}, "1- one\n2: foo 1\n3- two\n4- three\n5: foo 2\n"},
		{"in none", file{text: text, parts: parts(0, 4, 10, 20)}, ""},
		{"of no parts", file{text: text, parts: parts()}, ""},
		{"in the last one", file{text: text, parts: parts(0, 4, 20, math.MaxInt64)}, "1- one\n2: foo 1\n3- two\n4- three\n5: foo 2\n"},
		{"behind the end", file{text: text, parts: parts(int64(len(text)), math.MaxInt64)}, ""},
		{"that has grown", file{text: large + "foo", parts: parts(2, math.MaxInt64)}, "300000- x\n300001: foo\n"},
		{"in a part that is too large", file{text: "foo\n" + strings.Repeat("x", scan.MaxText+1), parts: parts(0, math.MaxInt64)}, "1: foo\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, tt.file, match.Pattern{Text: "foo"}, scan.Options{Keep: 10, Before: 1, After: 1})
			if diff := cmp.Diff(tt.want, found(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
