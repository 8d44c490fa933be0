package ole_test

import (
	"bytes"
	"encoding/binary"
	"slices"
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
	for _, s := range streams {
		data := make([]byte, (max(shortest, len(s.data))+sector-1)/sector*sector)
		copy(data, s.data)
		e := make([]byte, 128)
		for i, c := range utf16.Encode([]rune(s.name)) {
			binary.LittleEndian.PutUint16(e[2*i:], c)
		}
		binary.LittleEndian.PutUint16(e[64:], uint16(2*len(s.name)+2))
		e[66] = 2
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
	table := make([]byte, sector)
	for i := range sector / 4 {
		n := uint32(0xFFFFFFFF)
		if i < len(fat) {
			n = fat[i]
		}
		binary.LittleEndian.PutUint32(table[4*i:], n)
	}
	directory = append(directory, make([]byte, sector-len(directory))...)
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
func doc(narrow, unicode string) []byte {
	const length = 0x800
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
	return compound(stream{"WordDocument", main}, stream{"1Table", table})
}

func record(version, kind uint16, body []byte) []byte {
	b := binary.LittleEndian.AppendUint16(nil, version)
	b = binary.LittleEndian.AppendUint16(b, kind)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

func ppt() []byte {
	list := bytes.Join([][]byte{
		record(0, 1011, make([]byte, 20)), record(0, 4000, wide("Títle")), record(0, 4008, []byte("one\rtwo\vlines")),
		record(0, 1011, make([]byte, 20)), record(0, 4008, []byte("last")),
	}, nil)
	document := record(15, 1000, append(record(15|1<<4, 4080, record(0, 4008, []byte("forbidden"))), record(15, 4080, list)...))
	return compound(stream{"PowerPoint Document", append(document, record(0, 4008, []byte("forbidden"))...)})
}

func read(t testing.TB, data []byte) (*document.Document, error) {
	t.Helper()
	return ole.Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data))}, document.NewBudget(t.Context(), document.Standard()))
}

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"doc", doc("First \x93para\x94.\rA \x13 HYPERLINK \"forbidden\" \x14link\x15.\rh1\x07h2\x07\x07a\x07b\rc\x07\x07", "Ünïcode\x0bline\r"),
			"First “para”.\n\nA link.\n\n| h1 | h2 |\n| --- | --- |\n| a | b<br>c |\n\nÜnïcode\nline\n"},
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
		{document.Encrypted, compound(stream{"EncryptedPackage", nil})},
		{document.Unsupported, compound(stream{"Workbook", nil})},
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
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := read(t, data); err == nil {
			got.Markdown()
		}
	})
}
