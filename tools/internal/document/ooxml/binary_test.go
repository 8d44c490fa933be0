package ooxml_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/reader"
)

// body is what a record holds: numbers of 4 bytes, bytes, floats and texts.
func body(values ...any) (b []byte) {
	for _, value := range values {
		switch v := value.(type) {
		case int:
			b = binary.LittleEndian.AppendUint32(b, uint32(v))
		case []byte:
			b = append(b, v...)
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		case string:
			units := utf16.Encode([]rune(v))
			b = binary.LittleEndian.AppendUint32(b, uint32(len(units)))
			for _, u := range units {
				b = binary.LittleEndian.AppendUint16(b, u)
			}
		}
	}
	return b
}

// part is a part of an XLSB.
type part struct{ bytes.Buffer }

func (p *part) record(kind int, values ...any) {
	number := func(n int) {
		for ; n >= 0x80; n >>= 7 {
			p.WriteByte(byte(n) | 0x80)
		}
		p.WriteByte(byte(n))
	}
	b := body(values...)
	number(kind)
	number(len(b))
	p.Write(b)
}

const relations = `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`

// xlsb is a workbook with two sheets, the second of which is hidden.
func xlsb(t testing.TB, cut int) []byte {
	t.Helper()
	var workbook, styles, texts, first, second, comments part
	workbook.record(131)
	workbook.record(153, 0, 0, "")
	workbook.record(143)
	workbook.record(156, 0, 1, "rId1", "Sales")
	workbook.record(156, 1, 2, "rId2", "Notes")
	workbook.record(144)
	workbook.record(132)
	const kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"

	styles.record(278)
	styles.record(615, 1)
	styles.record(44, []byte{164, 0}, `0.0" kg"`)
	styles.record(616)
	styles.record(626, 1) // of styles, not of cells
	styles.record(47, []byte{0xff, 0xff, 9, 0}, 0, 0, 0)
	styles.record(627)
	styles.record(617, 3)
	for _, format := range []byte{0, 14, 164} {
		styles.record(47, []byte{0, 0, format, 0}, 0, 0, 0)
	}
	styles.record(618)
	styles.record(279)

	texts.record(159, 2, 2)
	texts.record(19, []byte{0}, "Fruit")
	texts.record(19, []byte{1}, "Äpfel 🍎", 1, []byte{0, 0, 0, 0})
	texts.record(160)

	first.record(129)
	first.record(145)
	row := func(n int) { first.record(0, n, 0, []byte{0x2c, 1, 0, 0, 0}, 1, 0, 4) }
	row(0)
	first.record(7, 0, 0, 0) // a column, a style, the first text
	first.record(6, 1, 0, "Sold on")
	first.record(6, 2, 0, "Weight")
	first.record(6, 3, 0, "Good")
	row(1)
	first.record(7, 0, 0, 1)
	first.record(2, 1, 1, 45000<<2|2)                                // a whole number, packed
	first.record(5, 2, 2, 12.34)                                     // a number
	first.record(4, 3, 0, []byte{1})                                 // a truth value
	first.record(9, 4, 0, -.5, []byte{0, 0}, 0, 0)                   // of a formula
	first.record(8, 5, 0, "joined", []byte{0, 0}, 0, 0)              //
	first.record(3, 6, 0, []byte{0x07})                              // an error
	first.record(2, 7, 0, -125<<2|3)                                 // hundredths
	first.record(62, 8, 0, []byte{1}, "rich", 1, []byte{0, 0, 0, 0}) //
	first.record(494, 1, 1, 0, 0, "rId1", "", "", "")                // a link of the second row
	first.record(146)
	first.record(130)
	second.record(129)
	second.record(145)
	second.record(0, 0, 0, []byte{0x2c, 1, 0, 0, 0}, 1, 0, 4)
	second.record(6, 0, 0, "kept")
	second.record(146)
	second.record(130)

	comments.record(628)
	comments.record(630)
	comments.record(632, "Ada")
	comments.record(631)
	comments.record(633)
	comments.record(635, 0, 1, 1, 2, 2, make([]byte, 16))
	comments.record(637, []byte{0}, "weighed twice")
	comments.record(636)
	comments.record(634)
	comments.record(629)

	var file bytes.Buffer
	w := zip.NewWriter(&file)
	for _, member := range []struct {
		name string
		data []byte
	}{
		{"[Content_Types].xml", []byte(`<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/><Override PartName="/xl/worksheets/sheet1.bin" ContentType="application/vnd.ms-excel.worksheet"/><Override PartName="/xl/worksheets/sheet2.bin" ContentType="application/vnd.ms-excel.worksheet"/><Override PartName="/xl/styles.bin" ContentType="application/vnd.ms-excel.styles"/><Override PartName="/xl/sharedStrings.bin" ContentType="application/vnd.ms-excel.sharedStrings"/><Override PartName="/xl/comments1.bin" ContentType="application/vnd.ms-excel.comments"/></Types>`)},
		{"_rels/.rels", []byte(relations + `<Relationship Id="rId1" Type="` + kinds + `officeDocument" Target="xl/workbook.bin"/></Relationships>`)},
		{"xl/_rels/workbook.bin.rels", []byte(relations + `<Relationship Id="rId1" Type="` + kinds + `worksheet" Target="worksheets/sheet1.bin"/><Relationship Id="rId2" Type="` + kinds + `worksheet" Target="worksheets/sheet2.bin"/><Relationship Id="rId3" Type="` + kinds + `styles" Target="styles.bin"/><Relationship Id="rId4" Type="` + kinds + `sharedStrings" Target="sharedStrings.bin"/></Relationships>`)},
		{"xl/worksheets/_rels/sheet1.bin.rels", []byte(relations + `<Relationship Id="rId1" Type="` + kinds + `hyperlink" Target="https://apples.example/" TargetMode="External"/><Relationship Id="rId2" Type="` + kinds + `comments" Target="../comments1.bin"/></Relationships>`)},
		{"xl/workbook.bin", workbook.Bytes()},
		{"xl/styles.bin", styles.Bytes()},
		{"xl/sharedStrings.bin", texts.Bytes()},
		{"xl/worksheets/sheet1.bin", first.Bytes()[:first.Len()-cut]},
		{"xl/worksheets/sheet2.bin", second.Bytes()},
		{"xl/comments1.bin", comments.Bytes()},
	} {
		m, err := w.Create(member.name)
		if err == nil {
			_, err = m.Write(member.data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func readBook(t *testing.T, data []byte, sheet, area string) (*document.Document, error) {
	t.Helper()
	src := document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: "a.xlsb", Sheet: sheet, Range: area}
	return reader.Set{}.Read(src, document.NewBudget(t.Context(), document.Standard()))
}

func TestBinary(t *testing.T) {
	data := xlsb(t, 0)
	const rows = `
| Fruit | Sold on | Weight | Good | | | | | |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
| [Äpfel 🍎](https://apples.example/) | 2023-03-15 | 12.3 kg | TRUE | -0.5 | joined | #DIV/0! | -1.25 | rich |
`
	for _, test := range []struct{ sheet, area, want string }{
		{"", "", "[sheet 1: Sales; A1:I2]\n" + rows + "\n> Comment by Ada: C2: weighed twice\n\n[sheet 2: Notes; hidden, A1:A1]\n\nkept\n"},
		{"notes", "", "[sheet 2: Notes; hidden, A1:A1]\n\nkept\n"},
		{"1", "C1:C2", "[sheet 1: Sales; C1:C2]\n\n| Weight |\n| --- |\n| 12.3 kg |\n\n> Comment by Ada: C2: weighed twice\n"},
	} {
		d, err := readBook(t, data, test.sheet, test.area)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, d.Markdown()); diff != "" || d.Format != "xlsb" {
			t.Errorf("%q %q, %s: %s", test.sheet, test.area, d.Format, diff)
		}
	}
	if _, err := readBook(t, data, "Costs", ""); !document.Is(err, document.Absent) || !strings.Contains(err.Error(), `"Sales", "Notes"`) {
		t.Errorf("a sheet that is not there: %v", err)
	}
	// What is before the cut is shown.
	d, err := readBook(t, xlsb(t, 20), "", "")
	if err != nil {
		t.Fatal(err)
	}
	if text := d.Markdown(); !strings.Contains(text, "| Äpfel 🍎 | 2023-03-15 |") || !strings.Contains(text, "kept") || len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "sheet Sales ends early") {
		t.Errorf("cut: %q\n%s", d.Warnings, text)
	}
}

// Records that lie are no texts, and do not end the reader.
func FuzzBinary(f *testing.F) {
	f.Add([]byte{7, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{6, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x9c, 1, 0xff, 0xff, 0xff, 0x7f})
	whole := xlsb(f, 0)
	f.Fuzz(func(t *testing.T, records []byte) {
		in, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		w := zip.NewWriter(&file)
		for _, m := range in.File {
			if !strings.HasSuffix(m.Name, ".bin") || m.Name == "xl/workbook.bin" {
				err = w.Copy(m)
			} else if out, e := w.Create(m.Name); e != nil {
				err = e
			} else {
				_, err = out.Write(records)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := readBook(t, file.Bytes(), "", ""); err != nil {
			t.Logf("%v", err)
		}
	})
}
