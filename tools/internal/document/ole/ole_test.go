package ole_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/ole"
)

// stream is one of a compound file that a test makes.
type stream struct {
	name string
	data []byte
}

// compound makes a file: its table of sectors, its directory, then the streams, each long
// enough not to be a short one.
func compound(streams ...stream) []byte {
	const sector, shortest = 512, 4096
	header := make([]byte, sector)
	copy(header, ole.Magic)
	binary.LittleEndian.PutUint16(header[30:], 9)
	binary.LittleEndian.PutUint32(header[48:], 1)          // the directory
	binary.LittleEndian.PutUint32(header[60:], 0xFFFFFFFE) // no short streams
	binary.LittleEndian.PutUint32(header[68:], 0xFFFFFFFE)
	for i := range 109 {
		binary.LittleEndian.PutUint32(header[76+4*i:], 0xFFFFFFFF)
	}
	binary.LittleEndian.PutUint32(header[76:], 0)
	fat := []uint32{0xFFFFFFFD, 0xFFFFFFFE}
	var directory, body []byte
	const none = 0xFFFFFFFF
	for i, s := range streams {
		dir, name, nested := strings.Cut(s.name, "/")
		kind, child, right := byte(2), uint32(none), uint32(none)
		if s.name == dir+"/" {
			s.name, kind, child = dir, 1, uint32(i+1)
		} else if nested {
			s.name = name
			if i+1 < len(streams) && strings.HasPrefix(streams[i+1].name, dir+"/") {
				right = uint32(i + 1)
			}
		}
		data := make([]byte, (max(shortest, len(s.data))+sector-1)/sector*sector)
		copy(data, s.data)
		e := make([]byte, 128)
		for i, c := range utf16.Encode([]rune(s.name)) {
			binary.LittleEndian.PutUint16(e[2*i:], c)
		}
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(s.name)+2))
		e[66] = kind
		binary.LittleEndian.PutUint32(e[68:], none)
		binary.LittleEndian.PutUint32(e[72:], right)
		binary.LittleEndian.PutUint32(e[76:], child)
		binary.LittleEndian.PutUint32(e[116:], uint32(len(fat)))
		binary.LittleEndian.PutUint32(e[120:], uint32(len(data)))
		directory = append(directory, e...)
		for i := range len(data) / sector {
			next := uint32(len(fat) + 1)
			if i == len(data)/sector-1 {
				next = 0xFFFFFFFE
			}
			fat = append(fat, next)
		}
		body = append(body, data...)
	}
	directory = append(directory, make([]byte, (sector-len(directory)%sector)%sector)...)
	body = append(body, directory[sector:]...)
	for end := 1; len(directory) > sector; directory = directory[:len(directory)-sector] { // its other sectors are the last ones
		fat[end] = uint32(len(fat))
		end = len(fat)
		fat = append(fat, 0xFFFFFFFE)
	}
	table := make([]byte, sector)
	for i := range sector / 4 {
		n := uint32(0xFFFFFFFF)
		if i < len(fat) {
			n = fat[i]
		}
		binary.LittleEndian.PutUint32(table[4*i:], n)
	}
	return bytes.Join([][]byte{header, table, directory, body}, nil)
}

func wide(text string) []byte {
	var b []byte
	for _, c := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return b
}

// doc makes a DOC of two pieces, one of bytes and one of wide characters.
func doc(narrow, unicode string) []byte { return docWithout(0, narrow, unicode) }

