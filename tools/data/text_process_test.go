package data_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"toolcrib/tools/data"
	"toolcrib/tools/internal/tooltest"
)

// What encodes or hashes a file takes its bytes, also where they are no text or a text in
// another encoding; everything else refuses what is no text.
func TestBytesOfFiles(t *testing.T) {
	files := map[string]string{"image.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff", "utf16.txt": "\xff\xfeh\x00i\x00", "mark.txt": "\ufeffhi\r\n", "latin.txt": "caf\xe9\n"}
	call := caller[data.TextProcessIn](t, "text_process", files)
	do := func(operation, path string) string {
		return call(data.TextProcessIn{Operation: operation, Path: path})
	}
	for name, content := range files {
		sum := sha256.Sum256([]byte(content))
		for operation, want := range map[string]string{
			"hash": hex.EncodeToString(sum[:]), "hex_encode": hex.EncodeToString([]byte(content)), "base64_encode": base64.StdEncoding.EncodeToString([]byte(content)),
		} {
			if got := do(operation, name); got != want {
				t.Errorf("%s of %s: %s, want %s", operation, name, got, want)
			}
		}
	}
	if got := do("upper", "utf16.txt"); got != "HI" {
		t.Errorf("upper of UTF-16: %q", got)
	}
	if got := do("count", "image.png"); got != "invalid_argument: image.png is no text" {
		t.Errorf("count of an image: %q", got)
	}
}

// A group that the pattern lacks is an error, not an empty text.
func TestGroupsOfReplacement(t *testing.T) {
	call := caller[data.TextProcessIn](t, "text_process", nil)
	for _, tc := range []struct {
		replacement string
		literal     bool
		want        string
	}{
		{"${2}_$1", false, "1 replacement\nb_a"},
		{"$word-$2-$$1", false, "1 replacement\na-b-$1"},
		{"$2_$1", false, `invalid_argument: replace: the text is not changed: the pattern has no group "2_"; ${2}_ is the group 2 before "_"`},
		{"$3", false, `invalid_argument: replace: the text is not changed: the pattern has no group "3"; it has 2, and $$ is a dollar sign`},
		{`\2`, false, `invalid_argument: replace: the text is not changed: a group in the replacement is ${1}, not \2; literal takes the replacement as it is`},
		{`\2$3`, true, "1 replacement\n" + `\2$3`},
	} {
		in := data.TextProcessIn{Operation: "replace", Text: new("a=b"), Pattern: `(?P<word>\w)=(\w)`, Replacement: tc.replacement, Literal: tc.literal}
		if tc.literal {
			in.Pattern = "a=b"
		}
		if got := call(in); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.replacement, got, tc.want)
		}
	}
}

// A short replacement or separator makes a text of any size of a long one, and a short pattern
// matches everywhere.
func TestTextBombs(t *testing.T) {
	tooltest.Unraced(t)
	text, long := new(strings.Repeat("a\n", 1<<20)), strings.Repeat("x", 100_000)
	call := caller[data.TextProcessIn](t, "text_process", nil)
	for _, in := range []data.TextProcessIn{
		{Operation: "replace", Pattern: "a", Replacement: long},
		{Operation: "replace", Pattern: "a", Replacement: long, Literal: true},
		{Operation: "replace", Pattern: "(?s).*", Replacement: strings.Repeat("$0", 200)},
		{Operation: "join", Separator: &long},
		{Operation: "extract", Pattern: strings.Repeat("()", 8)},
		{Operation: "split", Pattern: strings.Repeat("()", 8)},
	} {
		in.Text = text
		if got := call(in); got != "too_large: "+in.Operation+": the text would become too large" {
			t.Errorf("%s: %.200s", in.Operation, got)
		}
	}
	for _, in := range []data.TextProcessIn{
		{Operation: "replace", Pattern: "(?s)(.).*", Replacement: "$1$1$$" + long},
		{Operation: "replace", Pattern: "b", Replacement: long},
		{Operation: "replace", Pattern: "(a)\n", Replacement: "${1}b"},
		{Operation: "join"},
		{Operation: "extract", Pattern: "a"},
		{Operation: "split", Pattern: "a"},
	} {
		in.Text = new((*text)[:100_000])
		if got := call(in); strings.Contains(got, "too_large") {
			t.Errorf("%s: %.200s", in.Operation, got)
		}
	}
}
