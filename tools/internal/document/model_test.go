package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
)

func sample() *document.Document {
	d := &document.Document{Format: "docx", Title: "Sample"}
	d.Add(
		document.Block{Kind: document.Mark, Label: "page", Number: 1},
		document.Block{Kind: document.Heading, Level: 2, Spans: []document.Span{{Text: "Cost ", Style: document.Bold}, {Text: "2026"}}},
		document.Block{Spans: []document.Span{
			{Text: "See "}, {Text: " bold ", Style: document.Bold}, {Text: "and "}, {Text: "the ", Link: "https://e.com/a b"},
			{Text: "page", Link: "https://e.com/a b", Style: document.Italic}, {Text: ", a*b, x_y_z", Style: 0}, {Text: "1", Style: document.Ref},
		}},
		document.Block{Kind: document.Item, Label: "1.", Spans: document.Text("one")},
		document.Block{Kind: document.Item, Level: 1, Spans: document.Text("inner\nline")},
		document.Block{Kind: document.Item, Label: "1.2.", Spans: document.Text("two")},
		document.Block{Kind: document.Table, Grid: &document.Grid{Rows: [][]document.Cell{
			{{Text: "a|b"}, {Text: "c"}}, {{Text: "1\n2"}}, {{}, {Spans: []document.Span{{Text: "x", Style: document.Bold}}}},
		}}},
		document.Block{Kind: document.Code, Label: "go", Spans: document.Text("a := \"```\"\n")},
		document.Block{Spans: []document.Span{{Text: "E = mc^2", Style: document.Math}}},
		document.Block{Spans: []document.Span{{Text: "A cat", Style: document.Picture, Link: "media/cat (1).png"}}},
		document.Block{Spans: document.Text("# no heading")},
		document.Block{Kind: document.Note, Label: "1", Spans: document.Text("A note.")},
		document.Block{Kind: document.Comment, Label: "Ann", Spans: document.Text("Why?")},
		document.Block{Kind: document.Mark, Label: "sheet", Number: 2, State: "hidden", Spans: document.Text("Sales")},
	)
	return d
}

