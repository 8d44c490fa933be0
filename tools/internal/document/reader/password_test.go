package reader_test

import (
	"bytes"
	"os"
	"testing"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/document/reader"
)

// TestPassword opens files that other programs have encrypted: LibreOffice as Office 2007 does,
// and xlsx-populate as later ones do.
func TestPassword(t *testing.T) {
	for _, file := range []struct{ name, format, want string }{
		{"standard.docx", "docx", "A secret text\n"},
		{"agile.xlsx", "xlsx", "[sheet 1: Sheet1; A1:B1]\n\n| A secret text | 7 |\n| --- | --- |\n"},
	} {
		data, err := os.ReadFile("testdata/password/" + file.name)
		if err != nil {
			t.Fatal(err)
		}
		read := func(password string) (*document.Document, error) {
			src := document.Source{ReaderAt: bytes.NewReader(data), Size: int64(len(data)), Name: file.name, Password: password}
			return reader.Set{}.Read(src, document.NewBudget(t.Context(), document.Standard()))
		}
		doc, err := read("open sesame")
		if err != nil {
			t.Errorf("%s: %v", file.name, err)
			continue
		}
		if got := doc.Markdown(); got != file.want || doc.Format != file.format {
			t.Errorf("%s: %s: %q, want %q", file.name, doc.Format, got, file.want)
		}
		for password, say := range map[string]string{"": "it needs a password", "wrong": "the password does not open it"} {
			if _, err := read(password); !document.Is(err, document.Encrypted) || err.Error() != say {
				t.Errorf("%s: password %q: %v, want %s", file.name, password, err, say)
			}
		}
	}
}
