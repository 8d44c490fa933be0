package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf"
	"toolcrib/tools/internal/document/pdf/pdfium"
	"toolcrib/tools/internal/document/pdf/pdftest"
)

// engine is shared by the tests, since compiling takes seconds.
var engine *pdfium.Engine

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == pdfium.Argument {
		os.Exit(pdfium.Main(os.Args[2], os.Stderr))
	}
	engine = &pdfium.Engine{Restarts: true, Cache: pdftest.Compiled}
	code := m.Run()
	_ = engine.Close(context.Background())
	os.Exit(code)
}

func read(ctx context.Context, data []byte, password string) (*document.Document, error) {
	r := &pdf.Reader{Engine: engine}
	src := document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Password: password}
	return r.Read(src, document.NewBudget(ctx, document.Standard()))
}

func markdown(t *testing.T, f *pdftest.File) string {
	t.Helper()
	d, err := read(t.Context(), f.Bytes(), f.Password)
	if err != nil {
		t.Fatal(err)
	}
	return d.Markdown()
}

var prose = []string{
	"The mill on the river was built of stones from the old hills,",
	"and its wheel turned day and night when the water was",
	"high. In summer it stopped for weeks, and the miller went",
	"to the coast, where his brother mended nets and sold salt.",
	"Nobody knew how old it was, since the books were lost in",
	"a fire, and the oldest people said that it had always been.",
}

