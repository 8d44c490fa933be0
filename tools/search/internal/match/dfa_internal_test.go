package match

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolcrib/tools/internal/tooltest"
)

// pairs is how many pairs of a pattern and a text TestDFAEqualsRegexp tries.
var pairs = flag.Int("pairs", 30_000, "pairs of a random pattern and a random text to compare with package regexp")

// language makes random patterns, and texts that they are likely to match.
type language struct {
	*rand.Rand
	deep int
}

func (l *language) pick(from ...string) string { return from[l.IntN(len(from))] }

var glyphs = []string{
	"a", "a", "b", "b", "c", "A", "B", "k", "K", "s", "S", "z", "0", "7", "_", " ", "-", "\t", "é", "É", "ſ", "\u212a", "σ", "ς", "Σ", "日", "本", "ж", "\ufffd", "😀", "😁", "\u07ff", "\u0800",
}

var odds = []string{"\xff", "\xc3", "\xe2\x84", "\xf0\x9f", "\xf0\x9f\x98", "\xed\xa0\x80", "\xed\xa0", "\x80", "\xc0\x80", "\xe0\x80", "\xf4\x90\x80\x80", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xe0\x9f\xbf", "\xc1\xbf", "\xf5\x80\x80\x80", "\r", "\r\r", "\x00", "\x7f"}

func (l *language) pattern() string {
	l.deep++
	defer func() { l.deep-- }()
	var branches []string
	for range 1 + l.IntN(8)/6 {
		var b strings.Builder
		for range 1 + l.IntN(4) {
			b.WriteString(l.factor())
		}
		branches = append(branches, b.String())
	}
	return strings.Join(branches, "|")
}

func (l *language) factor() string {
	atom := l.atom()
	if l.IntN(3) > 0 {
		return atom
	}
	few := l.IntN(4)
	return "(?:" + atom + ")" + l.pick("*", "+", "?", "*?", "+?", "??", fmt.Sprintf("{%d}", few), fmt.Sprintf("{%d,}", few), fmt.Sprintf("{%d,%d}", few, few+l.IntN(3)))
}

func (l *language) atom() string {
	switch n := l.IntN(20); {
	case n < 8:
		return regexp.QuoteMeta(glyphs[l.IntN(len(glyphs))])
	case n < 10:
		return l.pick(".", ".", "(?s:.)", `\d`, `\w`, `\w`, `\s`, `\S`, `\W`, `\D`)
	case n < 12:
		return l.pick("^", "$", `\b`, `\B`, `\A`, `\z`, `(?m:^)`, `(?m:$)`, "")
	case n < 14:
		return l.pick(`\pL`, `\p{Lu}`, `\p{Greek}`, `\PL`, `[[:alpha:]]`, `[^[:space:]]`, `\x{fffd}`, `[\x{fffd}a]`, `[^\x{fffd}]`, `\p{So}`, `\PS`, `\x{212a}`, `\r`, `\t`, `[\x{d7fe}-\x{e001}]`)
	case n < 17 || l.deep > 3:
		var b strings.Builder
		for range 1 + l.IntN(3) {
			lo, hi := glyphs[l.IntN(len(glyphs))], glyphs[l.IntN(len(glyphs))]
			if lo > hi {
				lo, hi = hi, lo
			}
			if b.WriteString(`\x{` + fmt.Sprintf("%x", []rune(lo)[0]) + `}`); l.IntN(2) == 0 {
				b.WriteString("-" + `\x{` + fmt.Sprintf("%x", []rune(hi)[0]) + `}`)
			}
		}
		return l.pick("[", "[", "[^", "(?i:[") + b.String() + "]"
	}
	return l.pick("(", "(?:", "(?i:", "(?s:", "(?U:") + l.pattern() + ")"
}

func (l *language) text() string {
	var b strings.Builder
	size := 1 + l.IntN(30)
	if l.IntN(20) == 0 {
		size = 500
	}
	narrow := 2 + l.IntN(len(glyphs)-1)
	for range size {
		switch n := l.IntN(24); {
		case n < 3:
			b.WriteString(l.pick("\n", "\n", "\r\n", "\n\n"))
		case n < 5:
			b.WriteString(odds[l.IntN(len(odds))])
		default:
			b.WriteString(glyphs[l.IntN(narrow)])
		}
	}
	return b.String()
}

// Matches reports whether a line matches by package regexp, for which each byte that is
// not UTF-8 is made half of a surrogate pair.
func Matches(re *regexp.Regexp, line []byte) bool {
	if utf8.Valid(line) {
		return re.Match(line)
	}
	return re.MatchReader(&halves{line})
}

type halves struct{ text []byte }

func (h *halves) ReadRune() (rune, int, error) {
	if len(h.text) == 0 {
		return 0, 0, io.EOF
	}
	r, size := utf8.DecodeRune(h.text)
	h.text = h.text[size:]
	if r == utf8.RuneError && size == 1 {
		r = 0xdfff
	}
	return r, size, nil
}

// everyLine returns the offsets of the lines that match, by package regexp.
func everyLine(re *regexp.Regexp, text []byte) (starts []int) {
	for from := 0; from < len(text); {
		line := LineAt(text, from, from)
		if Matches(re, text[line.Start:line.End]) {
			starts = append(starts, line.Start)
		}
		from = line.Next
	}
	return starts
}

// TestDFAEqualsRegexp compares the DFA alone, and the matcher with all its ways,
// with package regexp line by line.
func TestDFAEqualsRegexp(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	l := &language{Rand: rand.New(rand.NewPCG(seed, 0))}
	tried, matched, lines, gaveUp := 0, 0, 0, 0
	for tried < *pairs && !t.Failed() {
		p := Pattern{Text: l.pattern(), Word: l.IntN(6) == 0, Case: Sensitive + Case(l.IntN(2))}
		m, err := Compile(p)
		if err != nil {
			continue
		}
		expr := "(?:" + p.Text + ")"
		if p.Case == Insensitive {
			expr = "(?i)" + expr
		}
		if p.Word {
			expr = `\b` + expr + `\b`
		}
		re := regexp.MustCompile(expr)
		tree, _, err := p.parse()
		if err != nil {
			t.Fatal(err)
		}
		a := newAutomaton(tree.Simplify())
		if a == nil {
			t.Fatalf("%q has no automaton", p.Text)
		}
		d := newDFA(a)
		if l.IntN(4) == 0 {
			d.room = 1 << l.IntN(12)
		}
		if l.IntN(4) == 0 {
			d.spend = l.IntN(500)
		}
		for range 64 {
			tried++
			text := []byte(l.text())
			want := everyLine(re, text)
			matched += len(want)
			lines += strings.Count(string(text), "\n")
			check := func(way string, got []int, to int) {
				if to < len(text) {
					gaveUp++
				}
				if before := want[:searchInts(want, to)]; !slices.Equal(before, got) {
					t.Errorf("%s: %+v over %q: lines at %v, want %v", way, p, text, got, before)
				}
			}
			var got []int
			for l := range m.Lines(t.Context(), text) {
				got = append(got, l.Start)
			}
			check("matcher", got, len(text))
			if a.always {
				continue
			}
			got = nil
			to := d.lines(t.Context(), text, func(l Line) bool { got = append(got, l.Start); return true })
			check("text", got, to)
			got = nil
			for from := 0; from < len(text); {
				line := LineAt(text, from, from)
				matched, ok := d.matches(t.Context(), text[line.Start:line.End])
				if !ok {
					check("line", got, from)
					break
				}
				if matched {
					got = append(got, line.Start)
				}
				if from = line.Next; from == len(text) {
					check("line", got, from)
				}
			}
		}
	}
	t.Logf("%d pairs, %d of %d lines matched, %d times gave up", tried, matched, lines, gaveUp)
}

func searchInts(sorted []int, n int) int {
	i, _ := slices.BinarySearch(sorted, n)
	return i
}

func FuzzDFA(f *testing.F) {
	for _, pattern := range []string{`^\s*$`, `\bfoo\b`, `(?i)straße|k`, `[^a]\r?$`, `\B`, `\x{fffd}+.`, `(a|b)*\pL{2,3}`, `(?U)\w{5}(\s+\w{5}){4}`} {
		f.Add(pattern, strings.Join(glyphs, "")+"\r\n\n"+strings.Join(odds, "foo \n")+"foo", uint8(0))
	}
	f.Fuzz(func(t *testing.T, pattern, text string, options uint8) {
		if len(pattern) > 200 || len(text) > 5000 || !utf8.ValidString(pattern) {
			return
		}
		p := Pattern{Text: pattern, Case: Sensitive + Case(options&1)}
		m, err := Compile(p)
		if err != nil {
			return
		}
		tree, _, err := p.parse()
		if err != nil {
			t.Fatal(err)
		}
		a := newAutomaton(tree.Simplify())
		if a == nil || a.always {
			return
		}
		d := newDFA(a)
		if options&2 != 0 {
			d.room = 1 << (options >> 4)
		}
		want := everyLine(m.re, []byte(text))
		var got []int
		to := d.lines(t.Context(), []byte(text), func(l Line) bool { got = append(got, l.Start); return true })
		if want = want[:searchInts(want, to)]; !slices.Equal(want, got) {
			t.Errorf("%+v over %q: lines at %v, want %v", p, text, got, want)
		}
	})
}
