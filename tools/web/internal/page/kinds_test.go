package page_test

import (
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/tools/txtar"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/web/internal/feed"
	"toolcrib/tools/web/internal/page"
)

// kindPage is a page of testdata/kinds.
type kindPage struct {
	name   string
	body   []byte   // as a server would send it
	pieces []string // of text that a reader wants
	gold   string   // all of them
}

// kindPages reads the pages of a directory of testdata; what a reader wants of them is marked
// in them by hand.
func kindPages(t testing.TB, dir string) []kindPage {
	t.Helper()
	files, err := filepath.Glob("testdata/" + dir + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	tags := regexp.MustCompile(`(?s)<!\[CDATA\[|\]\]>|<[^>]*>`)
	marked := regexp.MustCompile(`(?s)⟦(.*?)⟧`)
	var out []kindPage
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			var gold, pieces []string
			for _, m := range marked.FindAllStringSubmatch(string(f.Data), -1) {
				gold = append(gold, html.UnescapeString(tags.ReplaceAllString(m[1], " ")))
				for _, piece := range tags.Split(m[1], -1) {
					if piece = html.UnescapeString(piece); letters(piece) != "" {
						pieces = append(pieces, piece)
					}
				}
			}
			body := strings.NewReplacer("⟦", "", "⟧", "").Replace(string(f.Data))
			out = append(out, kindPage{kind + "/" + f.Name, encoded(t, f.Name, body), pieces, strings.Join(gold, " ")})
		}
	}
	return out
}

// encoded writes a page in the encoding that its name begins with.
func encoded(t testing.TB, name, body string) []byte {
	t.Helper()
	label, how, ok := strings.Cut(name, "@")
	if !ok {
		return []byte(body)
	}
	enc, ok := textfile.Lookup(label)
	if !ok {
		t.Fatalf("no encoding %s", label)
	}
	data, err := enc.Encode(body)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if how == "bom.html" {
		data = append([]byte("\xff\xfe"), data...)
	}
	return data
}

// TestKinds extracts pages that are no articles: nearly all pieces that are marked are there,
// and little else.
func TestKinds(t *testing.T) {
	pages := kindPages(t, "kinds")
	if len(pages) < 60 {
		t.Errorf("%d pages", len(pages))
	}
	found, all := 0, 0
	targets := regexp.MustCompile(`\]\([^)]*\)`)
	for _, p := range pages {
		text, _ := page.Decode(p.body, "")
		var got string
		if f, ok := feed.Parse(text); ok {
			got = f.Markdown(t.Context(), nil)
		} else {
			got = page.Parse(t.Context(), text, nil).Main(t.Context()).Markdown
		}
		read := letters(targets.ReplaceAllString(got, ""))
		lost, missed := 0, 0
		for _, piece := range p.pieces {
			if !strings.Contains(read, letters(piece)) {
				lost++
				missed += len(letters(piece))
				if lost == 1 {
					t.Logf("%s: lost %.80q", p.name, piece)
				}
			}
		}
		all += len(p.pieces)
		found += len(p.pieces) - lost
		wanted := len(letters(p.gold))
		if missed*8 > wanted {
			t.Errorf("%s: %d of %d bytes are lost:\n%s", p.name, missed, wanted, got)
		}
		if len(read) > wanted*5/4+200 {
			t.Errorf("%s: %d bytes for %d:\n%s", p.name, len(read), wanted, got)
		}
	}
	t.Logf("%d of %d pieces", found, all)
	if found*1000 < all*985 {
		t.Errorf("%d of %d pieces are found", found, all)
	}
}

// letters returns the letters of a text, without the marks of Markdown.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "<br>", ""))
}
