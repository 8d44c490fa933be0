package match_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/search/internal/match"
)

// oracle says what a pattern means: package regexp over each line alone.
func oracle(p match.Pattern, text string) ([]string, error) {
	expr := p.Text
	if p.Fixed {
		expr = regexp.QuoteMeta(expr)
	}
	if _, err := regexp.Compile(expr); err != nil {
		return nil, err
	}
	expr = "(?:" + expr + ")"
	if p.Case == match.Insensitive {
		expr = "(?i)" + expr
	}
	if p.Word {
		expr = `\b` + expr + `\b`
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	var got []string
	for i, line := range strings.SplitAfter(text, "\n") {
		if line == "" {
			continue
		}
		if cut, ended := strings.CutSuffix(line, "\n"); ended {
			line = strings.TrimSuffix(cut, "\r")
		}
		if match.Matches(re, []byte(line)) {
			got = append(got, fmt.Sprintf("%d %q", i+1, line))
		}
	}
	return got, nil
}

func lines(m *match.Matcher, text string) []string {
	var got []string
	number, counted := 1, 0
	for l := range m.Lines(context.Background(), []byte(text)) {
		number += strings.Count(text[counted:l.Start], "\n")
		counted = l.Start
		got = append(got, fmt.Sprintf("%d %q", number, text[l.Start:l.End]))
	}
	return got
}

func compare(t *testing.T, p match.Pattern, text string) {
	t.Helper()
	want, wantErr := oracle(p, text)
	m, err := match.Compile(p)
	if wantErr != nil || err != nil {
		if _, ok := errors.AsType[*match.Error](err); wantErr != nil && !ok {
			t.Errorf("%+v: error %v, the oracle's is %v", p, err, wantErr)
		}
		return // line feeds in a pattern are refused here and match nothing there
	}
	if diff := cmp.Diff(want, lines(m, text)); diff != "" {
		t.Errorf("%+v over %q (-oracle +got):\n%s", p, text, diff)
	}
	if n := m.Count(t.Context(), []byte(text)); n != len(want) {
		t.Errorf("%+v over %q: %d lines are counted, want %d", p, text, n, len(want))
	}
}

var seeds = []string{
	`foo`, `Foo`, `foo|bar`, `foo|far|fizz`, `colou?r`, `ba[rz]`, `\bfoo\b`, `^foo`, `foo$`, `^$`, `^\s*$`, `\s`, `[^a]`, `.`, ``,
	`foo\s+bar`, `(foo|bar)+baz`, `fo{2,3}`, `\w+_id`, `[a-f]{3}`, `task`, `kiss`, `ss`, `s`, `k`, `sky`, `x*`, `(?i)foo`, `(?i:fo)o`, `fo(?i:O)`,
	`größe`, `ÄÖ`, `\x{212a}`, `[[:upper:]]+`, `\p{Greek}`, `\d+\.\d+`, `\Afoo`, `foo\z`, `a\rb`, `[\rx]`, `(?s)a.b`, `a.*b`, `f(oo|)bar`,
	`a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s`, `[ab][cd][ef]x`, `\x{fffd}`, `[\x{fffd}x]`, `[^\x{fffd}]{2}x`, `\p{So}\PS`, `[\x{d800}-\x{d803}]o`, `(`, `a{1001}`, `((a)|b)?c`, `aa`, `a+`, `\B`,
}

var pieces = []string{
	"foo", "Foo", "FOO", "bar", "BAR", "baz", "far", "fizz", "color", "colour", " ", "\t", "\n", "\n", "\n", "\r\n", "\r", "task", "tas\u212a", "ta\u017fk",
	"kiss", "ki\u017fs", "S", "s", "\u212a", "sky", "\u017fky", "s\u212ay", "user_id", "größe", "GRÖSSE", "äö", "\xff", "\xc5", "\ufffd", "a.b", "a\rb", "3.14", "x", "_", "\x00", "Σ", "ς", "aaaa", "abc",
}

func TestLinesEqualRegexpLineByLine(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var b strings.Builder
		for range rnd.IntN(60) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		for _, seed := range seeds {
			p := match.Pattern{Text: seed, Fixed: rnd.IntN(4) == 0, Word: rnd.IntN(4) == 0, Case: match.Sensitive}
			if rnd.IntN(2) == 0 {
				p.Case = match.Insensitive
			}
			compare(t, p, b.String())
		}
	}
}

