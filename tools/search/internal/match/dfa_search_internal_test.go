package match

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools/internal/tooltest"
)

// starts returns the offsets of the lines that m finds.
func starts(ctx context.Context, m *Matcher, text []byte) (got []int) {
	for l := range m.Lines(ctx, text) {
		got = append(got, l.Start)
	}
	return got
}

func mustCompile(t testing.TB, pattern string) *Matcher {
	t.Helper()
	m, err := Compile(Pattern{Text: pattern, Case: Sensitive})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPieces searches texts of several pieces, whose borders fall on every byte
// of a line, of a CRLF and of a rune, and which have lines longer than a piece.
func TestPieces(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	l := &language{Rand: rand.New(rand.NewPCG(3, 4))}
	for pad := range 12 {
		var b strings.Builder
		b.WriteString(strings.Repeat("x", pad) + strings.Repeat("-é日\r\n", 4000) + "ab\n" + strings.Repeat("z-日", 20_000) + "s")
		for range 3000 {
			b.WriteString(l.text() + "a\n")
		}
		b.WriteString(strings.Repeat("b-", pad*10_000) + l.pick("a", "a\r", "a\r\n", "b"))
		text := []byte(b.String())
		for _, pattern := range []string{`[^\w\s]{2}s$`, `\pL\d$`, `^\W+$`, `^[^a]*$`, `^\W日`, `[ab]\b.{3}\x{fffd}`, `(?i)[k-s]{2}\s*$`, `日(.|\r)$`} {
			m := mustCompile(t, pattern)
			if want, got := everyLine(regexp.MustCompile(pattern), text), starts(t.Context(), m, text); !slices.Equal(want, got) {
				t.Errorf("%s, pad %d: %d lines, want %d", pattern, pad, len(got), len(want))
			}
		}
	}
}

// TestCrowds searches texts in which candidate lines stand close together in one
// half only, with a last line longer than what is searched at once.
func TestCrowds(t *testing.T) {
	tooltest.Unraced(t)
	sparse := strings.Repeat(strings.Repeat("-", 99)+"\n", 2000)
	crowd := strings.Repeat("foo-bar\nfoo bar\n\r\nxx\n", 10_000)
	for _, text := range []string{crowd, sparse + crowd + sparse, crowd + sparse + crowd, crowd + strings.Repeat("foo ", 50_000) + "bar"} {
		for _, pattern := range []string{`foo\s+bar`, `^foo[^a-z]bar$`, `[fb]o*\sb`} {
			m := mustCompile(t, pattern)
			if want, got := everyLine(regexp.MustCompile(pattern), []byte(text)), starts(t.Context(), m, []byte(text)); !slices.Equal(want, got) {
				t.Errorf("%s over %d bytes: %d lines, want %d", pattern, len(text), len(got), len(want))
			}
			n := 0
			for range m.Lines(t.Context(), []byte(text)) {
				if n++; n == 100 {
					break
				}
			}
			if n != 100 {
				t.Errorf("%s: %d lines before the break", pattern, n)
			}
		}
	}
}

// TestTooManyStates searches for patterns whose states are as many as the bytes
// of the text: the DFA gives up, and nothing is lost by it.
func TestTooManyStates(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for range 4000 {
		for range rnd.IntN(100) {
			b.WriteByte(byte('a' + rnd.IntN(20)))
		}
		b.WriteString(" 1\n")
	}
	long := "START" + strings.Repeat("-", 100_000) + strings.ReplaceAll(b.String(), "\n", "-") + "a1234567890abcdaa#"
	text := []byte(b.String() + long)
	for _, pattern := range []string{`^[A-Z]+-.*[a-h][^x]{14}[^f-z]{2}#$`, `[a-hA-Z][^x]{14}[^f-z]{2}[a-z]`, `(?s)[a-h].{1,12}[^b-k]{15}[a-m].{3}[a-z]`} {
		m := mustCompile(t, pattern)
		d := newDFA(m.automaton)
		m.dfas.Put(d)
		want, got := everyLine(m.re, text), starts(t.Context(), m, text)
		if !slices.Equal(want, got) {
			t.Errorf("%s: %d lines, want %d", pattern, len(got), len(want))
		}
		d = newDFA(m.automaton)
		got = nil
		at := d.lines(t.Context(), text, func(l Line) bool { got = append(got, l.Start); return true })
		if at == len(text) || at > 0 && text[at-1] != '\n' || !slices.Equal(got, want[:searchInts(want, at)]) {
			t.Errorf("%s: the DFA gave up at byte %d of %d, after %d lines", pattern, at, len(text), len(got))
		}
	}
}

// TestStatesAreBounded runs a pattern of very many states with all transitions
// that it wants.
func TestStatesAreBounded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	text := make([]byte, 200_000)
	for i := range text {
		if text[i] = byte('a' + rnd.IntN(20)); rnd.IntN(80) == 0 {
			text[i] = '\n'
		}
	}
	m := mustCompile(t, `[a-h][^x]{14}[^f-z]{2}[a-z]`)
	d := newDFA(m.automaton)
	d.room, d.spend = 100_000, 1<<30
	var got []int
	d.lines(t.Context(), text, func(l Line) bool { got = append(got, l.Start); return true })
	if want := everyLine(m.re, text); !slices.Equal(want, got) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
	if d.cycle < 10 || d.memory > d.room+1000 || len(d.next) > d.room {
		t.Errorf("%d times thrown away, %d bytes of states, %d transitions", d.cycle, d.memory, len(d.next))
	}
}

// TestCancelledText ends after the piece in which the context has ended.
func TestCancelledText(t *testing.T) {
	text := []byte(strings.Repeat("foo 1\nfoo bar\n\n", 1<<18))
	for _, pattern := range []string{`^$`, `[a-z]{3}\s[a-z]{3}`, ``, `foo\s+bar`} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		for range mustCompile(t, pattern).Lines(ctx, text) {
			if n++; n == 10 {
				cancel()
			}
		}
		cancel()
		if n < 10 || n > 1<<17 {
			t.Errorf("%q: %d lines", pattern, n)
		}
		for range mustCompile(t, pattern).Lines(t.Context(), text) {
			break // after which no line must come
		}
	}
}

// TestManySearches uses a matcher from several goroutines.
func TestManySearches(t *testing.T) {
	m := mustCompile(t, `\w{3}\s+\w{3,4}\b|^\s*$`)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			l := &language{Rand: rand.New(rand.NewPCG(9, uint64(i)))}
			for range 300 {
				text := []byte(l.text() + fmt.Sprintf("abc abcd\n %d", i))
				if want, got := everyLine(m.re, text), starts(t.Context(), m, text); !slices.Equal(want, got) {
					t.Errorf("%q: lines at %v, want %v", text, got, want)
				}
			}
		})
	}
	all.Wait()
}
