package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/diff"
)

// What two texts share ends between characters, also where bytes of different
// characters are equal.
func TestCommonBetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		prefix, suffix int
	}{
		{"xé", "xè", 1, 0},      // c3 a9, c3 a8
		{"éx", "\u0229x", 0, 1}, // c3 a9, c8 a9
		{"é", "\u0229", 0, 0},   // the last byte is the same
		{"a日", "a\u66e5", 1, 0}, // e6 97 a5, e6 9b a5
		{"aé", "aéé", 3, 0},
		{"éb", "ééb", 2, 1},
	} {
		if prefix, suffix := diff.Common(c.a, c.b); prefix != c.prefix || suffix != c.suffix {
			t.Errorf("%q, %q: %d, %d, want %d, %d", c.a, c.b, prefix, suffix, c.prefix, c.suffix)
		}
	}
}

// A diff that just fits is whole, one that has a byte less room is not.
func TestUnifiedJustFits(t *testing.T) {
	const remark = 48
	whole := diff.Unified("a\nb\n", "a\nc\n", diff.Options{})
	if got := diff.Unified("a\nb\n", "a\nc\n", diff.Options{MaxBytes: len(whole) + remark}); got != whole {
		t.Errorf("%q, want %q", got, whole)
	}
	want := strings.TrimSuffix(whole, "+c\n") + "… 1 more line of diff\n"
	if got := diff.Unified("a\nb\n", "a\nc\n", diff.Options{MaxBytes: len(whole) + remark - 1}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A line of 1,000 characters is shown whole, a longer one is cut.
func TestUnifiedLongLines(t *testing.T) {
	for n, cut := range map[int]bool{1000: false, 1001: true} {
		got := diff.Unified("", strings.Repeat("x", n)+"\n", diff.Options{})
		if strings.Contains(got, "…") != cut {
			t.Errorf("%d characters: %.80q", n, got)
		}
	}
}

// Characters of short texts are compared one by one, of longer ones not.
func TestMarkedBound(t *testing.T) {
	for n, marked := range map[int]bool{1999: true, 2001: false} {
		a := strings.Repeat("x", n-1) + " "
		if got, _ := diff.Marked(a, strings.Repeat("x", n-1)+"\t"); strings.HasSuffix(got, "·") != marked {
			t.Errorf("%d characters: ends in %q", n, got[n-3:])
		}
	}
}

// Above 200,000 lines what lies between the first and the last difference counts as
// replaced, below it does not.
func TestLinesBound(t *testing.T) {
	for n, want := range map[int]int{99_000: 2, 101_000: 1} {
		a, b := make([]string, n), make([]string, n)
		for i := range n {
			a[i] = fmt.Sprint(i)
			b[i] = a[i]
		}
		b[0], b[n-1] = "x", "y"
		if got := diff.Lines(a, b); len(got) != want {
			t.Errorf("%d lines: %d changes, want %d", n, len(got), want)
		}
	}
}
