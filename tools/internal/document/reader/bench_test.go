package reader_test

import (
	"io"
	"strings"
	"testing"
)

// The sizes are those of the unpacked parts.
func BenchmarkRead(b *testing.B) {
	const size = 8 << 20
	paragraph := "<w:p><w:pPr><w:pStyle w:val=\"a\"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>" + strings.Repeat("word ", 40) + "</w:t></w:r></w:p>"
	row := `<row r="1">` + strings.Repeat(`<c s="1"><v>12.5</v></c>`, 10) + "</row>"
	for _, c := range []bomb{
		{name: "docx", data: word(b, io.MultiReader(text("<w:document><w:body>"), endless(paragraph, size)), true)},
		{name: "xlsx", data: book(b, member{name: "xl/s.xml", body: io.MultiReader(text("<worksheet><sheetData>"), endless(strings.ReplaceAll(row, ` r="1"`, ""), size)), stored: true})},
		{name: "a.html", data: []byte(strings.Repeat("<p>"+strings.Repeat("word ", 40)+"<b>bold</b></p>", size/220))},
		{name: "a.csv", data: []byte(strings.Repeat("one,two,three,4.5,6\n", size/40))},
		{name: "a.rtf", data: []byte(`{\rtf1 ` + strings.Repeat(`{\b bold} and plain text, and more of it\par `, size/45) + "}")},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.data)))
			b.ReportAllocs()
			for b.Loop() {
				doc, err := read(b, c.source())
				if err != nil {
					b.Fatal(err)
				}
				_ = doc.Markdown()
			}
		})
	}
}