// docWithout makes a DOC of whose first piece a tracked change has deleted some characters.
func docWithout(gone int, narrow, unicode string) []byte {
	const length, page = 0x800, 3
	main := make([]byte, length)
	binary.LittleEndian.PutUint16(main[0x0A:], 0x0200)
	chars := len(narrow) + len(utf16.Encode([]rune(unicode)))
	binary.LittleEndian.PutUint32(main[0x4C:], uint32(chars))
	main = slices.Concat(main, []byte(narrow), wide(unicode))
	table := []byte{1, 2, 0, 9, 9, 2, 28, 0, 0, 0}
	for _, n := range []int{0, len(narrow), chars} {
		table = binary.LittleEndian.AppendUint32(table, uint32(n))
	}
	for _, fc := range []int{length*2 | 1<<30, length + len(narrow)} {
		table = append(table, 0, 0)
		table = binary.LittleEndian.AppendUint32(table, uint32(fc))
		table = append(table, 0, 0)
	}
	binary.LittleEndian.PutUint32(main[0x01A2:], 0)
	binary.LittleEndian.PutUint32(main[0x01A6:], uint32(len(table)))
	binary.LittleEndian.PutUint32(main[0xFA:], uint32(len(table)))
	binary.LittleEndian.PutUint32(main[0xFE:], 12)
	for _, n := range []int{length, length + len(narrow), page} {
		table = binary.LittleEndian.AppendUint32(table, uint32(n))
	}
	runs := main[page*512 : page*512+512]
	for i, n := range []int{length, length + gone, length + len(narrow)} {
		binary.LittleEndian.PutUint32(runs[4*i:], uint32(n))
	}
	copy(runs[12:], []byte{100, 0})
	copy(runs[200:], []byte{6, 0x35, 0x08, 1, 0x00, 0x08, 1}) // bold, and deleted
	runs[511] = 2
	return compound(stream{"WordDocument", main}, stream{"1Table", table})
}

func record(version, kind uint16, body []byte) []byte {
	b := binary.LittleEndian.AppendUint16(nil, version)
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// pptBoxes makes a presentation whose texts are in the boxes of its slides.
func pptBoxes() []byte {
	slide := func(text string) []byte {
		return record(15, 1006, record(15, 1036, record(15, 0xF00D, record(0, 4000, wide(text)))))
	}
	list := append(record(0, 1011, make([]byte, 20)), record(0, 1011, make([]byte, 20))...)
	return compound(stream{"PowerPoint Document", slices.Concat(record(15, 1000, record(15, 4080, list)), slide("Óne\rmore"), slide("*\rtwo"))})
}

func ppt() []byte {
	list := bytes.Join([][]byte{
		record(0, 1011, make([]byte, 20)), record(0, 4000, wide("Títle")), record(0, 4008, []byte("one\rtwo\vlines")),
		record(0, 1011, make([]byte, 20)), record(0, 4008, []byte("last")),
	}, nil)
	document := record(15, 1000, append(record(15|1<<4, 4080, record(0, 4008, []byte("forbidden"))), record(15, 4080, list)...))
	return compound(stream{"PowerPoint Document", append(document, record(0, 4008, []byte("forbidden"))...)})
}

// biff makes a record of a workbook.
func biff(kind uint16, parts ...[]byte) []byte {
	body := bytes.Join(parts, nil)
	b := binary.LittleEndian.AppendUint16(nil, kind)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(body)))
	return append(b, body...)
}

