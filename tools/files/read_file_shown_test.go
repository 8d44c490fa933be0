package files_test

import (
	"bytes"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
)

// What read_file shows of a line, with escapes in the place of characters that
// deceive, can be given back as the text to edit.
func TestShownLinesCanBeEdited(t *testing.T) {
	for name, line := range map[string]string{
		"plain":            "x := 1",
		"tabs":             "\tx :=\t1",
		"direction":        "a\u202eb\u2066c\u2069",
		"zero width":       "ad\u200bmin\ufeff",
		"escape sequence":  "\x1b[31mred\x1b[0m",
		"lone CR":          "one\rtwo",
		"bytes":            "caf\xe9 \xff",
		"C1 and DEL":       "a\u0085b\x7f",
		"soft hyphen":      "co\u00adop",
		"no-break space":   "a\u00a0b",
		"joiner in ASCII":  "a\u200db",
		"joiner in emoji":  "\U0001f469\u200d\U0001f467",
		"line separator":   "a\u2028b",
		"tag":              "a\U000e0041b",
		"combining":        "e\u0301",
		"an escape itself": `a\u{202e}b \x{e9}`,
		"quotes":           "say “hello” it’s",
		"number and tab":   "12\tx",
	} {
		t.Run(name, func(t *testing.T) {
			const before, after = "first line of the text\n", "\nlast line of the text\n"
			content := before + line + after
			r := newCaller(t, "read_file", map[string]string{"t.txt": content})
			_, body, _ := strings.Cut(r.call(map[string]any{"path": "t.txt", "offset": 2, "limit": 1}), "\n")
			_, shown, _ := strings.Cut(body, "\t")
			for _, old := range []string{shown, body} {
				text, err := textedit.Parse([]byte(content), textfile.Sniff([]byte(content), true))
				if err != nil {
					t.Fatal(err)
				}
				result, err := text.Apply([]textedit.Edit{{Old: old, New: "NEW"}})
				if err != nil {
					t.Errorf("%q: %v", old, err)
					continue
				}
				if want := []byte(before + "NEW" + after); !bytes.Equal(result.Data, want) {
					t.Errorf("%q: %q, want %q", old, result.Data, want)
				}
			}
		})
	}
}
