package match_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search/internal/match"
)

// TestLongLine finds in lines that are read rune by rune what is found in short
// ones, at the same place.
func TestLongLine(t *testing.T) {
	for _, c := range []struct{ pattern, head, tail string }{
		{`[a-z]+=\d`, "", "key=1"},
		{`^x+é `, "xxé ", ""},
		{`é$`, "", "é"},
		{`(?i)straße`, "", " STRASSE straße "},
		{`\xff?z`, "\xff\xfe", "z"},
	} {
		m, err := match.Compile(match.Pattern{Text: c.pattern, Case: match.Sensitive})
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{10, 64<<10 - 20, 300 << 10} {
			line := []byte(c.head + strings.Repeat("-", size) + c.tail)
			found := 0
			for l := range m.Lines(t.Context(), line) {
				found++
				start, end := m.Find(t.Context(), line[l.Start:l.End])
				if got := string(line[start:end]); got == "" || !strings.Contains(c.head+c.tail, got) {
					t.Errorf("%s in %d bytes: found %q", c.pattern, len(line), got)
				}
			}
			if found != 1 {
				t.Errorf("%s in %d bytes: %d lines", c.pattern, len(line), found)
			}
		}
	}
}

// ending is a context that ends after it was looked at so many times.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestLongLineIsCancelled ends the search of a line that matches at its end: by
// states alone, behind a prefilter, and by package regexp because there are too
// many states.
func TestLongLineIsCancelled(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	line := make([]byte, 1<<20)
	for i := range line {
		line[i] = byte('a' + rnd.IntN(20))
	}
	copy(line[len(line)-101:], strings.Repeat("a", 100)+"Z")
	for _, pattern := range []string{`[a-s][^x]{5}[^a-z]`, `[a-s][^x]{5}Z`, `[a-s][^x]{60}[^a-z]`} {
		m, err := match.Compile(match.Pattern{Text: pattern, Case: match.Sensitive})
		if err != nil {
			t.Fatal(err)
		}
		for left, want := range map[int]int{5: 0, 10_000: 1} {
			got := 0
			for range m.Lines(&ending{t.Context(), left}, line) {
				got++
			}
			if got != want {
				t.Errorf("%s: %d lines before a context that ends after %d looks, want %d", pattern, got, left, want)
			}
		}
	}
}
