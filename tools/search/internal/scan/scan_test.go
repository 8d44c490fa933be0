package scan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/search/internal/match"
	"toolcrib/tools/search/internal/scan"
	"toolcrib/workspace"
)

// file is a source in memory. It claims to have size bytes, and fails or panics
// when told.
type file struct {
	name, text string
	size       int64
	err        error
	panics     bool
	parts      iter.Seq2[int64, int64]
}

func (f file) String() string { return f.name }

func (f file) OpenBy(*workspace.Opener) (workspace.File, error) {
	if f.panics {
		panic("boom")
	}
	if f.size == 0 {
		f.size = int64(len(f.text))
	}
	return &opened{Reader: bytes.NewReader([]byte(f.text)), size: f.size}, f.err
}

func (f file) Whole([]byte) {}

func (f file) Parts() iter.Seq2[int64, int64] { return f.parts }

type opened struct {
	*bytes.Reader
	size int64
}

func (o *opened) Info() workspace.Info { return workspace.Info{Kind: workspace.KindFile, Size: o.size} }
func (o *opened) Close() error         { return nil }

func compile(t testing.TB, p match.Pattern) *match.Matcher {
	t.Helper()
	m, err := match.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// found writes the matches of a file as a result would show them.
func found(f scan.File[file]) string {
	var b strings.Builder
	for _, m := range f.Kept {
		for i, line := range m.Before {
			fmt.Fprintf(&b, "%d- %s\n", m.Number-len(m.Before)+i, line)
		}
		fmt.Fprintf(&b, "%d: %s\n", m.Number, m.Text)
		for i, line := range m.After {
			fmt.Fprintf(&b, "%d- %s\n", m.Number+1+i, line)
		}
	}
	return b.String()
}

func one(t testing.TB, f file, p match.Pattern, opt scan.Options) scan.File[file] {
	t.Helper()
	files := slices.Collect(scan.Files(t.Context(), slices.Values([][]file{{f}}), compile(t, p), opt))
	if len(files) != 1 {
		t.Fatalf("%d results for a file", len(files))
	}
	return files[0]
}

func TestContext(t *testing.T) {
	for _, tt := range []struct {
		name, text    string
		before, after int
		want          string
	}{
		{"around", "a\nb\nfoo\nc\nd\n", 1, 1, "2- b\n3: foo\n4- c\n"},
		{"at the ends", "foo\na\nfoo", 2, 2, "1: foo\n2- a\n3: foo\n"},
		{"overlapping belongs to the one before", "foo\na\nb\nfoo\n", 2, 1, "1: foo\n2- a\n3- b\n4: foo\n"},
		{"CRLF", "a\r\nfoo\r\nb\r\n", 1, 1, "1- a\n2: foo\n3- b\n"},
		{"no line end", "foo", 3, 3, "1: foo\n"},
		{"empty", "", 3, 3, ""},
		{"byte order mark", "\ufefffoo\na", 0, 1, "1: foo\n2- a\n"},
		{"UTF-16", "\xff\xfea\x00\n\x00f\x00o\x00o\x00", 1, 0, "1- a\n2: foo\n"},
		{"not UTF-8", "a\xff\nfoo\xe9\x1b[0m\n", 1, 0, "1- a\\x{ff}\n2: foo\\x{e9}\\u{1b}[0m\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, file{name: "f", text: tt.text}, match.Pattern{Text: "^foo"}, scan.Options{Keep: 10, Before: tt.before, After: tt.after})
			if diff := cmp.Diff(tt.want, found(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What is found must not depend on where the window of a large file ends.
func TestWindows(t *testing.T) {
	var text, want strings.Builder
	n := 0
	for i := range 60_000 {
		line := strings.Repeat("x", i%37)
		if i%5000 < 2 || i == 59_999 {
			line = "foo" + line
			fmt.Fprintf(&want, "%d\n", i+1)
			n++
		}
		text.WriteString(line + "\n")
	}
	for pad := range 3 {
		got := one(t, file{name: "f", text: text.String() + strings.Repeat("y", pad)}, match.Pattern{Text: "foo"}, scan.Options{Keep: 1000, Before: 3, After: 3})
		var numbers strings.Builder
		for _, m := range got.Kept {
			fmt.Fprintf(&numbers, "%d\n", m.Number)
			for i, line := range m.Before {
				if want := strings.Repeat("x", (m.Number-1-len(m.Before)+i)%37); line != want {
					t.Errorf("line %d before %d is %q, want %q", i, m.Number, line, want)
				}
			}
			for i, line := range m.After {
				if want := strings.Repeat("x", (m.Number+i)%37); i+m.Number < 60_000 && line != want {
					t.Errorf("line %d after %d is %q, want %q", i, m.Number, line, want)
				}
			}
		}
		if diff := cmp.Diff(want.String(), numbers.String()); diff != "" || got.Matches != n {
			t.Errorf("%d matches: %s", got.Matches, diff)
		}
	}
}

func TestOneLongLine(t *testing.T) {
	for _, tt := range []struct {
		p    match.Pattern
		size int
	}{
		{match.Pattern{Text: "needle"}, 20 << 20},
		{match.Pattern{Text: `needle\s`, Case: match.Sensitive}, 20 << 20},
		{match.Pattern{Text: `(?i)ne[a-z]dle\stail`, Multiline: true}, 1 << 20},
	} {
		text := strings.Repeat("abcdefgh ", tt.size/9) + "needle" + strings.Repeat(" tail", 1000)
		got := one(t, file{name: "f", text: text}, tt.p, scan.Options{Keep: 10})
		if got.Matches != 1 || !strings.Contains(got.Kept[0].Text, "needle tail") || len(got.Kept[0].Text) > 700 {
			t.Errorf("%v: %d matches, %q", tt.p, got.Matches, found(got))
		}
	}
}

func TestSkips(t *testing.T) {
	for _, tt := range []struct {
		file file
		want scan.Skip
		n    int
	}{
		{file{text: "foo\x00"}, scan.Binary, 0},
		{file{text: strings.Repeat("foo\n", 3000) + "\x00\nfoo"}, scan.Searched, 3001},
		{file{err: &workspace.Error{Rule: workspace.RuleNotFound}}, scan.Gone, 0},
		{file{err: errors.New("no")}, scan.Unreadable, 0},
		{file{text: "foo\nfoo", size: 100_000}, scan.Searched, 2}, // shrunk since it was opened
		{file{text: "foo\nfoo\n", size: 4}, scan.Searched, 2},     // grown
		{file{text: "foo\n" + strings.Repeat("x", scan.MaxText+1)}, scan.TooLarge, 1},
	} {
		got := one(t, tt.file, match.Pattern{Text: "foo"}, scan.Options{Keep: 5000})
		if got.Skip != tt.want || got.Matches != tt.n {
			t.Errorf("%.20q size %d: skip %d with %d matches, want %d with %d", tt.file.text, tt.file.size, got.Skip, got.Matches, tt.want, tt.n)
		}
	}
}

// How much of a file is read first, where its first match is enough, does not show.
func TestFirstMatchAnywhere(t *testing.T) {
	soon := []file{{text: "foo\n" + strings.Repeat("-\n", 50_000)}}
	sources := slices.Repeat(soon, 40) // until little is read first
	for _, lead := range []int{8<<10 - 6, 8<<10 - 4, 8<<10 - 2, 8 << 10, 32<<10 - 2, 32 << 10, 100_000, 300_000} {
		late := file{name: "late", text: strings.Repeat("-", lead-1) + "\nfoo"}
		long := file{name: "long", text: strings.Repeat("-", lead) + "foo" + strings.Repeat("-", 9000)}
		none := file{name: "none", text: strings.Repeat("-\n", lead/2) + "\x00\n"}
		sources = append(append(append(append(sources, late), soon...), long), soon...)
		sources = append(append(append(sources, none), soon...), soon...)
	}
	for _, p := range []match.Pattern{{Text: "foo"}, {Text: "fo[o]"}, {Text: "f(oo|aa)", Multiline: true}} {
		i := 0
		for f := range scan.Files(t.Context(), slices.Values([][]file{sources}), compile(t, p), scan.Options{First: true}) {
			want := 1
			if f.Source.name == "none" {
				want = 0
			}
			if binary := f.Skip == scan.Binary; f.Matches != want || binary != strings.Contains(f.Source.text[:min(len(f.Source.text), 8<<10)], "\x00") {
				t.Errorf("%+v: file %d, %s of %d bytes: %d matches, skip %d", p, i, f.Source.name, len(f.Source.text), f.Matches, f.Skip)
			}
			i++
		}
		if i != len(sources) {
			t.Errorf("%d results for %d files", i, len(sources))
		}
	}
}

func TestOrderAndEarlyEnd(t *testing.T) {
	var sources []file
	for i := range 2000 {
		sources = append(sources, file{name: fmt.Sprint(i), text: strings.Repeat("foo\n", 1+(i%7)*200)})
	}
	m := compile(t, match.Pattern{Text: "foo"})
	i := 0
	for f := range scan.Files(t.Context(), slices.Chunk(sources, 7), m, scan.Options{First: true}) {
		if f.Source.name != fmt.Sprint(i) || f.Matches != 1 {
			t.Fatalf("result %d is %s with %d matches", i, f.Source.name, f.Matches)
		}
		if i++; i == 1500 {
			break
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for range scan.Files(ctx, slices.Chunk(sources, 100), m, scan.Options{}) {
		if n++; n == 10 {
			cancel()
		}
	}
	if n != 10 {
		t.Errorf("%d results, 10 of them before the context ended", n)
	}
}

func TestPanicReachesTheCaller(t *testing.T) {
	for name, runs := range map[string]iter.Seq[[]file]{
		"of a worker":    slices.Values([][]file{{{panics: true}}}),
		"of the sources": func(func([]file) bool) { panic("boom") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, "boom") || !strings.Contains(v, "scan_test.go") {
					t.Errorf("recovered %s", v)
				}
			}()
			for range scan.Files(t.Context(), runs, compile(t, match.Pattern{Text: "x"}), scan.Options{}) {
				t.Error("a result")
			}
		})
	}
}
