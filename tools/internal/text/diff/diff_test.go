package diff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/text/diff"
)

func TestUnified(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		opt        diff.Options
		want       string
	}{
		{"equal", "a\n", "a\n", diff.Options{From: "x", To: "x"}, ""},
		{"one line", "a\nb\nc\n", "a\nx\nc\n", diff.Options{From: "old", To: "new"}, "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
		{"no header", "a\n", "b\n", diff.Options{}, "@@ -1 +1 @@\n-a\n+b\n"},
		{"added", "", "a\nb\n", diff.Options{From: "/dev/null", To: "f"}, "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"removed", "a\n", "", diff.Options{From: "f", To: "/dev/null"}, "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"inserted in the middle", "a\nb\n", "a\nx\nb\n", diff.Options{Context: -1}, "@@ -1,0 +2 @@\n+x\n"},
		{"removed from the middle", "a\nx\nb\n", "a\nb\n", diff.Options{Context: -1}, "@@ -2 +1,0 @@\n-x\n"},
		{"context of one", "1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", diff.Options{Context: 1}, "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n"},
		{"two hunks", "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n", diff.Options{}, "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n"},
		{"hunks that touch", "a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n", diff.Options{}, "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n"},
		{"no final newline", "a\nb", "a\nc", diff.Options{}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"final newline added", "a\nb", "a\nb\n", diff.Options{}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"},
		{"context without final newline", "a\nb", "x\nb", diff.Options{}, "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n"},
		{"invisible characters", "a\u202eb\n", "a\xe9b\n", diff.Options{}, "@@ -1 +1 @@\n-a\\u{202e}b\n+a\\x{e9}b\n"},
		{"invisible characters in names", "a\n", "b\n", diff.Options{From: "f\u202e", To: "g"}, "--- f\\u{202e}\n+++ g\n@@ -1 +1 @@\n-a\n+b\n"},
		{"CRLF on both sides", "a\r\nb\r\n", "a\r\nx\r\n", diff.Options{}, "@@ -1,2 +1,2 @@\n a\n-b\n+x\n"},
		{"CRLF to LF", "a\r\n", "a\n", diff.Options{}, "@@ -1 +1 @@\n-a\\u{d}\n+a\n"},
		{"CRLF context", "a\r\nb\nc\r\n", "a\r\nx\nc\r\n", diff.Options{}, "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"},
	} {
		if d := cmp.Diff(c.want, diff.Unified(c.a, c.b, c.opt)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, d)
		}
	}
}

func TestUnifiedBounds(t *testing.T) {
	var a, b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&a, "line %d\n", i)
		fmt.Fprintf(&b, "row %d\n", i)
	}
	for _, limit := range []int{100, 1000, 12_000, 0} {
		got := diff.Unified(a.String(), b.String(), diff.Options{From: "a", To: "b", MaxBytes: limit})
		if limit == 0 {
			limit = 20_000
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		var left int
		if _, err := fmt.Sscanf(lines[len(lines)-1], "… %d more lines of diff", &left); err != nil {
			t.Fatalf("%d: last line %q", limit, lines[len(lines)-1])
		}
		if len(got) > limit || len(got) < limit/2 || left+len(lines)-1 != 2+1+10_000 {
			t.Errorf("%d: %d bytes, %d lines and %d more", limit, len(got), len(lines), left)
		}
	}
	x := strings.Repeat("x", 1<<20)
	got := diff.Unified(x+"a"+x+"\n", x+"b"+x+"\n", diff.Options{})
	if len(got) > 3000 || !strings.Contains(got, "xax") || !strings.Contains(got, "xbx") || !strings.Contains(got, "…[+") {
		t.Errorf("a long line: %d bytes", len(got))
	}
}

func TestMarked(t *testing.T) {
	for _, c := range []struct{ a, b, wantA, wantB string }{
		{"same", "same", "same", "same"},
		{"\tx", "    x", "→x", "····x"},
		{"  x", "    x", "··x", "····x"},
		{"x", "x ", "x", "x·"},
		{"x\r", "x", "x␍", "x"},
		{"a b", "a\u00a0b", "a·b", `a\u{a0}b`},
		{"a  b c", "a b c", "a··b c", "a·b c"},
		{"é", "e\u0301", "é", `e\u{301}`},
		{`"a"`, "“a”", `"a"`, `\u{201c}a\u{201d}`},
		{"a b", "A b", "a b", "A b"},
		{"a\xffb", "a\xfeb", `a\x{ff}b`, `a\x{fe}b`},
		{"a\u200bb", "ab", `a\u{200b}b`, "ab"},
		{"a\n b", "a\n\tb", "a\n·b", "a\n→b"},
		{"", " ", "", "·"},
	} {
		if a, b := diff.Marked(c.a, c.b); a != c.wantA || b != c.wantB {
			t.Errorf("%q, %q: %q, %q, want %q, %q", c.a, c.b, a, b, c.wantA, c.wantB)
		}
	}
	long := strings.Repeat("ab ", 1<<20)
	if a, _ := diff.Marked(long, long+"x"); a != long {
		t.Error("a long text is not shown as it is")
	}
}

