package match_test

import (
	"context"
	"strings"
	"testing"
	"time"

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

// TestLongLineIsCancelled ends a search that would take minutes.
func TestLongLineIsCancelled(t *testing.T) {
	m, err := match.Compile(match.Pattern{Text: `[a-z]{500}N`, Case: match.Sensitive})
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("abcdefgh", 4<<20))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		time.Sleep(50 * time.Millisecond) // the search must have begun
		cancel()
	}()
	start := time.Now()
	for range m.Lines(ctx, line) {
		t.Error("found what is not there")
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v after the cancel", took)
	}
}