// numbers16 are numbers of 16 bits.
func numbers16(all ...int) (b []byte) {
	for _, n := range all {
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	return b
}

func float(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }

// xls makes a workbook of a version: a sheet, a chart, and a hidden sheet without cells.
func xls(version int) []byte {
	wide := version == 0x0600
	text := func(length int, text string) []byte {
		b := []byte{byte(len(text))}
		if length == 2 {
			b = numbers16(len(text))
		}
		if wide {
			b = append(b, 0)
		}
		return append(b, text...)
	}
	code := text(1, "0.00%")
	if wide {
		code = text(2, "0.00%")
	}
	styles := slices.Concat(
		biff(0x0042, numbers16(1252)), biff(0x041E, numbers16(200), code),
		biff(0x00E0, numbers16(0, 0)), biff(0x00E0, numbers16(0, 200)), biff(0x00E0, numbers16(0, 14)),
	)
	if wide { // the first text goes on in the next record, in narrow characters
		styles = slices.Concat(styles,
			biff(0x00FC, make([]byte, 8), numbers16(5), []byte{1 | 4 | 8}, numbers16(1), []byte{4, 0, 0, 0}, numbers16(0xCD, 't')),
			biff(0x003C, []byte{0}, []byte("em")), biff(0x003C, []byte{1}, numbers16(0x6587), make([]byte, 4), []byte("skip"), text(2, "narrow")))
	}
	cells := slices.Concat(
		biff(0x0809, numbers16(version, 0x10)),
		biff(0x00FD, numbers16(0, 0, 0, 0, 0)), biff(0x00FD, numbers16(0, 1, 0, 1, 0)),
		biff(0x0203, numbers16(0, 2, 1), float(0.125)), biff(0x0203, numbers16(0, 3, 2), float(45292)),
		biff(0x00BD, numbers16(1, 0, 0), []byte{150<<2&0xFF | 3, 150 << 2 >> 8, 0, 0}, numbers16(0), []byte{0xE6, 0xFF, 0xFF, 0xFF}, numbers16(1)),
		biff(0x0205, numbers16(1, 2, 0), []byte{1, 0}), biff(0x0205, numbers16(1, 3, 0), []byte{0x2A, 1}),
		biff(0x0809, numbers16(version, 0x20)), biff(0x0203, numbers16(9, 9, 0), float(9)), biff(0x000A), // a chart
		biff(0x0006, numbers16(2, 0, 0), []byte{0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, make([]byte, 8)), biff(0x0207, text(2, "result")),
		biff(0x0006, numbers16(2, 1, 0), float(0.25), make([]byte, 8)),
		biff(0x0204, numbers16(2, 3, 0), text(2, "label")),
		biff(0x005D, numbers16(0x15, 18, 25, 7)), biff(0x01B6, make([]byte, 10), numbers16(8), make([]byte, 6)), biff(0x003C, []byte{0}, []byte("too high")),
		biff(0x001C, numbers16(0, 1, 0, 7), text(2, "Bo")),
		biff(0x000A),
	)
	sheets := func(first, second int) []byte {
		at := func(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }
		return slices.Concat(biff(0x0085, at(first), []byte{0, 0}, text(1, "S\xe4l\xe9s")), biff(0x0085, at(0), []byte{0, 2}, text(1, "Chart")),
			biff(0x0085, at(second), []byte{1, 0}, text(1, "No")), biff(0x000A))
	}
	head := slices.Concat(biff(0x0809, numbers16(version, 5)), styles)
	first := len(head) + len(sheets(0, 0))
	empty := append(biff(0x0809, numbers16(version, 0x10)), biff(0x000A)...)
	name := "Book"
	if wide {
		name = "Workbook"
	}
	return compound(stream{name, slices.Concat(head, sheets(first, first+len(cells)), cells, empty)})
}

// msg makes a message with an attachment, whose texts of bytes are Japanese.
func msg(body ...stream) []byte {
	sent := binary.LittleEndian.AppendUint64(nil, (11644473600+1767225600)*10_000_000)
	codePage := binary.LittleEndian.AppendUint64(nil, 932)
	properties := slices.Concat(make([]byte, 32), numbers16(0x40, 0x0039, 0, 0), sent, numbers16(3, 0x3FDE, 0, 0), codePage)
	all := append([]stream{
		{"__properties_version1.0", properties}, {"__substg1.0_0037001F", wide("Hällo")}, {"__substg1.0_0C1A001E", []byte("Ann")},
		{"__substg1.0_5D01001F", wide("ann@example.org")}, {"__substg1.0_0E04001F", wide("Bo")},
	}, body...)
	return compound(append(all, stream{"__attach_version1.0_#00000000/", nil}, stream{"__attach_version1.0_#00000000/__substg1.0_3707001F", wide("a.csv")},
		stream{"__attach_version1.0_#00000000/__substg1.0_370E001F", wide("text/csv")}, stream{"__attach_version1.0_#00000000/__substg1.0_37010102", []byte("1,2")})...)
}

func read(t testing.TB, data []byte) (*document.Document, error) {
	t.Helper()
	return ole.Reader{}.Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}, document.NewBudget(t.Context(), document.Standard()))
}

