package tooltest_test

import (
	"testing"

	"toolcrib/tools/internal/tooltest"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		want, got string
		match     bool
	}{
		{"a\nb", "a\nb\n", true},
		{"a\nb", "a\nc", false},
		{"a … z", "a b c z", true},
		{"a … z", "a b\nc z", false},
		{"a\n...\nz", "a\nz", true},
		{"a\n...\nz", "a\nb\nc\nz", true},
		{"...", "", true},
		{"a", "a\nb", false},
		{"a.c", "abc", false},
	} {
		if got := tooltest.Match(c.want, c.got) == ""; got != c.match {
			t.Errorf("Match(%q, %q) = %v", c.want, c.got, got)
		}
	}
}
