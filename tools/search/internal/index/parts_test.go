package index_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools/search/internal/index"
	"toolcrib/tools/search/internal/match"
	"toolcrib/workspace/fileindex"
)

// largeText has lines of which each is found nowhere else.
func largeText(rnd *rand.Rand, size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.ReplaceAll(randomText(rnd, rnd.IntN(12)), "\n", " "))
	}
	return b.String()
}

// span is a part of a text.
type span struct{ begin, end int }

// among returns the parts of a text that a selection leaves.
func among(s *index.Selection, f fileindex.File, text string) (kept []span) {
	parts := s.Parts(f.ID, f.Version)
	switch {
	case s.Class(f.ID, f.Version) != index.May:
	case parts == nil:
		kept = append(kept, span{0, len(text)})
	default:
		for begin, end := range parts {
			kept = append(kept, span{int(begin), int(min(end, int64(len(text))))})
		}
	}
	return kept
}

// Lines that hold what is asked for are in the parts that a selection leaves of a large
// file, also when its segment has become part of another.
func TestParts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	tr := newTree(t)
	x := index.New(tr, index.Options{Memory: 64 << 20})
	w := index.NewWorker(x)
	read, all := 0, 0
	for round := range 12 {
		tr.write(fmt.Sprintf("large%d", round%5), []byte(largeText(rnd, 200_000+rnd.IntN(700_000))))
		tr.write(fmt.Sprintf("small%d", round), randomData(rnd))
		if err := w.Update(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, f := range tr.list() {
			if !strings.HasPrefix(f.Rel, "large") {
				continue
			}
			text := string(f.data)
			for range 5 {
				from := rnd.IntN(len(text) - 100)
				line, _, _ := strings.Cut(text[from:], "\n")
				if line == "" {
					continue
				}
				need := [][]match.Literal{{{Text: line[:1+rnd.IntN(len(line))]}}, {{Text: line[rnd.IntN(len(line)):]}}}
				kept := among(x.Select(need, false), f.File, text)
				at := 0
				for line := range strings.Lines(text) {
					if holds(line, need) && !slices.ContainsFunc(kept, func(s span) bool { return s.begin <= at && at+len(line) <= s.end }) {
						t.Fatalf("%s, %d bytes: %q at %d is not in %v for %+v", f.Rel, len(text), line, at, kept, need)
					}
					at += len(line)
				}
				for _, s := range kept {
					read += s.end - s.begin
				}
				all += len(text)
			}
		}
	}
	if read > all*9/10 {
		t.Errorf("%d of %d bytes are to be read", read, all)
	}
}

func TestLinesOfAFileInSeveralParts(t *testing.T) {
	filler := strings.Repeat("nothing of interest\n", 20_000)
	tr := newTree(t)
	tr.write("f", []byte("needle\n"+filler+"thread\n"+filler+"needle and thread"))
	tr.write("g", []byte("needle\n"+filler+"thread\n"))
	x := index.New(tr, index.Options{Memory: 1 << 20})
	if err := index.NewWorker(x).Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	both := [][]match.Literal{{{Text: "needle"}}, {{Text: "thread"}}}
	f, g := tr.list()[0], tr.list()[1]
	s := x.Select(both, false)
	if got := s.Class(g.ID, g.Version); got != index.Not {
		t.Errorf("no line has both, class %d", got)
	}
	if got := among(s, f.File, string(f.data)); len(got) != 1 || got[0].begin < len(f.data)*3/4 || got[0].end != len(f.data) {
		t.Errorf("of %d bytes %v are left", len(f.data), got)
	}
	s = x.Select(both, true)
	if got := s.Class(g.ID, g.Version); got != index.May {
		t.Errorf("the file has both, class %d", got)
	}
	if s.Parts(f.ID, f.Version) != nil {
		t.Error("there are parts where matches span lines")
	}
	if s := x.Select([][]match.Literal{{{Text: "neeedle"}}}, true); s.Class(f.ID, f.Version) != index.Not {
		t.Error("what is nowhere is ruled out in no part")
	}
}
