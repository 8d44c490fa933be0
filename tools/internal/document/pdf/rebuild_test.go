package pdf_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/pdf/pdftest"
	"toolcrib/tools/internal/tooltest"
)

// packedPages is a PDF of pages that are objects of a compressed stream, without its end.
func packedPages(t *testing.T, texts ...string) []byte {
	t.Helper()
	var file, places, objects bytes.Buffer
	fmt.Fprint(&file, "%PDF-1.7\n")
	for i, text := range texts {
		fmt.Fprintf(&places, "%d %d ", 10+i, objects.Len())
		fmt.Fprintf(&objects, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R /Resources << /Font << /F 5 0 R >> >> >>\n", 20+i)
		content := "BT /F 12 Tf 72 700 Td (" + text + ") Tj ET"
		fmt.Fprintf(&file, "%d 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", 20+i, len(content), content)
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	if _, err := io.WriteString(w, places.String()+objects.String()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(&file, "5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>\nendobj\n")
	fmt.Fprintf(&file, "6 0 obj\n<< /Type /ObjStm /N %d /First %d /Length %d /Filter /FlateDecode >>\nstream\n", len(texts), places.Len(), packed.Len())
	file.Write(packed.Bytes())
	return file.Bytes()
}

// TestTruncated cuts files. What is left of their pages is read, with a warning.
func TestTruncated(t *testing.T) {
	plain := &pdftest.File{}
	for n := range 4 {
		plain.Page().Text(100, 200, 12, pdftest.Plain, fmt.Sprintf("page number %d", n+1))
	}
	whole := plain.Bytes()
	packed := packedPages(t, "first text", "second text")
	for _, c := range []struct {
		name string
		data []byte
		want []string // "" = it is truncated, and nothing can be read
	}{
		{"without its table", whole[:bytes.LastIndex(whole, []byte("xref\n"))-200], []string{"page number 1", "page number 2", "page number 3"}},
		{"pages in a stream", packed, []string{"first text", "second text"}},
		{"in its stream", packed[:len(packed)-8], []string{"first text"}},
		{"at its start", whole[:40], nil},
		{"encrypted", []byte("%PDF-1.7\n1 0 obj\n<< /Type /Catalog"), nil},
	} {
		d, err := read(t.Context(), c.data, "")
		if c.want == nil {
			if !document.Is(err, document.Truncated) {
				t.Errorf("%s: %v, want that it is truncated", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(d.Warnings) != 1 || !strings.Contains(d.Warnings[0], "the end of the file is missing") {
			t.Errorf("%s: warnings %q", c.name, d.Warnings)
		}
		text := d.Markdown()
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q, want %q in it", c.name, text, want)
			}
		}
	}
}

// TestTruncatedBombs cuts files that ask for far more than they have.
func TestTruncatedBombs(t *testing.T) {
	tooltest.Unraced(t)
	var pages, streams bytes.Buffer
	for n := range 200_000 {
		fmt.Fprintf(&pages, "%d 0 obj/Type/Page endobj\n", n+1)
	}
	fmt.Fprint(&streams, "9 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode >>\nstream\n")
	w := zlib.NewWriter(&streams)
	if _, err := w.Write(bytes.Repeat([]byte("5 0 "), 8<<20)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, say string
		data      []byte
	}{
		{"many pages", "no page can be read", pages.Bytes()},
		{"words that begin objects", "its end is missing", bytes.Repeat([]byte("1 1 obj\n"), 1<<18)},
		{"a stream of objects", "limit of ratio", streams.Bytes()},
		{"a page of a number that is too high", "its end is missing", []byte("99999999999999 0 obj\n<< /Type /Page >>\nendobj\n")},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		start := tooltest.Spent(t)
		_, err := read(ctx, append([]byte("%PDF-1.7\n"), c.data...), "")
		spent := tooltest.Spent(t) - start
		t.Logf("%s: %v after %v", c.name, err, spent)
		if spent > mostSpent {
			t.Errorf("%s: it took %v of the processors", c.name, spent)
		}
		if ctx.Err() != nil || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.say)
		}
		cancel()
	}
}
