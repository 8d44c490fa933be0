package page_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/web/internal/page"
)

// TestExtraction extracts the pages of a directory for the figure of that name, and writes
// their texts and what it decoded, for others to extract, into another directory.
func TestExtraction(t *testing.T) {
	dir, to := os.Getenv("TOOLCRIB_EXTRACTION"), os.Getenv("TOOLCRIB_EXTRACTED")
	if dir == "" {
		t.Skip("needs: pages: TOOLCRIB_EXTRACTION names a directory of them")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.html.gz"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no pages in %s: %v", dir, err)
	}
	type extracted struct {
		Text    string
		Seconds float64
	}
	out := map[string]extracted{}
	for _, name := range names {
		body := unzipped(t, name)
		text, _ := page.Decode(body, "")
		address := &url.URL{Scheme: "https", Host: "example.com", Path: "/"}
		best := extracted{Seconds: 1e9}
		for range 3 {
			p := page.Parse(t.Context(), text, address)
			begin := time.Now()
			best.Text = p.Main(t.Context()).Markdown
			best.Seconds = min(best.Seconds, time.Since(begin).Seconds())
		}
		key := strings.TrimSuffix(filepath.Base(name), ".html.gz")
		out[key] = best
		if err := os.WriteFile(filepath.Join(to, key+".html"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, "extracted.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if _, err := io.Copy(&b, z); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}