func TestBlocks(t *testing.T) {
	for _, test := range []struct {
		name string
		draw func(p *pdftest.Page)
		want string
	}{
		{"a heading and paragraphs", func(p *pdftest.Page) {
			p.Text(72, 80, 18, pdftest.Bold, "The old mill")
			y := p.Lines(72, 120, 11, pdftest.Plain, prose[:3]...)
			p.Lines(72, y+12, 11, pdftest.Plain, prose[3:]...)
		}, `
# The old mill

The mill on the river was built of stones from the old hills, and its wheel turned day and night when the water was high. In summer it stopped for weeks, and the miller went

to the coast, where his brother mended nets and sold salt. Nobody knew how old it was, since the books were lost in a fire, and the oldest people said that it had always been.
`},
		{"a word that a line break divides", func(p *pdftest.Page) {
			p.Lines(72, 120, 11, pdftest.Plain, "A long line of the text ends with a hyphen-", "ated word, which becomes one again when the", "lines are joined.")
		}, `
A long line of the text ends with a hyphenated word, which becomes one again when the lines are joined.
`},
		{"nested lists", func(p *pdftest.Page) {
			p.Text(72, 100, 11, pdftest.Plain, "1. Grain is weighed")
			p.Text(72, 114, 11, pdftest.Plain, "2. Grain is cleaned")
			p.Text(90, 128, 11, pdftest.Plain, "\x95 by wind")
			p.Text(90, 142, 11, pdftest.Plain, "\x95 by sieves")
			p.Text(72, 156, 11, pdftest.Plain, "3. Grain is ground")
		}, `
1. Grain is weighed
2. Grain is cleaned
   - by wind
   - by sieves
3. Grain is ground
`},
		{"items of several lines", func(p *pdftest.Page) {
			p.Lines(72, 100, 11, pdftest.Plain, "The miller gives flour to all who bring what he needs, such as", "these things:")
			for i, y := range []float64{126, 153} {
				p.Text(72, y, 11, pdftest.Plain, "\x95")
				p.Text(84, y, 11, pdftest.Plain, fmt.Sprintf("Item %d is about wood for the wheel, and needs a second line for", i))
				p.Text(84, y+13, 11, pdftest.Plain, "all of its words")
			}
			p.Text(72, 180, 11, pdftest.Plain, "A last line is no part of the list.")
		}, `
The miller gives flour to all who bring what he needs, such as these things:

- Item 0 is about wood for the wheel, and needs a second line for all of its words
- Item 1 is about wood for the wheel, and needs a second line for all of its words

A last line is no part of the list.
`},
		{"code", func(p *pdftest.Page) {
			p.Lines(72, 100, 11, pdftest.Plain, prose...)
			p.Lines(72, 200, 10, pdftest.Mono, "for i := range n {", "    sum += i", "}")
		}, `
` + strings.Join(prose, " ") + `

` + "```" + `
for i := range n {
    sum += i
}
` + "```" + `
`},
		{"two columns", func(p *pdftest.Page) {
			p.Text(72, 60, 18, pdftest.Bold, "Two columns")
			for i := range 12 {
				y := 100 + 13*float64(i)
				p.Text(50, y, 9, pdftest.Plain, fmt.Sprintf("left %d has enough words to be as wide as all", i))
				p.Text(310, y+4, 9, pdftest.Plain, fmt.Sprintf("right %d has enough words to be as wide as all", i))
			}
		}, "\n# Two columns\n\n" + counted("left") + "\n\n" + counted("right") + "\n"},
		{"a link", func(p *pdftest.Page) {
			p.Text(72, 100, 11, pdftest.Plain, "See")
			p.Text(96, 100, 11, pdftest.Plain, "the plan")
			p.Link(94, 88, 140, 104, "https://example.com/plan?a=1")
		}, "\nSee [the plan](https://example.com/plan?a=1)\n"},
		{"turned text", func(p *pdftest.Page) {
			p.Lines(72, 100, 11, pdftest.Plain, prose...)
			p.Turned(40, 300, 9, "printed at the edge")
		}, "\n" + strings.Join(prose, " ") + "\n\nprinted at the edge\n"},
		{"an image in the text", func(p *pdftest.Page) {
			p.Lines(72, 100, 11, pdftest.Plain, prose[:3]...)
			p.Image(72, 150, 200, 100)
			p.Lines(72, 270, 11, pdftest.Plain, prose[3:]...)
		}, "\n" + strings.Join(prose[:3], " ") + "\n\n![](page1-image1)\n\n" + strings.Join(prose[3:], " ") + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := &pdftest.File{}
			test.draw(f.Page())
			if diff := cmp.Diff("[page 1]\n"+test.want, markdown(t, f)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func counted(side string) string {
	var all []string
	for i := range 12 {
		all = append(all, fmt.Sprintf("%s %d has enough words to be as wide as all", side, i))
	}
	return strings.Join(all, " ")
}

func TestRunningText(t *testing.T) {
	f := &pdftest.File{Title: "The mill"}
	for i := range 5 {
		p := f.Page()
		p.Text(72, 40, 9, pdftest.Plain, "Annual report of the mill")
		p.Lines(72, 120, 11, pdftest.Plain, prose...)
		p.Text(290, 810, 9, pdftest.Plain, fmt.Sprintf("Page %d of 5", i+1))
	}
	got := markdown(t, f)
	if n := strings.Count(got, "Annual report"); n != 1 {
		t.Errorf("the header is there %d times, want 1", n)
	}
	if strings.Contains(got, "of 5") {
		t.Error("a page number is left")
	}
	if n := strings.Count(got, prose[0]); n != 5 {
		t.Errorf("the text is there %d times, want 5", n)
	}
	r := &pdf.Reader{Engine: engine, Whole: true}
	data := f.Bytes()
	d, err := r.Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}, document.NewBudget(t.Context(), document.Standard()))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(d.Text(), "Annual report"); n != 5 || d.Title != "The mill" {
		t.Errorf("whole: the header is there %d times, want 5; the title is %q", n, d.Title)
	}
}

func TestPages(t *testing.T) {
	f := &pdftest.File{}
	f.Page().Text(72, 100, 11, pdftest.Plain, "the first page")
	f.Page().Image(0, 0, pdftest.Width, pdftest.Height)
	f.Page()
	f.Page().Text(72, 100, 11, pdftest.Plain, "the last page")
	if diff := cmp.Diff(`[page 1]

the first page

[page 2; no text, only images: scanned?]

[page 3; no text]

[page 4]

the last page
`, markdown(t, f)); diff != "" {
		t.Error(diff)
	}
	pages, err := document.ParsePages("4-")
	if err != nil {
		t.Fatal(err)
	}
	data := f.Bytes()
	src := document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Pages: pages}
	r := &pdf.Reader{Engine: engine}
	d, err := r.Read(src, document.NewBudget(t.Context(), document.Standard()))
	if err != nil || d.Text() != "[page 4]\n\nthe last page\n" {
		t.Errorf("page 4 is %q, %v", d.Text(), err)
	}
	if src.Pages, err = document.ParsePages("9"); err != nil {
		t.Fatal(err)
	}
	if _, err = r.Read(src, document.NewBudget(t.Context(), document.Standard())); !document.Is(err, document.Absent) {
		t.Errorf("page 9: %v, want that it is absent", err)
	}
}

func TestUnreadable(t *testing.T) {
	f := &pdftest.File{Password: "opensesame"}
	f.Page().Text(72, 100, 11, pdftest.Plain, "a secret")
	secret := f.Bytes()
	f.Password = ""
	plain := f.Bytes()
	for _, test := range []struct {
		name     string
		data     []byte
		password string
		cause    document.Cause // 0 = none
		say      string
	}{
		{"the right password", secret, "opensesame", 0, "a secret"},
		{"no password", secret, "", document.Encrypted, "needs a password"},
		{"a wrong password", secret, "sesame", document.Encrypted, "does not open"},
		{"a password that is not needed", plain, "sesame", 0, "a secret"},
		{"the start of a file", plain[:200], "", document.Truncated, "its end is missing"},
		{"a file without its last line", plain[:len(plain)-8], "", 0, "a secret"},
		{"no PDF", []byte("this is a text and no PDF\n%%EOF\n"), "", document.Malformed, "cannot be read"},
		{"an empty file", nil, "", document.Truncated, "its end is missing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d, err := read(t.Context(), test.data, test.password)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = d.Text()
			}
			if !strings.Contains(got, test.say) || (test.cause == 0) != (err == nil) || err != nil && !document.Is(err, test.cause) {
				t.Errorf("got %q, %v; want %q", got, err, test.say)
			}
		})
	}
}