func TestRender(t *testing.T) {
	const markdown = `[page 1]

## Cost 2026

See  **bold** and [the *page*](<https://e.com/a b>), a\*b, x_y_z[^1]

1. one
   - inner
     line
- 1.2. two

| a\|b | c |
| --- | --- |
| 1<br>2 | |
| | **x** |

` + "````go\na := \"```\"\n````" + `

$$
E = mc^2
$$

![A cat](<media/cat (1).png>)

\# no heading

[^1]: A note.

> Comment by Ann: Why?

[sheet 2: Sales; hidden]
`
	if diff := cmp.Diff(markdown, sample().Markdown()); diff != "" {
		t.Errorf("markdown (-want +got):\n%s", diff)
	}
	text := sample().Text()
	for _, want := range []string{"\nCost 2026\n", "the page, a*b, x_y_z[1]\n", "\n1. one\n", "\n1.2. two\n", "\na|b\tc\n1 2\n", "\n# no heading\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
}

func TestOutline(t *testing.T) {
	d := sample()
	markdown := []rune(d.Markdown())
	want := []string{"[page 1]", "## Cost 2026", "[sheet 2: Sales; hidden]"}
	var got []string
	for _, e := range d.Outline() {
		line, _, _ := strings.Cut(string(markdown[e.Start:]), "\n")
		got = append(got, line)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestChunks(t *testing.T) {
	d := &document.Document{}
	rows := [][]document.Cell{{{Text: "head"}, {Text: "er"}}}
	for range 300 {
		rows = append(rows, []document.Cell{{Text: "some cell"}, {Text: "another"}})
	}
	d.Add(
		document.Block{Kind: document.Heading, Level: 1, Spans: document.Text("One")},
		document.Block{Kind: document.Heading, Level: 2, Spans: document.Text("Two")},
		document.Block{Spans: document.Text(strings.Repeat("A sentence of words. ", 300))},
		document.Block{Kind: document.Heading, Level: 1, Spans: document.Text("Three")},
		document.Block{Kind: document.Mark, Label: "page", Number: 3},
		document.Block{Kind: document.Table, Grid: &document.Grid{Rows: rows}},
		document.Block{Spans: document.Text(strings.Repeat("文", 1200))},
		document.Block{Spans: document.Text("short")},
		document.Block{Spans: document.Text("too")},
	)
	chunks := d.Chunks()
	words := 0
	for i, c := range chunks {
		if c.Tokens > document.ChunkTokens+20 {
			t.Errorf("chunk %d has %d tokens", i, c.Tokens)
		}
		if strings.Contains(c.Text, "sentence") && (!cmp.Equal(c.Headings, []string{"One", "Two"}) || !strings.HasSuffix(c.Text, ".")) {
			t.Errorf("chunk %d: %q %q", i, c.Headings, c.Text)
		}
		if strings.Contains(c.Text, "some cell") && (!strings.HasPrefix(c.Part, "page 3, rows ") || !strings.HasPrefix(c.Text, "| head | er |\n| --- | --- |\n| some")) {
			t.Errorf("chunk %d: %q %q", i, c.Part, c.Text)
		}
		words += strings.Count(c.Text, "sentence") + strings.Count(c.Text, "some cell") + strings.Count(c.Text, "文")
	}
	if words != 300+300+1200 {
		t.Errorf("%d of 1800 words", words)
	}
	if last := chunks[len(chunks)-1]; !strings.HasSuffix(last.Text, "short\n\ntoo") {
		t.Errorf("last: %q", last.Text)
	}
}

// No heading is lost that nothing follows.
func TestChunksOfHeadings(t *testing.T) {
	head := func(level int, text string) document.Block {
		return document.Block{Kind: document.Heading, Level: level, Spans: document.Text(text)}
	}
	mark := func(label string, number int) document.Block {
		return document.Block{Kind: document.Mark, Label: label, Number: number}
	}
	body := document.Block{Spans: document.Text("body")}
	for _, test := range []struct {
		name   string
		blocks []document.Block
		want   []string // part|headings|text
	}{
		{"siblings and the last", []document.Block{head(1, "Top"), head(2, "One"), head(2, "Two"), body, head(2, "End")}, []string{"|Top > One|One", "|Top > Two|body", "|Top > End|End"}},
		{"an empty one below", []document.Block{head(1, "One"), head(2, ""), head(1, "Two"), body}, []string{"|One|One", "|Two|body"}},
		{"the end of a slide", []document.Block{mark("slide", 1), head(1, "One"), mark("slide", 2), head(2, "Two")}, []string{"slide 1|One|One", "slide 2|Two|Two"}},
		{"the end of a page", []document.Block{mark("page", 1), head(1, "One"), mark("page", 2), body}, []string{"page 2|One|body"}},
		{"no text on the next page", []document.Block{mark("page", 1), head(1, "One"), mark("page", 2), head(1, "Two"), body}, []string{"page 1|One|One", "page 2|Two|body"}},
	} {
		d := &document.Document{}
		d.Add(test.blocks...)
		var got []string
		for _, c := range d.Chunks() {
			got = append(got, c.Part+"|"+strings.Join(c.Headings, " > ")+"|"+c.Text)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

func TestBudget(t *testing.T) {
	b := document.NewBudget(t.Context(), document.Limits{Unpacked: 10, Entries: 3, Ratio: 200, Depth: 2, Cells: 5, Text: 7, File: 9})
	for _, c := range []struct {
		limit string
		err   error
	}{
		{"", b.Unpack(10)},
		{"unpacked size", b.Unpack(1)},
		{"", b.Enter(3)},
		{"entries", b.Enter(1)},
		{"", b.CheckDepth(2)},
		{"depth", b.CheckDepth(3)},
		{"", b.TakeCells(5)},
		{"cells", b.TakeCells(1)},
		{"", b.TakeText(7)},
		{"text", b.TakeText(1)},
		{"", b.CheckRatio(1, document.RatioFrom)},
		{"ratio", b.CheckRatio(5000, document.RatioFrom+1)},
		{"file size", b.CheckFile(10)},
	} {
		limit := ""
		if e, ok := errors.AsType[*document.Error](c.err); ok {
			limit = e.Limit
		}
		if limit != c.limit {
			t.Errorf("%v, want the limit %q", c.err, c.limit)
		}
	}
}

func TestPages(t *testing.T) {
	p, err := document.ParsePages("1-3, 7,9-")
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for n := 1; n < 12; n++ {
		if p.Has(n) {
			got = append(got, n)
		}
	}
	if diff := cmp.Diff([]int{1, 2, 3, 7, 9, 10, 11}, got); diff != "" {
		t.Error(diff)
	}
	for wrong, want := range map[string]string{
		"0": `"0" is not a page or a range of pages`, "x": `"x" is not a page or a range of pages`, "1,,2": `"" is not a page or a range of pages`,
		"3-0": `"3-0" is not a page or a range of pages`, "7, 3-1": `"3-1" is reversed`,
	} {
		if _, err := document.ParsePages(wrong); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", wrong, err, want)
		}
	}
}

// The passages of a long table say which of its rows they have; the header is row 1.
func TestChunksOfTables(t *testing.T) {
	grid := document.Grid{Rows: [][]document.Cell{{{Text: "number"}}}}
	for n := range 900 {
		grid.Rows = append(grid.Rows, []document.Cell{{Text: fmt.Sprintf("row%d", n+2)}})
	}
	d := &document.Document{Blocks: []document.Block{{Kind: document.Table, Grid: &grid}}}
	next := 2
	for _, c := range d.Chunks() {
		var first, last int
		if n, err := fmt.Sscanf(c.Part, "rows %d-%d", &first, &last); n != 2 {
			t.Fatalf("%q: %v", c.Part, err)
		}
		lines := strings.Split(c.Text, "\n")
		if first != next || lines[0] != "| number |" || lines[2] != fmt.Sprintf("| row%d |", first) || lines[len(lines)-1] != fmt.Sprintf("| row%d |", last) {
			t.Errorf("%s: %s ... %s, want from row %d", c.Part, lines[2], lines[len(lines)-1], next)
		}
		next = last + 1
	}
	if next != 902 {
		t.Errorf("the rows end before %d", next)
	}
}
