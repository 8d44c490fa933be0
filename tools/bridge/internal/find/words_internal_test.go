package find

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/lexical"
)

func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"read_file":               {"read", "file"},
		"Web-Fetch":               {"web", "fetch"},
		"listDirectory":           {"list", "directory"},
		"don't stop, it's fine":   {"dont", "stop", "its", "fine"},
		"sha256 of a.txt":         {"sha256", "of", "a", "txt"},
		"Grüße an ÅSE":            {"grüße", "an", "åse"},
		"__init__ 'quoted' --all": {"init", "quoted", "all"},
		" \t\n":                   nil,
	} {
		if diff := cmp.Diff(want, split(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// What has no words of its own stands for the kind of thing that it is.
func TestPlain(t *testing.T) {
	for request, want := range map[string][]string{
		"fetch https://example.com/a.html": {"fetch", "url"},
		"what is in main.go?":              {"what", "is", "in", "file"},
		"read report.pdf":                  {"read", "file", "pdf"},
		"all *.txt":                        {"all", "file"},
		"names like *_test":                {"names", "like", "file", "name", "pattern"},
		"list src/cmd":                     {"list", "path"},
		"where is MAX_SIZE":                {"where", "is"},
		"ends in .env":                     {"ends", "in", "file", "name", "env"},
	} {
		if diff := cmp.Diff(want, plain(request)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", request, diff)
		}
	}
}

func TestStem(t *testing.T) {
	for _, same := range [][]string{
		{"search", "searches", "searched", "searching"},
		{"run", "running", "runs"},
		{"copy", "copies", "copied"},
		{"delete", "deletes", "deleted", "deletion"},
		{"directory", "directories"},
		{"file", "files"},
	} {
		for _, word := range same[1:] {
			if lexical.Stem(word) != lexical.Stem(same[0]) {
				t.Errorf("the stems of %s and %s are %q and %q", same[0], word, lexical.Stem(same[0]), lexical.Stem(word))
			}
		}
	}
	for _, other := range [][2]string{{"status", "statu"}, {"this", "thi"}, {"ring", "r"}, {"grüße", "grüß"}} {
		if lexical.Stem(other[0]) == other[1] {
			t.Errorf("%s is cut to %q", other[0], other[1])
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"weather", "weather", 1, 0},
		{"weather", "wether", 1, 1},   // missing
		{"weather", "wweather", 1, 1}, // too many
		{"weather", "waather", 1, 1},  // wrong
		{"weather", "waether", 1, 1},  // exchanged
		{"weather", "xeather", 1, 2},  // the first letter is rarely wrong
		{"schedule", "shcedle", 2, 2},
		{"read", "directory", 2, 3},
		{"", "a", 2, 3},
	} {
		if got := distance(tc.a, tc.b, tc.limit); got != tc.want {
			t.Errorf("%q and %q are %d slips apart, want %d", tc.a, tc.b, got, tc.want)
		}
		if got := distance(tc.b, tc.a, tc.limit); got != tc.want {
			t.Errorf("%q and %q are %d slips apart, want %d", tc.b, tc.a, got, tc.want)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, tc := range []struct {
		word, term string
		fits       bool
	}{
		{"config", "configurat", true},
		{"configurat", "config", true},
		{"direct", "directory", true},
		{"con", "config", false},          // too short
		{"conf", "configurations", false}, // less than half
		{"config", "config", false},       // the word itself
		{"figure", "configure", false},
	} {
		got := prefix(tc.word, tc.term)
		if (got > 0) != tc.fits || got >= 1 {
			t.Errorf("%s for %s: %v", tc.word, tc.term, got)
		}
	}
}