// A quotation that is not ended takes in nothing of what is put around a pattern.
func TestQuotedToTheEnd(t *testing.T) {
	for _, p := range []match.Pattern{
		{Text: `\Qa.b`, Case: match.Sensitive}, {Text: `\Qa.b`, Case: match.Insensitive}, {Text: `\Qa.b`, Multiline: true, Case: match.Insensitive},
		{Text: `a\Q.b`, Word: true, Case: match.Sensitive}, {Text: `a\Q.\E[^x]`, Word: true, Case: match.Insensitive},
	} {
		m, err := match.Compile(p)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{`1 "a.b"`}
		if p.Case == match.Insensitive {
			want = append(want, `2 "A.B"`)
		}
		if !p.Word {
			want = append(want, `4 "ca.bc"`)
		}
		if diff := cmp.Diff(want, lines(m, "a.b\nA.B\naxb\nca.bc\n")); diff != "" {
			t.Errorf("%+v: %s", p, diff)
		}
	}
}

// A literal must be found wherever it lies relative to the blocks of the search.
func TestLinesAcrossBlocks(t *testing.T) {
	for _, p := range []match.Pattern{
		{Text: "needle", Case: match.Insensitive}, {Text: "needle|thread", Case: match.Sensitive},
		{Text: "needle", Case: match.Sensitive}, {Text: `needle\s+in`, Case: match.Insensitive},
	} {
		for pad := 4080; pad < 4100; pad++ {
			text := strings.Repeat("l\n", pad/2) + strings.Repeat("e", pad%2) + "Needle needle in thread\n" + strings.Repeat("end\n", 3000) + "THREAD needle in"
			compare(t, p, text)
		}
	}
}

