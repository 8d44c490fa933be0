package match_test

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search/internal/match"
)

// touched returns the lines that matches of a pattern touch, as package regexp finds them
// in the text as a whole.
func touched(pattern, text string) (got []string) {
	next := 0
	for _, span := range regexp.MustCompile("(?m)"+pattern).FindAllStringIndex(text, -1) {
		for at := max(span[0], next); at <= max(span[0], span[1]-1); at = next {
			if at == len(text) && (next == len(text) || strings.HasSuffix(text, "\n")) {
				break
			}
			l := match.LineAt([]byte(text), next, at)
			next = l.Next
			got = append(got, text[l.Start:l.End])
		}
	}
	return got
}

// Texts are searched in pieces, the smaller the more a pattern asks for; where one ends
// and the next begins must not show.
func TestMultilineInPieces(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	heavy := `|\x01{800}`
	for _, pattern := range []string{
		`a\n?b`, `.`, `(?s).`, `a*`, `x*\n*`, `\b`, `\B`, `\ba`, `\Ba`, `^`, `$`, `^a`, `b$`, `^$`, `\n`, `a\n`, `\n\n?a`, `(?s:a.*?b)\n`, `\Aa|b`, `\A`, `\Bb\b|^é`, `(a)(b)\n(a)`,
		`[^a]+`, `(?s)b.*Z|b`, `a(?-m:$)`, `(?-m:^)a`, `\Qa`, `foo\s+b`, `foo(?s:.{300})b`, `foo(?s:.*?)Z`, `foob?`, `foo\b\n?`, `ofoo`,
	} {
		for _, p := range []string{pattern, pattern + heavy} {
			if strings.Contains(pattern, `\Q`) {
				p = pattern
			} else if rest, ok := strings.CutPrefix(p, "foo"); ok { // what matches begin with stays known
				p = "foo(?:" + rest + ")"
			}
			m, err := match.Compile(match.Pattern{Text: p, Multiline: true, Case: match.Sensitive})
			if err != nil {
				t.Fatal(err)
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for _, size := range []int{0, 1, 20, 300, 2000, 8000} {
				var b strings.Builder
				for feeds := rnd.IntN(4); b.Len() < size; {
					b.WriteString([]string{"a", "b", "ab", "é", "foo", " ", "foo\n", "\n", "a\nb", "\n\na"}[rnd.IntN(6+feeds+feeds/3)])
				}
				text := b.String()
				want := touched(p, text)
				var got []string
				for l := range m.Lines(t.Context(), []byte(text)) {
					got = append(got, text[l.Start:l.End])
				}
				if !slices.Equal(want, got) {
					t.Errorf("%q in %d bytes: %d lines, want %d", p, size, len(got), len(want))
				}
			}
		}
	}
}

// Text in which bytes that are not UTF-8 are replaced is searched in pieces too.
func TestMultilineInvalidInPieces(t *testing.T) {
	t.Parallel()
	m, err := match.Compile(match.Pattern{Text: `\x{fffd}\n?|^b`, Multiline: true, Case: match.Sensitive})
	if err != nil {
		t.Fatal(err)
	}
	const n = 40_000
	if empty, err := match.Compile(match.Pattern{Fixed: true, Multiline: true}); err != nil || len(lines(empty, "a\nb")) != 2 {
		t.Errorf("the empty text, error %v", err)
	}
	text := strings.Repeat("\xff\n-\ufffd\nb\nab\n\xff", n)
	if got := len(lines(m, text)); got != 2*n {
		t.Errorf("%d lines, want %d", got, 2*n)
	}
}

// The time that a long line takes grows with its length, not with the square of it. A busy
// machine makes times longer, so the shortest of up to ten tries counts.
func TestMultilineLongLineIsLinear(t *testing.T) {
	tooltest.Unraced(t)
	for _, pattern := range []string{`(?s).`, `\w+\s*=`, `[a-z]\n?=`, `\bab`} {
		m, err := match.Compile(match.Pattern{Text: pattern, Multiline: true, Case: match.Sensitive})
		if err != nil {
			t.Fatal(err)
		}
		took := func(size int) time.Duration {
			text := []byte(strings.Repeat("abc def=", size/8) + "\n")
			began, found := time.Now(), 0
			for range m.Lines(t.Context(), text) {
				found++
			}
			if found != 1 {
				t.Fatalf("%s: %d lines", pattern, found)
			}
			return time.Since(began)
		}
		short, long := took(32<<10), took(16*32<<10)
		for try := 1; try < 10 && (try < 3 || long > 5*16*short); try++ {
			short, long = min(short, took(32<<10)), min(long, took(16*32<<10))
		}
		if long > 5*16*short {
			t.Errorf("%s: %v, and %v for 16 times as much", pattern, short, long)
		}
	}
}

// A search over several lines ends soon after its context, in the middle of a line.
func TestMultilineIsCancelled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, line string }{
		{`[a-z]\n?`, strings.Repeat("abc def ", 4<<20/8)},                      // many matches
		{`(?:[^z]{900})\n?Z`, strings.Repeat("abc def ", 4<<20/8)},             // none
		{`a(?s:.*)Z|b`, strings.Repeat("ab", 4<<20/2)},                         // each a search to the end
		{`ab(?s:.*)Z|ab`, strings.Repeat("ab\n", 4<<20/3)},                     // with a head
		{`(?:a(?:[^z]{900})\n?Z|b\n)|c`, strings.Repeat("aaaaaaab\n", 20<<10)}, // in short lines
	} {
		m, err := match.Compile(match.Pattern{Text: c.pattern, Multiline: true, Case: match.Sensitive})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		for range m.Lines(ctx, []byte(c.line)) {
		}
		deadline, _ := ctx.Deadline()
		if late := time.Since(deadline); late > 5*time.Second {
			t.Errorf("%s: %v after the end of its context", c.pattern, late)
		}
		cancel()
	}
}
