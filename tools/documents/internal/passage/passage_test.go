package passage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/documents/internal/passage"
	"toolcrib/tools/internal/document"
)

func TestOfLines(t *testing.T) {
	long := strings.Repeat("word ", 390) // nearly a passage
	for _, test := range []struct {
		name, text string
		plain      bool
		want       []string // place|headings|text
	}{
		{name: "nothing", text: "\n\n"},
		{name: "one line", text: "a", want: []string{"1||a"}},
		{name: "paragraphs", text: "a\nb\r\n\nc\n", want: []string{"1-4||a\nb\n\nc"}},
		{name: "headings", text: "intro\n# One\na\n## Two ##\n\nb\n# Three\nc", want: []string{"1||intro", "3|One|a", "6|One > Two|b", "8|Three|c"}},
		{name: "headings without text", text: "# One\n## Two\n## Three\na\n## Four\n", want: []string{"2|One > Two|Two", "4|One > Three|a", "5|One > Four|Four"}},
		{name: "one heading", text: "## One\n# Two\na", want: []string{"1|One|One", "3|Two|a"}},
		{name: "empty heading", text: "# One\n## #\n# Two\na", want: []string{"1|One|One", "4|Two|a"}},
		{name: "code", text: "```sh\n# no heading\n\nx\n```\n# One\na", want: []string{"1-5||```sh\n# no heading\n\nx\n```", "7|One|a"}},
		{name: "no Markdown", text: "# One\na", plain: true, want: []string{"1-2||# One\na"}},
		{name: "long", text: long + "\n\n" + long, want: []string{"1||" + long, "3||" + long}},
		{name: "long paragraph", text: long + "\n" + long, want: []string{"1||" + long, "2||" + long}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, p := range passage.OfLines(test.text, !test.plain) {
				got = append(got, fmt.Sprintf("%s|%s|%s", p.Place, p.Headings, p.Text))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A line of any length is divided, and nothing of it is lost.
func TestLongLine(t *testing.T) {
	for _, unit := range []string{"word ", "文", "x"} {
		text := strings.Repeat(unit, 20_000)
		var all strings.Builder
		for _, p := range passage.OfLines(text, true) {
			if p.Tokens > document.ChunkTokens || p.Place != "1" {
				t.Errorf("%q: a passage of %d tokens at %s", unit, p.Tokens, p.Place)
			}
			all.WriteString(p.Text)
		}
		if all.String() != text {
			t.Errorf("%q: %d bytes, want %d", unit, all.Len(), len(text))
		}
	}
}

// The title of a document is found with its first passage.
func TestTitle(t *testing.T) {
	for _, test := range []struct{ title, text, want string }{
		{"Subject", "Some text.", "Subject"},
		{"Some", "Some text.", ""},
		{"", "Some text.", ""},
	} {
		doc := &document.Document{Title: test.title}
		doc.Add(document.Block{Kind: document.Paragraph, Spans: document.Text(test.text)})
		if got := passage.OfDocument(doc); len(got) != 1 || got[0].Headings != test.want {
			t.Errorf("%s: %+v, want %q", test.title, got, test.want)
		}
	}
}
