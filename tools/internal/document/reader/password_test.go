package reader_test

import (
	"bytes"
	"os"
	"testing"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/reader"
)

// TestPassword opens a file that LibreOffice has encrypted as Office 2007 does.
func TestPassword(t *testing.T) {
	data, err := os.ReadFile("testdata/password/standard.docx")
	if err != nil {
		t.Fatal(err)
	}
	read := func(data []byte, password string) (*document.Document, error) {
		src := document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: "a.docx", Password: password}
		return reader.Set{}.Read(src, document.NewBudget(t.Context(), document.Standard()))
	}
	doc, err := read(data, "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := doc.Markdown(), "A secret text\n"; got != want || doc.Format != "docx" {
		t.Errorf("%s: %q, want %q", doc.Format, got, want)
	}
	for password, say := range map[string]string{"": "it needs a password", "wrong": "the password does not open it"} {
		if _, err := read(data, password); !document.Is(err, document.Encrypted) || err.Error() != say {
			t.Errorf("password %q: %v, want %s", password, err, say)
		}
	}
}
