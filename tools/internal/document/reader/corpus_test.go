package reader_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/reader"
)

// A case is one file in testdata. Its first lines are "name: a.docx" and what is wanted of
// it; "raw" is the file, or all other sections are its members; want.md is its Markdown.
type corpusCase struct {
	src  document.Source
	want string
	fail string // a part of the error
}

func readCase(t testing.TB, path string) corpusCase {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	var c corpusCase
	for line := range strings.SplitSeq(string(archive.Comment), "\n") {
		key, value, _ := strings.Cut(line, ": ")
		switch key {
		case "name":
			c.src.Name = value
		case "sheet":
			c.src.Sheet = value
		case "range":
			c.src.Range = value
		case "fail":
			c.fail = value
		case "pages":
			if c.src.Pages, err = document.ParsePages(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	var file []byte
	members := map[string]string{}
	var order []string
	for _, f := range archive.Files {
		switch f.Name {
		case "raw":
			file = f.Data
		case "want.md":
			c.want = string(f.Data)
		default:
			order = append(order, f.Name)
			members[f.Name] = string(f.Data)
		}
	}
	if file == nil {
		file = zipped(t, order, members)
	}
	c.src.ReaderAt, c.src.Size = bytes.NewReader(file), int64(len(file))
	return c
}

func zipped(t testing.TB, order []string, members map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range order {
		m, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write([]byte(members[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t testing.TB, src document.Source) (*document.Document, error) {
	t.Helper()
	return reader.Set{}.Read(src, document.NewBudget(t.Context(), document.Standard()))
}

func TestCorpus(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			c := readCase(t, path)
			doc, err := read(t, c.src)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("error %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got := doc.Markdown()
			for _, w := range doc.Warnings {
				got += "warning: " + w + "\n"
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