func TestMultiline(t *testing.T) {
	for _, tt := range []struct {
		name, pattern, text string
		want                []string
	}{
		{"spans lines", `a\nb`, "x\na\nb\nc\n", []string{`2 "a"`, `3 "b"`}},
		{"two matches share a line", `a\nb|c\nd`, "a\nb c\nd\n", []string{`1 "a"`, `2 "b c"`, `3 "d"`}},
		{"anchors are those of a line", `^b$`, "a\nb\nc", []string{`2 "b"`}},
		{"dot stays in its line", `a.b`, "a\nb\n", nil},
		{"CRLF is a line feed", `a\nb$`, "a\r\nb\r\n", []string{`1 "a"`, `2 "b"`}},
		{"but not for a pattern that names CR", `a\r\nb`, "a\r\nb\r\n", []string{`1 "a"`, `2 "b"`}},
		{"end of a last line without line feed", `$`, "a\nb", []string{`1 "a"`, `2 "b"`}},
		{"nothing after the last line feed", `^$`, "a\n\nb\n", []string{`2 ""`}},
		{"a match that ends with a line feed", `a\n`, "a\nb\n", []string{`1 "a"`}},
		{"start of the text", `\Aa`, "a\na\n", []string{`1 "a"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := match.Compile(match.Pattern{Text: tt.pattern, Multiline: true})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, lines(m, string(m.Normal([]byte(tt.text))))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Matches come in batches; the cuts between them must not show.
func TestMultilineBatches(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	text := strings.Repeat(strings.Repeat("ab", 3000)+"\nb\n\n", 5) + strings.Repeat("a\nb\n", 6000)
	data := []byte(text)
	for _, pattern := range []string{`a\n?b`, `.`, `\bb$`, `b\n|a`, `\Aab|b`, `a*`, `b\n\nab+`, `b\n\na\n.`, `\n\n\w`, `b\n\nc`} {
		m, err := match.Compile(match.Pattern{Text: pattern, Multiline: true})
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		next := 0
		for _, span := range regexp.MustCompile("(?m)"+pattern).FindAllStringIndex(text, -1) {
			for at := max(span[0], next); at < len(text) && at <= max(span[0], span[1]-1); at = next {
				l := match.LineAt(data, next, at)
				next = l.Next
				want = append(want, text[l.Start:l.End])
			}
		}
		var got []string
		for l := range m.Lines(t.Context(), data) {
			got = append(got, text[l.Start:l.End])
		}
		if !slices.Equal(want, got) {
			t.Errorf("%q: %d lines, want %d", pattern, len(got), len(want))
		}
	}
}

func TestSmartCase(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		fixed   bool
		folds   bool
	}{
		{"foo", false, true}, {"Foo", false, false}, {`\Wfoo\S`, false, true}, {`\p{Lu}foo`, false, false}, {`[[:upper:]]foo`, false, false}, {`\p{Greek}foo`, false, true}, {`(?P<Name>foo)`, false, true},
		{`(?<Name>foo)`, false, true}, {`[A-Z]foo`, false, false}, {`\x{4A}foo`, false, true}, {`\QF\E`, false, false}, {`\W`, true, false}, {"éa", false, true}, {"Éa", false, false},
	} {
		m, err := match.Compile(match.Pattern{Text: tt.pattern, Fixed: tt.fixed})
		if err != nil {
			t.Fatal(err)
		}
		insensitive, err := match.Compile(match.Pattern{Text: tt.pattern, Fixed: tt.fixed, Case: match.Insensitive})
		if err != nil {
			t.Fatal(err)
		}
		text := " FOO foo Foo \naFOO \nf\nF\n\\w\n\\W\nÉA\nJFOO\n"
		if same := cmp.Equal(lines(m, text), lines(insensitive, text)); same != tt.folds {
			t.Errorf("%q fixed=%v: ignores case = %v, want %v", tt.pattern, tt.fixed, same, tt.folds)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		pattern, want, hint string
		multiline           bool
	}{
		{`foo(`, "missing closing )", "fixed:true", false},
		{`foo[a`, "missing closing ]: [a at character 4", "fixed:true", false},
		{`ä(?=b)`, "invalid or unsupported Perl syntax: (?= at character 2", "no look-around", false},
		{`(?<!a)b`, "invalid or unsupported Perl syntax: (?<! at character 1", "no look-around", false},
		{`(a)\1`, `invalid escape sequence: \1 at character 4`, "no back-references", false},
		{`a\yb`, `invalid escape sequence: \y at character 2`, "fixed:true", false},
		{`a\\k\k`, `invalid escape sequence: \k at character 5`, "fixed:true", false},
		{`*a`, "missing argument to repetition operator: * at character 1", "fixed:true", false},
		{`a{1001}`, "invalid repeat count: {1001} at character 2", "largest repeat", false},
		{`a\nb`, "the pattern asks for a line feed, but lines are searched one by one", "multiline:true", false},
		{`a\x{d800}`, `\x{d800} is half of a surrogate pair, and no character`, "the character itself", false},
		{`(a{500}){500}`, "invalid repeat count: {500} at character 9", "the product", false},
		{`(a{1,50}){30,}`, "invalid repeat count: {30,} at character 10", "the product", false},
		{`a{5,2}`, "invalid repeat count: {5,2} at character 2", "largest repeat", false},
		{strings.Repeat("(", 1001) + strings.Repeat(")", 1001), "expression nests too deeply", "inside of each other", false},
		{`ä\u0041b`, `invalid escape sequence: \u at character 2`, `\x{0041}`, false},
		{`\u{1F600}`, `invalid escape sequence: \u at character 1`, `\x{1F600}`, false},
		{`\u`, `invalid escape sequence`, `\x{...}`, false},
		{`a\Z`, `invalid escape sequence: \Z at character 2`, `\z`, false},
		{`a\h`, `invalid escape sequence: \h at character 2`, `[ \t]`, false},
		{`a\R`, `invalid escape sequence: \R at character 2`, `\r?\n`, false},
		{`a\Kb`, `invalid escape sequence: \K at character 2`, `no \K:`, false},
		{`a\p{Foo}`, `unknown class: \p{Foo} at character 2`, `\p{Greek}`, false},
		{`\P{Foo}`, `unknown class: \P{Foo} at character 1`, `\p{Greek}`, false},
		{`[a[:foo:]]`, `unknown class: [:foo:] at character 3`, "alnum", false},
		{`[[:<:]]a`, `unknown class: [:<:] at character 2`, `\b`, false},
		{`[z-a]`, `invalid character class range: z-a at character 2`, "fixed:true", false},
		{`a[\n]`, "the pattern asks for a line feed, but lines are searched one by one", "multiline:true", false},
	} {
		_, err := match.Compile(match.Pattern{Text: tt.pattern, Multiline: tt.multiline})
		e, ok := errors.AsType[*match.Error](err)
		if !ok {
			t.Errorf("%s: error %v", tt.pattern, err)
			continue
		}
		if e.Error() != tt.want || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: %q, hint %q; want %q, hint with %q", tt.pattern, e, e.Hint, tt.want, tt.hint)
		}
	}
}

func TestDialect(t *testing.T) {
	for _, tt := range []struct {
		pattern string
		fixed   bool
		want    string // the hint begins so; "" = none
	}{
		{`foo\|bar`, false, `\| is a literal bar`},
		{`\<bar`, false, `\< is a literal <`},
		{`bar\>`, false, `\> is a literal >`},
		{`\(foo\)*`, false, `\( is a literal parenthesis`},
		{`fo\{2\}`, false, `\{ is a literal brace here: write {2} to`},
		{`fo\{2,\}`, false, `\{ is a literal brace here: write {2,} to`},
		{`\b{start}foo`, false, `{start} is literal text`},
		{`\b{end-half}`, false, `{end-half} is literal text`},
		{`fo{,3}`, false, `{,3} is literal text here: write {0,3}`},
		{"\xff" + `\|`, false, `\| is a literal bar`},
		{`foo\|bar`, true, ""},
		{`foo\\|bar`, false, ""},
		{`[\|]`, false, ""},
		{`[]\|]`, false, ""},
		{`[^]\|]`, false, ""},
		{`[[:alpha:]\|]`, false, ""},
		{`[a]\|`, false, `\|`},
		{`\Qa\|b\E`, false, ""},
		{`\Qa\|b`, false, ""},
		{`\Qa\E\|b`, false, `\|`},
		{`main\(\)`, false, ""},
		{`main\(`, false, ""},
		{`struct \{`, false, ""},
		{`\{\}`, false, ""},
		{`\bfoo\b`, false, ""},
		{`fo{2}`, false, ""},
	} {
		got := match.Pattern{Text: tt.pattern, Fixed: tt.fixed}.Dialect()
		if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
			t.Errorf("%q fixed=%v: %q, want %q", tt.pattern, tt.fixed, got, tt.want)
		}
	}
}

func FuzzScan(f *testing.F) {
	for i, seed := range seeds {
		f.Add(seed, strings.Join(pieces, ""), uint8(i))
	}
	f.Fuzz(func(t *testing.T, pattern, text string, options uint8) {
		if len(pattern) > 200 || len(text) > 10_000 || !utf8.ValidString(pattern) {
			return
		}
		if strings.Contains(pattern, `\Q`) { // the oracle would have to parse it
			return
		}
		compare(t, match.Pattern{Text: pattern, Fixed: options&1 != 0, Word: options&2 != 0, Case: match.Sensitive + match.Case(options>>2&1)}, text)
	})
}
