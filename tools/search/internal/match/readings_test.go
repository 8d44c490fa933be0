package match_test

import (
	"testing"

	"toolcrib/tools/search/internal/match"
)

func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		pattern match.Pattern
		want    []string // texts; "?" before one that is doubtful, "i:" before one for which case does not count
	}{
		{match.Pattern{Text: "foo"}, nil},
		{match.Pattern{Text: "a/b/c"}, nil},
		{match.Pattern{Text: "/foo/", Fixed: true}, nil},
		{match.Pattern{Text: "/a b/i"}, []string{"i:a b"}},
		{match.Pattern{Text: "/a/g"}, []string{"a"}},
		{match.Pattern{Text: "/usr/bin/"}, []string{"?usr/bin"}},
		{match.Pattern{Text: "/usr/bin"}, nil},
		{match.Pattern{Text: `a\|b`}, []string{"a|b", "a|b"}},
		{match.Pattern{Text: `f\(\)\|g`}, []string{`f\(\)|g`, "f()|g"}},
		{match.Pattern{Text: `\<a\{2\}\>`}, []string{`\ba{2}\b`}},
		{match.Pattern{Text: `[\|]`}, nil},
	} {
		var got []string
		for _, r := range tt.pattern.Readings() {
			text := r.Text
			if r.Case == match.Insensitive {
				text = "i:" + text
			}
			if r.Doubtful {
				text = "?" + text
			}
			got = append(got, text)
		}
		if len(got) != len(tt.want) {
			t.Errorf("%q: %q, want %q", tt.pattern.Text, got, tt.want)
			continue
		}
		for i := range got {
			if got[i] != tt.want[i] {
				t.Errorf("%q: %q, want %q", tt.pattern.Text, got, tt.want)
			}
		}
	}
}
