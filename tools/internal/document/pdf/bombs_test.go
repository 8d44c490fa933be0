package pdf_test

import (
	"bytes"
	"compress/lzw"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf"
	"toolcrib/tools/internal/tooltest"
)

// raw makes a PDF of objects, the first of which is the catalog.
func raw(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

func stream(fields string, data []byte) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", fields, len(data), data)
}

const (
	catalog  = "<< /Type /Catalog /Pages 2 0 R >>"
	onePage  = "<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
	pageWith = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /XObject << /Form 5 0 R >> >> >>"
)

// deflated compresses n bytes of a pattern, and the result once more.
func deflated(t *testing.T, pattern string, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	outer, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := zlib.NewWriterLevel(outer, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat(pattern, (1<<20)/len(pattern))
	for range n >> 20 {
		if _, err := io.WriteString(inner, block); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(inner.Close(), outer.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// packedLZW compresses n bytes of a pattern by LZW, and the result by Flate.
func packedLZW(t *testing.T, pattern string, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	outer, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	inner := lzw.NewWriter(outer, lzw.MSB, 8)
	block := strings.Repeat(pattern, (1<<20)/len(pattern))
	for range n >> 20 {
		if _, err := io.WriteString(inner, block); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(inner.Close(), outer.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// mostSpent is how much of the processors a file may take.
const mostSpent = 2 * time.Second

// TestBombs reads files that ask for far more than they have. Each must come out as an error
// with a cause, or as what can be read.
func TestBombs(t *testing.T) {
	tooltest.Unraced(t)
	for _, test := range []struct {
		name string
		data []byte
		say  string // of the error; "" = whatever
	}{
		{"a stream that unpacks to more than the memory", raw(catalog, onePage, pageWith,
			stream("/Filter [/FlateDecode /FlateDecode]", deflated(t, "(a) Tj ", 300<<20)), "null"), "limit of "},
		{"a stream of LZW that unpacks to more than the memory", raw(catalog, onePage, pageWith,
			stream("/Filter [/FlateDecode /LZWDecode] /DecodeParms [null << /EarlyChange 0 >>]", packedLZW(t, "(a) Tj ", 400<<20)), "null"), "limit of "},
		{"streams of objects that extend each other", raw(catalog, onePage, pageWith,
			stream("/Type /ObjStm /N 1 /First 4 /Extends 5 0 R", []byte("6 0 << >>")),
			stream("/Type /ObjStm /N 1 /First 4 /Extends 4 0 R", []byte("7 0 << >>"))), ""},
		{"a tree of pages that is its own parent", raw(catalog, "<< /Type /Pages /Kids [3 0 R] /Count 9 /Parent 3 0 R >>", "<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 9 /Parent 2 0 R >>"), ""},
		{"pages in a loop", raw(catalog, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 100000 >>"), ""},
		{"a count without pages", raw(catalog, "<< /Type /Pages /Kids [] /Count 2000000000 >>"), "it has no pages"},
		{"pages of forms in themselves", raw(slices.Concat([]string{catalog, "<< /Type /Pages /Kids [" + strings.Repeat("3 0 R ", 50) + "] /Count 50 >>", pageWith, stream("", []byte("/Form Do"))},
			[]string{stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Form 5 0 R >> >>", []byte("/Form Do /Form Do"))})...), "limit of time"},
		{"a form in itself", raw(catalog, onePage, pageWith, stream("", []byte("/Form Do")),
			stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Form 5 0 R >> >>", []byte("/Form Do /Form Do"))), "limit of "},
		{"arrays in each other", raw(catalog, strings.Repeat("[", 200_000)), ""},
		{"an object stream in itself", raw(catalog, onePage, pageWith,
			stream("/Type /ObjStm /N 1 /First 4 /Extends 4 0 R", []byte("4 0 << >>"))), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			start := tooltest.Spent(t)
			src := document.Source{ReaderAt: bytes.NewReader(test.data), Size: int64(len(test.data))}
			d, err := (&pdf.Reader{Engine: engine}).Read(src, document.NewBudget(ctx, document.Standard()))
			spent := tooltest.Spent(t) - start
			t.Logf("%d bytes: %v after %v", len(test.data), err, spent)
			if spent > mostSpent {
				t.Errorf("it took %v of the processors", spent)
			}
			var e *document.Error
			if err != nil && !errors.As(err, &e) {
				t.Errorf("%v, which has no cause", err)
			}
			if test.say != "" && (err == nil || !strings.Contains(err.Error(), test.say)) {
				t.Errorf("got %v, want %q", err, test.say)
			}
			if err == nil && len(d.Blocks) > 200_000 {
				t.Errorf("%d blocks", len(d.Blocks))
			}
		})
	}
}

// vanishing is a file whose start cannot be read any more once a place in it was.
type vanishing struct {
	*bytes.Reader
	place int64
	gone  bool
}

func (v *vanishing) ReadAt(p []byte, off int64) (int, error) {
	if v.gone && off == 0 {
		return 0, errors.New("it is gone")
	}
	v.gone = v.gone || off <= v.place && v.place < off+int64(len(p))
	return v.Reader.ReadAt(p, off)
}

// TestVanished has a page end its instance, and then the file not open again.
func TestVanished(t *testing.T) {
	padding := "%" + strings.Repeat(" ", 8<<10) + "\n"
	data := raw(catalog, onePage, pageWith, padding+stream("", []byte("/Form Do")), padding+
		stream("/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /Form 5 0 R >> >>", []byte("/Form Do /Form Do")), padding+"null")
	file := &vanishing{Reader: bytes.NewReader(data), place: int64(bytes.LastIndex(data, []byte("/Form Do /Form Do")))}
	r := &pdf.Reader{Engine: engine}
	_, err := r.Read(document.Source{ReaderAt: file, Size: int64(len(data))}, document.NewBudget(t.Context(), document.Standard()))
	if !file.gone || !document.Is(err, document.Malformed) {
		t.Errorf("got %v, want that it is malformed", err)
	}
}
