package reader_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/reader"
	"toolcrib/tools/internal/tooltest"
)

// seeds are the files of the corpus. Archives are stored, so that damage reaches their parts.
func seeds(t testing.TB) []bomb {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []bomb
	for _, path := range paths {
		c := readCase(t, path)
		data, err := c.src.Bytes(document.NewBudget(t.Context(), document.Standard()))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, bomb{name: c.src.Name, data: stored(t, data)})
	}
	return all
}

// stored returns an archive with its members stored.
func stored(t testing.TB, data []byte) []byte {
	if !bytes.HasPrefix(data, []byte("PK")) {
		return data
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(m, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestVariants reads a hundred damaged variants of each file of the corpus.
func TestVariants(t *testing.T) {
	tooltest.Unraced(t)
	const variants = 100
	r := rand.New(rand.NewPCG(23, 1))
	fine, refused := 0, map[document.Cause]int{}
	for _, seed := range seeds(t) {
		for n := range variants {
			data := slices.Clone(seed.data)
			for range 1 + r.IntN(4) {
				from, length := r.IntN(len(data)), 1+r.IntN(32)
				to := min(from+length, len(data))
				switch r.IntN(5) {
				case 0:
					for i := from; i < to; i++ {
						data[i] = byte(r.Uint32())
					}
				case 1:
					data[from] ^= 1 << r.IntN(8)
				case 2:
					data = slices.Delete(data, from, to)
				case 3:
					data = data[:max(from, 1)]
				default:
					data = slices.Insert(data, from, data[from:to]...)
				}
				if len(data) == 0 {
					data = []byte{0}
				}
			}
			budget := document.NewBudget(t.Context(), document.Standard())
			doc, err := reader.Set{}.Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: seed.name}, budget)
			if err == nil {
				fine++
				if !utf8.ValidString(doc.Markdown()) {
					t.Errorf("%s, variant %d: the Markdown is no UTF-8: %q", seed.name, n, doc.Markdown())
				}
				continue
			}
			e, ok := errors.AsType[*document.Error](err)
			if !ok {
				t.Errorf("%s, variant %d: %v, which has no cause", seed.name, n, err)
				continue
			}
			refused[e.Cause]++
			if len(err.Error()) > 1000 {
				t.Errorf("%s, variant %d: %.2000v", seed.name, n, err)
			}
		}
	}
	t.Logf("read: %d; refused by cause: %v", fine, refused)
}

func fuzz(f *testing.F, extensions ...string) {
	for _, seed := range seeds(f) {
		if strings.HasSuffix(seed.name, extensions[0]) {
			f.Add(seed.data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := document.Standard()
		limits.Unpacked, limits.Cells, limits.Text = 8<<20, 100_000, 4<<20
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for _, ext := range extensions {
			doc, err := reader.Set{}.Read(document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: "a" + ext}, document.NewBudget(ctx, limits))
			if ctx.Err() != nil {
				t.Fatal("it takes too long")
			}
			if err != nil {
				continue
			}
			if !utf8.ValidString(doc.Markdown()) {
				t.Error("the Markdown is no UTF-8")
			}
			doc.Chunks()
			doc.Outline()
		}
	})
}

func FuzzDOCX(f *testing.F)  { fuzz(f, ".docx") }
func FuzzXLSX(f *testing.F)  { fuzz(f, ".xlsx") }
func FuzzPPTX(f *testing.F)  { fuzz(f, ".pptx") }
func FuzzODT(f *testing.F)   { fuzz(f, ".odt") }
func FuzzODS(f *testing.F)   { fuzz(f, ".ods") }
func FuzzODP(f *testing.F)   { fuzz(f, ".odp") }
func FuzzEPUB(f *testing.F)  { fuzz(f, ".epub") }
func FuzzHTML(f *testing.F)  { fuzz(f, ".html") }
func FuzzRTF(f *testing.F)   { fuzz(f, ".rtf") }
func FuzzMail(f *testing.F)  { fuzz(f, ".eml") }
func FuzzPlain(f *testing.F) { fuzz(f, ".json", ".csv", ".xml", ".md", ".ipynb") }
func FuzzZip(f *testing.F)   { fuzz(f, ".zip") }
