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

	"toolcrib/tools/web/internal/feed"
	"toolcrib/tools/web/internal/page"
)

// extracted is a page with its Markdown, as the figure reads it.
type extracted struct {
	Set, Name, HTML, Gold, Text string
	Seconds                     float64 // after parsing, the best of three
}

// TestExtraction extracts pages for the figure of that name: those of testdata, of a directory,
// and files of a list. It writes the texts, and the pages for others to extract, into a file.
func TestExtraction(t *testing.T) {
	to := os.Getenv("TOOLCRIB_EXTRACTED")
	if to == "" {
		t.Skip("needs: figure: TOOLCRIB_EXTRACTED names the file that it reads")
	}
	var out []extracted
	for _, p := range kindPages(t, "kinds") {
		kind, _, _ := strings.Cut(p.name, "/")
		out = append(out, extract(t, p.body, extracted{Set: kind, Name: p.name, Gold: p.gold}))
	}
	for _, p := range kindPages(t, "heldout") {
		out = append(out, extract(t, p.body, extracted{Set: "held-out, written", Name: "heldout/" + p.name, Gold: p.gold}))
	}
	if dir := os.Getenv("TOOLCRIB_EXTRACTION"); dir != "" {
		names, err := filepath.Glob(filepath.Join(dir, "*.html.gz"))
		if err != nil || len(names) == 0 {
			t.Fatalf("no pages in %s: %v", dir, err)
		}
		for _, name := range names {
			out = append(out, extract(t, unzipped(t, name), extracted{Set: "open", Name: strings.TrimSuffix(filepath.Base(name), ".html.gz")}))
		}
	}
	for _, name := range filepath.SplitList(os.Getenv("TOOLCRIB_HELD_OUT")) {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, extract(t, body, extracted{Set: "held-out", Name: name}))
	}
	data, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pages extracted", len(out))
}

func extract(t *testing.T, body []byte, e extracted) extracted {
	t.Helper()
	text, _ := page.Decode(body, "")
	e.HTML, e.Seconds = string(text), time.Hour.Seconds()
	address := &url.URL{Scheme: "https", Host: "example.com", Path: "/"}
	for range 3 {
		if f, ok := feed.Parse(text); ok {
			begin := time.Now()
			e.Text = f.Markdown(t.Context(), address)
			e.Seconds = min(e.Seconds, time.Since(begin).Seconds())
			continue
		}
		p := page.Parse(t.Context(), text, address)
		begin := time.Now()
		e.Text = p.Main(t.Context()).Markdown
		e.Seconds = min(e.Seconds, time.Since(begin).Seconds())
	}
	return e
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
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