func TestStat(t *testing.T) {
	for _, c := range []struct {
		a, b           string
		added, removed int
	}{
		{"", "", 0, 0}, {"a\n", "a\n", 0, 0}, {"", "a\nb", 2, 0}, {"a\nb\n", "", 0, 2}, {"a\nb\nc\n", "a\nx\ny\nc\n", 2, 1}, {"a\nb", "a\nb\n", 1, 1}, {"a\r\n", "a\n", 1, 1},
	} {
		if added, removed := diff.Stat(c.a, c.b); added != c.added || removed != c.removed {
			t.Errorf("%q, %q: +%d -%d, want +%d -%d", c.a, c.b, added, removed, c.added, c.removed)
		}
	}
}

func TestLinesBounded(t *testing.T) {
	var a, b []string
	for i := range 150_000 {
		a, b = append(a, fmt.Sprint("a", i)), append(b, fmt.Sprint("b", i))
	}
	start := time.Now()
	got := diff.Lines(a, b)
	if want := []diff.Change{{A0: 0, A1: 150_000, B0: 0, B1: 150_000}}; !slices.Equal(got, want) {
		t.Errorf("%d changes", len(got))
	}
	got = diff.Lines(a[:90_000], append(slices.Clone(b[:45_000]), a[45_000:90_000]...))
	if took := time.Since(start); took > 10*time.Second || len(got) == 0 {
		t.Errorf("%d changes in %v", len(got), took)
	}
}

// The changes between two texts lead from one to the other, and no two of them
// touch.
func FuzzLines(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\n")
	f.Add("a\nb\na\nb", "b\na\n\n")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		before, after := strings.Split(a, "\n"), strings.Split(b, "\n")
		var got []string
		at, was := 0, diff.Change{A1: -1, B1: -1}
		for _, c := range diff.Lines(before, after) {
			if c.A0 == was.A1 && c.B0 == was.B1 || c.A0 < at || c.A0 == c.A1 && c.B0 == c.B1 {
				t.Fatalf("%+v after %+v", c, was)
			}
			got = append(append(got, before[at:c.A0]...), after[c.B0:c.B1]...)
			at, was = c.A1, c
		}
		if got = append(got, before[at:]...); !slices.Equal(got, after) {
			t.Fatalf("%q to %q gives %q", before, after, got)
		}
	})
}

// A unified diff is bounded, valid UTF-8, and says what Stat says.
func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\n", 3, 1000)
	f.Add("a\r\nb", "a\nb\n", 0, 0)
	f.Add("a\xff\u202e", "\u00e9", -1, 100)
	f.Fuzz(func(t *testing.T, a, b string, context, limit int) {
		got := diff.Unified(a, b, diff.Options{Context: context % 10, MaxBytes: limit % 100_000})
		if !utf8.ValidString(got) || len(got) > 100_000 || (got == "") != (a == b) {
			t.Fatalf("%q", got)
		}
		full := diff.Unified(a, b, diff.Options{Context: context % 10, MaxBytes: 10*(len(a)+len(b)) + 10_000})
		added, removed := 0, 0
		for line := range strings.Lines(full) {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
		if wantAdded, wantRemoved := diff.Stat(a, b); added != wantAdded || removed != wantRemoved {
			t.Fatalf("+%d -%d, want +%d -%d\n%s", added, removed, wantAdded, wantRemoved, full)
		}
		prefix, suffix := diff.Common(a, b)
		if a[:prefix] != b[:prefix] || a[len(a)-suffix:] != b[len(b)-suffix:] || prefix+suffix > min(len(a), len(b)) {
			t.Fatalf("%d and %d bytes in common", prefix, suffix)
		}
	})
}

func BenchmarkUnified(b *testing.B) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, "line %d of a text\n", i)
	}
	old := text.String()
	changed := strings.Replace(old, "line 5000 ", "row 5000 ", 1)
	for b.Loop() {
		if diff.Unified(old, changed, diff.Options{}) == "" {
			b.Fatal("no difference")
		}
	}
}
