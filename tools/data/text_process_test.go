package data_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"testing"

	"toolcrib/tools/catalog"
	"toolcrib/tools/data"
	"toolcrib/tools/internal/tooltest"
)

// textProcess returns what calls the tool in a directory of files and returns its text or error.
func textProcess(t *testing.T, files map[string]string) func(data.TextProcessIn) string {
	t.Helper()
	tool, ok := catalog.Find(data.Category(nil).Tools, "text_process")
	if !ok {
		t.Fatal("there is no text_process")
	}
	ws, _ := tooltest.Tree(t, files)
	return func(in data.TextProcessIn) string {
		t.Helper()
		args, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		result, err := tooltest.Call(t.Context(), ws, tool, args)
		if err != nil {
			return err.Error()
		}
		return tooltest.Text(result)
	}
}

// What encodes or hashes a file takes its bytes, also where they are no text or a text in
// another encoding; everything else refuses what is no text.
func TestBytesOfFiles(t *testing.T) {
	files := map[string]string{"image.png": "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\xff", "utf16.txt": "\xff\xfeh\x00i\x00", "mark.txt": "\ufeffhi\r\n", "latin.txt": "caf\xe9\n"}
	call := textProcess(t, files)
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
	call := textProcess(t, nil)
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
