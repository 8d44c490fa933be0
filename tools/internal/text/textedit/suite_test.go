package textedit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"toolcrib/tools/internal/text/textedit"
	"toolcrib/tools/internal/text/textfile"
)

// editCase is a file, edits and what becomes of it.
type editCase struct {
	name  string
	in    string
	edits []textedit.Edit
	want  string
	// fails is a part of the error's text; the file is to stay as it is then.
	fails string
	// detail is parts of the error's detail, note a part of the notes.
	detail []string
	note   string
}

func edit(before, after string) []textedit.Edit {
	return []textedit.Edit{{Old: before, New: after}}
}

func all(before, after string) []textedit.Edit {
	return []textedit.Edit{{Old: before, New: after, All: true}}
}

func lines(start, end int, text string) []textedit.Edit {
	return []textedit.Edit{{StartLine: start, EndLine: end, New: text}}
}

func parse(t testing.TB, data string) *textedit.Text {
	t.Helper()
	text, err := textedit.Parse([]byte(data), textfile.Sniff([]byte(data), true))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func runEdits(t *testing.T, cases []editCase) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range cases {
		if seen[c.name] {
			t.Errorf("two cases are called %q", c.name)
		}
		seen[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			result, err := parse(t, c.in).Apply(c.edits)
			check(t, result, err, c)
		})
	}
}

func check(t *testing.T, result textedit.Result, err error, c editCase) {
	t.Helper()
	notes := strings.Join(result.Notes, "\n")
	if err != nil || c.fails != "" {
		checkError(t, err, c)
		return
	}
	if string(result.Data) != c.want {
		t.Errorf("got  %q\nwant %q", result.Data, c.want)
	}
	if !strings.Contains(notes, c.note) || (c.note == "") != (notes == "") {
		t.Errorf("notes %q, want %q", notes, c.note)
	}
	if result.Replacements == 0 || len(result.Hunks) == 0 {
		t.Errorf("%d replacements, hunks %v", result.Replacements, result.Hunks)
	}
	result.Data = bytes.TrimPrefix(result.Data, []byte("\ufeff"))
	checkHunks(t, strings.TrimPrefix(c.in, "\ufeff"), result)
}

func checkError(t *testing.T, err error, c editCase) {
	t.Helper()
	m, ok := errors.AsType[*textedit.Mismatch](err)
	if !ok {
		t.Fatalf("error %v, want a *Mismatch with %q", err, c.fails)
	}
	if c.fails == "" || !strings.Contains(m.Msg, c.fails) {
		t.Errorf("error %q, want %q", m.Msg, c.fails)
	}
	for _, part := range c.detail {
		if !strings.Contains(m.Detail, part) {
			t.Errorf("detail lacks %q:\n%s", part, m.Detail)
		}
	}
	if strings.Contains(m.Msg, "\n") || len(m.Detail) > 5000 || strings.HasSuffix(m.Detail, "\n") {
		t.Errorf("message %q, detail of %d bytes", m.Msg, len(m.Detail))
	}
}

// checkHunks checks that the lines outside of the hunks are the same, endings
// included.
func checkHunks(t *testing.T, in string, result textedit.Result) {
	t.Helper()
	before, after := splitLines(in), splitLines(string(result.Data))
	i, j := 0, 0
	same := func(n int) {
		for ; n > 0; n-- {
			if i >= len(before) || j >= len(after) || before[i] != after[j] {
				t.Fatalf("hunks %v: line %d of the old file is not line %d of the new one", result.Hunks, i+1, j+1)
			}
			i, j = i+1, j+1
		}
	}
	for _, h := range result.Hunks {
		same(h.OldLine - 1 - i)
		if h.NewLine-1 != j {
			t.Fatalf("hunk %v begins at line %d of the new file", h, j+1)
		}
		i, j = i+h.OldLines, j+h.NewLines
	}
	same(max(len(before)-i, len(after)-j))
}

func splitLines(s string) []string {
	all := strings.SplitAfter(s, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}