const (
	messageHead = "# Hällo\n\n**From:** Ann \\<ann@example.org>\n**To:** Bo\n**Date:** 2026-01-01 00:00:00 UTC\n\n"
	messageEnd  = "\n**Attachments:**\n\n1. a.csv (text/csv, 4.1 kB)\n"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"doc", doc("First \x93para\x94.\rA \x13 HYPERLINK \"forbidden\" \x14link\x15.\rh1\x07h2\x07\x07a\x07b\rc\x07\x07", "Ünïcode\x0bline\r"),
			"First “para”.\n\nA link.\n\n| h1 | h2 |\n| --- | --- |\n| a | b<br>c |\n\nÜnïcode\nline\n"},
		{"doc with a deletion", docWithout(9, "forbiddenkept\r", "more\r"), "kept\n\nmore\n"},
		{"xls", xls(0x0600), "[sheet 1: Sälés; A1:D3]\n\n| Ítem文 | narrow | 12.50% | 2024-01-01 |\n| --- | --- | --- | --- |\n| 1.5 | -7 | TRUE | #N/A |\n| result | 0.25 | | label |\n\n> Comment by Bo: B1: too high\n\n[sheet 3: No; hidden, empty]\n"},
		{"xls of Excel 95", xls(0x0500), "[sheet 1: S\u00e4l\u00e9s; A1:D3]\n\n| | | 12.50% | 2024-01-01 |\n| --- | --- | --- | --- |\n| 1.5 | -7 | TRUE | #N/A |\n| result | 0.25 | | label |\n\n[sheet 3: No; hidden, empty]\n"},
		{"msg", msg(stream{"__substg1.0_1000001F", wide("One.\r\n\r\nTwo.\r\n")}), messageHead + "One.\n\nTwo.\n" + messageEnd},
		{"msg of HTML", msg(stream{"__substg1.0_1000001F", wide("forbidden")}, stream{"__substg1.0_10130102", []byte("<p>One <b>bold</b>.<p>\x93\xfa\x96\x7b.")}), messageHead + "One **bold**.\n\n日本.\n" + messageEnd},
		{"ppt with boxes", pptBoxes(), "[slide 1]\n\nÓne\n\nmore\n\n[slide 2]\n\ntwo\n"},
		{"ppt", ppt(), "[slide 1]\n\nTítle\n\none\n\ntwo\nlines\n\n[slide 2]\n\nlast\n"},
	} {
		got, err := read(t, c.data)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got.Markdown()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	whole := doc("text", "")
	loop := bytes.Clone(whole)
	binary.LittleEndian.PutUint32(loop[512+4:], 1) // the directory goes on with itself
	if _, err := read(t, loop); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		cause document.Cause
		data  []byte
	}{
		{document.Truncated, whole[:700]},
		{document.Truncated, whole[:2000]},
		{document.Truncated, compound(stream{"EncryptedPackage", nil})},
		{document.Truncated, compound(stream{"Workbook", nil})},
		{document.Encrypted, compound(stream{"Workbook", append(biff(0x0809, numbers16(0x0600, 5)), biff(0x002F, numbers16(1))...)})},
		{document.Unsupported, compound(stream{"Other", nil})},
	} {
		if _, err := read(t, c.data); !document.Is(err, c.cause) {
			t.Errorf("%d bytes: %v", len(c.data), err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(doc("First\r\x07", "Ü"))
	f.Add(ppt())
	f.Add(xls(0x0600))
	f.Add(msg())
	f.Add(xls(0x0500))
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := read(t, data); err == nil {
			got.Markdown()
		}
	})
}