func TestDeadline(t *testing.T) {
	if err := engine.Compile(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := &pdftest.File{}
	for range 3000 {
		f.Page().Lines(72, 100, 11, pdftest.Plain, prose...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := read(ctx, f.Bytes(), ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the time", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestMutated(t *testing.T) {
	f := sample()
	data := f.Bytes()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		broken := bytes.Clone(data)
		for range 1 + random.IntN(20) {
			switch at := random.IntN(len(broken)); random.IntN(3) {
			case 0:
				broken[at] = byte(random.IntN(256))
			case 1:
				broken = append(broken[:at], broken[min(len(broken), at+random.IntN(40)):]...)
			case 2:
				broken = append(broken[:at:at], append(bytes.Repeat([]byte{'9'}, random.IntN(8)), broken[at:]...)...)
			}
		}
		tryBroken(t, i, broken)
	}
}

// tryBroken reads a broken file: it must come out as text or as an error with a cause.
func tryBroken(t *testing.T, i int, data []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var e *document.Error
	if _, err := read(ctx, data, ""); err != nil && !errors.As(err, &e) {
		t.Errorf("variant %d: %v, which has no cause", i, err)
	}
}

// sample has something of all kinds.
func sample() *pdftest.File {
	f := &pdftest.File{Title: "Sample"}
	p := f.Page()
	p.Text(72, 80, 18, pdftest.Bold, "All kinds")
	p.Lines(72, 120, 11, pdftest.Plain, prose...)
	p.Link(72, 110, 140, 124, "https://example.com")
	drawTable(p, 72, 220, true, fruits)
	p.Image(72, 400, 100, 60)
	p = f.Page()
	drawTable(p, 72, 120, false, fruits)
	p.Turned(30, 300, 9, "turned")
	return f
}

func FuzzRead(f *testing.F) {
	f.Add(sample().Bytes())
	f.Fuzz(func(t *testing.T, data []byte) { tryBroken(t, 0, data) })
}

// Characters beyond the first 65,536 come in halves.
func TestPairs(t *testing.T) {
	const toUnicode = "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n" +
		"1 begincodespacerange <00> <ff> endcodespacerange\n1 beginbfchar <41> <D83DDE00> endbfchar\nendcmap end end"
	data := raw(catalog, onePage, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
		stream("", []byte("BT /F 12 Tf 72 700 Td (AB) Tj ET")),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding /ToUnicode 6 0 R >>", stream("", []byte(toUnicode)))
	d, err := read(t.Context(), data, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Text(); !strings.Contains(got, "\n😀B\n") {
		t.Errorf("%q, want 😀B in it", got)
	}
}
