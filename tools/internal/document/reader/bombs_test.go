package reader_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/tooltest"
)

// member is a member of an archive that a test makes.
type member struct {
	name   string
	body   io.Reader
	stored bool
}

func pack(t testing.TB, members ...member) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		header := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		if m.stored {
			header.Method = zip.Store
		}
		f, err := w.CreateHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(f, m.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func text(s string) io.Reader { return strings.NewReader(s) }

// endless is a text that repeats up to a number of bytes.
func endless(unit string, n int64) io.Reader {
	return io.LimitReader(&repeated{unit: []byte(strings.Repeat(unit, 1+4096/len(unit)))}, n)
}

type repeated struct {
	unit []byte
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	n := copy(p, r.unit[r.at:])
	r.at = (r.at + n) % len(r.unit)
	return n, nil
}

const (
	wordTypes  = `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	sheetTypes = `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>`
	slideTypes = `<Types><Override ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>`
	laughs     = `<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	odfStart   = `<office:document-content><office:body><office:`
)

func word(t testing.TB, body io.Reader, stored bool) []byte {
	return pack(t, member{name: "[Content_Types].xml", body: text(wordTypes)}, member{name: "word/document.xml", body: body, stored: stored})
}

func book(t testing.TB, parts ...member) []byte {
	return pack(t, append([]member{
		{name: "[Content_Types].xml", body: text(sheetTypes)},
		{name: "xl/workbook.xml", body: text(`<workbook><sheets><sheet name="S" r:id="r"/></sheets></workbook>`)},
		{name: "xl/_rels/workbook.xml.rels", body: text(`<Relationships><Relationship Id="r" Type="x/worksheet" Target="s.xml"/><Relationship Id="t" Type="x/sharedStrings" Target="t.xml"/></Relationships>`)},
	}, parts...)...)
}

// overlapping is an archive whose members have the same bytes.
func overlapping(t testing.TB) []byte {
	data := pack(t, member{name: "a", body: endless("x", 1<<20)}, member{name: "b", body: endless("x", 1<<20)})
	at := bytes.LastIndex(data, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(data[at+42:], 0) // the second is where the first is
	return data
}

func nested(t testing.TB) []byte {
	data := []byte("Hello.")
	for range 8 {
		data = pack(t, member{name: "inner.zip", body: bytes.NewReader(data)})
	}
	return data
}

// bombs are files that are small and would take much, and the limit that each exceeds.
func bombs(t testing.TB) []bomb {
	const much = 64 << 20
	many := make([]member, 10_001)
	for i := range many {
		many[i] = member{name: fmt.Sprintf("%d.txt", i), body: text("")}
	}
	rows := func(cell string, n int) io.Reader {
		return io.MultiReader(text("<worksheet><sheetData>"), endless("<row>"+cell+"</row>", int64(n*(len(cell)+11))))
	}
	return []bomb{
		{"a.zip", "nesting", nested(t)},
		{"b.zip", "overlap", overlapping(t)},
		{"c.zip", "entries", pack(t, many...)},
		{"d.zip", "ratio", pack(t, member{name: "a.txt", body: endless("x", much)})},
		{"e.zip", "depth", pack(t, member{name: "a.docx", body: bytes.NewReader(word(t, endless("<w:p>", much), false))})},
		{"deep.docx", "depth", word(t, io.MultiReader(text("<w:document><w:body>"), endless("<w:tbl><w:tr><w:tc>", 1<<20)), false)},
		{"paragraphs.docx", "text", word(t, io.MultiReader(text("<w:document><w:body>"), endless("<w:p><w:r><w:t>x</w:t></w:r></w:p>", 40<<20)), true)},
		{"run.docx", "text", word(t, io.MultiReader(text("<w:document><w:body><w:p>"), endless("<w:r><w:t>x</w:t></w:r>", 100<<20)), true)},
		{"laughs.docx", "entities", word(t, text(laughs+`<w:document><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>`), false)},
		{"columns.docx", "cells", word(t, io.MultiReader(text("<w:document><w:body><w:tbl>"), endless(`<w:tr><w:tc><w:tcPr><w:gridSpan w:val="1024"/></w:tcPr></w:tc></w:tr>`, 2100*70)), true)},
		{"laughs.xlsx", "entities", book(t, member{name: "xl/s.xml", body: text(laughs + `<worksheet/>`)})},
		{"wide.xlsx", "cells", book(t, member{name: "xl/s.xml", body: io.MultiReader(text("<worksheet><sheetData>"), endless(`<row><c r="A1"><v>1</v></c><c r="XFD1"><v>1</v></c></row>`, 1_048_576*4)), stored: true})},
		{"cells.xlsx", "cells", book(t, member{name: "xl/s.xml", body: rows("<c><v>1</v></c><c><v>2</v></c>", 1_048_576), stored: true})},
		{"texts.xlsx", "text", book(t, member{name: "xl/t.xml", body: io.MultiReader(text("<sst><si><t>"), endless("x", 1<<20), text("</t></si></sst>")), stored: true}, member{name: "xl/s.xml", body: rows(`<c t="s"><v>0</v></c>`, 100_000), stored: true})},
		{"laughs.pptx", "entities", pack(t, member{name: "[Content_Types].xml", body: text(slideTypes)}, member{name: "ppt/presentation.xml", body: text(laughs + `<p/>`)})},
		{"rows.ods", "cells", pack(t, member{name: "mimetype", body: text("application/vnd.oasis.opendocument.spreadsheet")}, member{name: "content.xml", body: text(odfStart +
			`spreadsheet><table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`)})},
		{"table.odt", "cells", pack(t, member{name: "mimetype", body: text("application/vnd.oasis.opendocument.text")}, member{name: "content.xml", body: text(odfStart +
			`text><table:table><table:table-row table:number-rows-repeated="1048576"><table:table-cell table:number-columns-repeated="1000"><text:p>x</text:p></table:table-cell></table:table-row></table:table>`)})},
		{"laughs.odt", "entities", pack(t, member{name: "mimetype", body: text("application/vnd.oasis.opendocument.text")}, member{name: "content.xml", body: text(laughs + odfStart + "text>")})},
		{"deep.odt", "depth", pack(t, member{name: "mimetype", body: text("application/vnd.oasis.opendocument.text")}, member{name: "content.xml", body: io.MultiReader(text(odfStart+"text>"), endless("<text:section>", 1<<20))})},
		{"laughs.epub", "entities", pack(t, member{name: "mimetype", body: text("application/epub+zip")}, member{name: "META-INF/container.xml", body: text(laughs + "<container/>")})},
		{"deep.html", "depth", []byte("<html>" + strings.Repeat("<div>", 100_000))},
		{"many.html", "elements", []byte("<html>" + strings.Repeat("<p>x", 1_000_000))},
		{"spans.html", "cells", []byte("<html><table>" + strings.Repeat(`<tr><td colspan=1000 rowspan=60000>x<td>`, 2100))},
		{"laughs.xml", "entities", []byte(`<?xml version="1.0"?>` + laughs + "<x>&b;</x>")},
		{"quadratic.xml", "entities", []byte(`<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "` + strings.Repeat("a", 100_000) + `">]><x>` + strings.Repeat("&a;", 100_000) + "</x>")},
		{"deep.xml", "depth", []byte(`<?xml version="1.0"?>` + strings.Repeat("<x>", 1_000_000))},
		{"tag.xml", "tag size", []byte(`<?xml version="1.0"?><x a="` + strings.Repeat("a", 8<<20) + `"/>`)},
		{"laughs.rss", "entities", []byte(`<?xml version="1.0"?>` + laughs + "<rss><channel><title>&b;</title></channel></rss>")},
		{"groups.rtf", "depth", []byte(`{\rtf1` + strings.Repeat("{", 1_000_000))},
		{"deep.json", "depth", []byte(strings.Repeat("[", 1_000_000))},
		{"deep.ipynb", "depth", []byte(`{"nbformat":4,"cells":` + strings.Repeat("[", 1_000_000))},
		{"cells.csv", "cells", []byte(strings.Repeat(strings.Repeat(",", 1000)+"\n", 2100))},
		{"nested.eml", "nesting", []byte("From: a\nTo: b\n" + strings.Repeat("Content-Type: message/rfc822\n\n", 50))},
		{"parts.eml", "entries", []byte("From: a\nTo: b\nContent-Type: multipart/mixed; boundary=x\n\n" + strings.Repeat("--x\n\na\n", 2000) + "--x--")},
	}
}

type bomb struct {
	name, limit string
	data        []byte
}

func (b bomb) source() document.Source {
	return document.Source{ReaderAt: bytes.NewReader(b.data), Size: int64(len(b.data)), Name: b.name}
}

func TestBombs(t *testing.T) {
	tooltest.Unraced(t)
	for _, b := range bombs(t) {
		t.Run(b.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := read(t, b.source())
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			limit := ""
			if e, ok := errors.AsType[*document.Error](err); ok {
				limit = e.Limit
			}
			if limit != b.limit || !strings.Contains(err.Error(), "limit of "+b.limit) {
				t.Errorf("error %v with the limit %q, want %q", err, limit, b.limit)
			}
			const mostMemory = 300 << 20
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 2*mostMemory {
				t.Errorf("it allocated %d MB", allocated>>20)
			}
			t.Logf("%d bytes: %v, %d MB allocated", len(b.data), took, (after.TotalAlloc-before.TotalAlloc)>>20)
		})
	}
}

// What is at the limits is read.
func TestLarge(t *testing.T) {
	tooltest.Unraced(t)
	const rows = 40_000
	data := book(t, member{name: "xl/s.xml", body: io.MultiReader(text("<worksheet><sheetData>"), endless("<row>"+strings.Repeat("<c><v>12.5</v></c>", 10)+"</row>", rows*(11+18*10))), stored: true})
	sheet, err := read(t, bomb{data: data}.source())
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(sheet.Markdown(), "| 12.5 "); got != rows*10 {
		t.Errorf("%d cells of %d", got, rows*10)
	}
	groups := []byte(`{\rtf1 ` + strings.Repeat("{a}", 1_000_000) + "}")
	doc, err := read(t, bomb{data: groups}.source())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(doc.Text()); got != 1_000_001 {
		t.Errorf("%d characters of 1000000", got)
	}
}
