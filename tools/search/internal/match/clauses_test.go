package match_test

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search/internal/match"
)

func clauses(t testing.TB, p match.Pattern) [][]match.Literal {
	t.Helper()
	m, err := match.Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return m.Clauses()
}

func TestClauses(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		p       match.Pattern
		want    string // clauses separated by " & ", literals by "|", a folded one with a ~
	}{
		{`mmap_write_lock`, match.Pattern{}, "~mmap_write_lock"},
		{`mmap_write_lock`, match.Pattern{Case: match.Sensitive}, "mmap_write_lock"},
		{`\bPM_RESUME\b`, match.Pattern{}, "PM_RESUME"},
		{`a.c`, match.Pattern{Fixed: true, Case: match.Sensitive}, "a.c"},
		{`static\s+int\s+\w+_probe_\w+\(`, match.Pattern{Case: match.Sensitive}, "static & int & _probe_ & ("},
		{`ERR_SYS|PME_TURN_OFF|LINK_REQ_RST`, match.Pattern{}, "ERR_SYS|PME_TURN_OFF|LINK_REQ_RST"},
		{`(foo.*bar|baz.*qux)X`, match.Pattern{}, "foo|baz & foo|qux & bar|baz & bar|qux & X"},
		{`struct \w+ \{\n\tint foo;`, match.Pattern{Multiline: true, Case: match.Sensitive}, "struct  &  { & \tint foo;"},
		{`foo\r\nbar`, match.Pattern{Multiline: true, Case: match.Sensitive}, "foo & bar"},
		{`(one\nlonger|x\ny)`, match.Pattern{Multiline: true, Case: match.Sensitive}, "longer|x"},
		{`x(a\n|b)?`, match.Pattern{Multiline: true, Case: match.Sensitive}, "x|xa|xb"},
		{`(foo|bar)+baz`, match.Pattern{Case: match.Sensitive}, "foo|bar & foobaz|barbaz"},
		{`(foo)*`, match.Pattern{}, ""},
		{`.`, match.Pattern{}, ""},
		{`\n`, match.Pattern{Multiline: true}, ""},
		{`foo|.`, match.Pattern{}, ""},
		{`(?i)stra\x{df}e_Tail`, match.Pattern{}, "~e_tail"},
	} {
		tt.p.Text = tt.pattern
		var got []string
		for _, c := range clauses(t, tt.p) {
			var literals []string
			for _, l := range c {
				literals = append(literals, map[bool]string{true: "~"}[l.Fold]+l.Text)
			}
			got = append(got, strings.Join(literals, "|"))
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " & ")); diff != "" {
			t.Errorf("%s: %s", tt.pattern, diff)
		}
	}
}

// fold maps all runes that are equal when case is ignored to the same one.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}

func contains(text string, l match.Literal) bool {
	if l.Fold {
		return strings.Contains(fold(text), fold(l.Text))
	}
	return strings.Contains(text, l.Text)
}

// randomPattern writes an expression of limited depth.
func randomPattern(rnd *rand.Rand, depth int) string {
	atoms := []string{
		"foo", "bar", "k", "s", "Kas", "é", "ß", ".", `\w`, `\s`, "[a-c]", "[fk]", `\b`, "^", "$", `\(`, `\n`, `\r\n`, "x{2,3}", "(?i:Sk)", "[^a]",
		`\x{212a}`, `\x{17f}`, "_probe_", `\pL`, "",
	}
	if depth == 0 {
		return atoms[rnd.IntN(len(atoms))]
	}
	sub := func() string { return randomPattern(rnd, depth-1) }
	switch rnd.IntN(8) {
	case 0:
		return "(" + sub() + "|" + sub() + ")"
	case 1:
		return "(?:" + sub() + ")" + []string{"*", "+", "?", "{2}", "*?"}[rnd.IntN(5)]
	case 2:
		return "(?:" + sub() + "|" + sub() + "|" + sub() + ")"
	case 3:
		return "(?i:" + sub() + ")"
	}
	return sub() + sub()
}

// Whatever a pattern matches has a literal of each of its clauses.
func TestClausesHold(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 5))
	pieces := []string{"foo", "bar", "FOO", "k", "K", "\u212a", "s", "S", "\u017f", "as", "é", "É", "ß", "ẞ", " ", "\n", "\r\n", "(", "xx", "x", "a", "b", "_probe_", "_PROBE_", "\xff"}
	matched, known := 0, 0
	for range 8_000 {
		p := match.Pattern{Text: randomPattern(rnd, 3), Multiline: rnd.IntN(2) == 0, Case: match.Sensitive, Word: rnd.IntN(5) == 0}
		if rnd.IntN(3) == 0 {
			p.Case = match.Insensitive
		}
		m, err := match.Compile(p)
		if err != nil {
			continue
		}
		source := p.Text
		if p.Word {
			source = `\b(?:` + source + `)\b`
		}
		if p.Case == match.Insensitive {
			source = "(?i)" + source
		}
		re := regexp.MustCompile("(?m)" + source)
		c := m.Clauses()
		known += min(len(c), 1)
		for range 8 {
			var text strings.Builder
			for range 1 + rnd.IntN(12) {
				text.WriteString(pieces[rnd.IntN(len(pieces))])
			}
			for _, found := range re.FindAllString(text.String(), -1) {
				matched++
				for _, literals := range c {
					if !slices.ContainsFunc(literals, func(l match.Literal) bool { return contains(found, l) }) {
						t.Fatalf("%+v matches %q, which has none of %+v", p, found, literals)
					}
				}
			}
		}
	}
	if matched < 2_000 || known < 2_000 {
		t.Errorf("only %d matches, %d patterns with clauses: the test shows little", matched, known)
	}
}
