package match_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/search/internal/match"
)

// A byte that is not UTF-8 is matched by a dot and by what is not something, and by
// nothing that a pattern names.
func TestBytesThatAreNoCharacters(t *testing.T) {
	const text = "\xff\n\ufffd\na\xffb\na\ufffdb\n\ufdd0\xe2\x82\nab\n"
	for pattern, want := range map[string]string{
		`\x{fffd}`:                        "2 4",
		`a.b`:                             "3 4",
		`a\x{fffd}b`:                      "4",
		`[\x{fffd}\x{fffe}]`:              "2 4",
		`[^\x{fffd}\n]`:                   "1 3 4 5 6",
		`^[^\x{fffd}\n]+$`:                "1 3 5 6",
		`a[^\x{fffd}\n]b`:                 "3",
		`\p{So}`:                          "2 4",
		`^\PS`:                            "1 3 4 5 6",
		`[^\x00-\x7f]`:                    "1 2 3 4 5",
		`\x{fdd0}..`:                      "5",
		`\x{fdd0}\x{fffd}`:                "",
		`\x{fdd0}[^\x{fffd}\x{fdd0}\n]`:   "5",
		`\x{fffd}|\x{fdd0}|\x{fdd1}`:      "2 4 5",
		`(?:^|a)(?:\x{fffd}|[^a-z\n])+b?`: "1 2 3 4 5",
		`\x{10ffff}`:                      "",
	} {
		for _, multiline := range []bool{false, true} {
			m, err := match.Compile(match.Pattern{Text: pattern, Multiline: multiline, Case: match.Sensitive})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, line := range lines(m, text) {
				number, _, _ := strings.Cut(line, " ")
				got = append(got, number)
			}
			if got := strings.Join(got, " "); got != want {
				t.Errorf("%s, multiline %v: lines %s, want %s", pattern, multiline, got, want)
			}
		}
	}
}

// What does not span lines finds the same in both ways.
func TestLinesEqualSpans(t *testing.T) {
	rnd := rand.New(rand.NewPCG(9, 10))
	pieces := []string{"a", "b", "\xff", "\xe2\x82", "\ufffd", "\ufdd0", "\ufdd1", "\U0010ffff", "\n", "\n", "😀"}
	for _, pattern := range []string{`\x{fffd}`, `[\x{fffd}b]a`, `[^\x{fffd}\n]b`, `a\p{So}+`, `[^\pS\n]$`, `^\x{fffd}*[^\n\x{fdd0}]\x{fdd1}?$`, `\x{fdd0}\x{fffd}`, `.\b[^\x{fffd}\n]`} {
		single, err := match.Compile(match.Pattern{Text: pattern, Case: match.Sensitive})
		if err != nil {
			t.Fatal(err)
		}
		spans, err := match.Compile(match.Pattern{Text: pattern, Multiline: true, Case: match.Sensitive})
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			var b strings.Builder
			for range rnd.IntN(40) {
				b.WriteString(pieces[rnd.IntN(len(pieces))])
			}
			if diff := cmp.Diff(lines(single, b.String()), lines(spans, b.String())); diff != "" {
				t.Fatalf("%s over %q (-lines +spans):\n%s", pattern, b.String(), diff)
			}
		}
	}
}
