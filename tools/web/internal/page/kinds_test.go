package page_test

import (
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/web/internal/feed"
	"toolcrib/tools/web/internal/page"
)

// kindPage is a page of testdata/kinds.
type kindPage struct {
	name string
	body []byte // as a server would send it
	gold string
}

// kindPages reads the pages; what a reader wants of them is marked in them by hand.
func kindPages(t testing.TB) []kindPage {
	t.Helper()
	files, err := filepath.Glob("testdata/kinds/*.txtar")
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
			var gold []string
			for _, m := range marked.FindAllStringSubmatch(string(f.Data), -1) {
				gold = append(gold, html.UnescapeString(tags.ReplaceAllString(m[1], " ")))
			}
			body := strings.NewReplacer("⟦", "", "⟧", "").Replace(string(f.Data))
			out = append(out, kindPage{kind + "/" + f.Name, encoded(t, f.Name, body), strings.Join(gold, " ")})
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

var (
	imageMarks = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)`)
	linkMarks  = regexp.MustCompile(`\[((?:[^\[\]\\]|\\.)*)\]\([^)]*\)`)
	lineMarks  = regexp.MustCompile(`(?m)^[ >]*(?:[-#]+ |\d+\. |: |\[[ x]\] )+`)
	escapes    = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
)

// withoutMarks takes images, targets of links and marks off Markdown.
func withoutMarks(text string) string {
	text = imageMarks.ReplaceAllString(text, "")
	text = linkMarks.ReplaceAllString(text, "$1")
	text = lineMarks.ReplaceAllString(text, "")
	text = strings.ReplaceAll(text, "<br>", "\n")
	text = strings.NewReplacer("**", "", "`", "", "~~", "").Replace(text)
	text = regexp.MustCompile(`(^|[^\\\w])\*|([^\\])\*`).ReplaceAllString(text, "$1$2")
	return escapes.ReplaceAllString(text, "$1")
}

// score returns the F1 of the runs of four words; a character of a script without spaces is
// a word.
func score(gold, got string) float64 {
	runs := func(text string) map[string]int {
		var words []string
		word := ""
		for _, r := range text + " " {
			dense := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
			if word != "" && (dense || !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '_') {
				words = append(words, word)
				word = ""
			}
			switch {
			case dense:
				words = append(words, string(r))
			case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_':
				word += string(r)
			}
		}
		out := map[string]int{}
		for i := range max(1, len(words)-3) {
			out[strings.Join(words[i:min(i+4, len(words))], " ")]++
		}
		return out
	}
	want, have := runs(gold), runs(got)
	var hit, all, found int
	for run, n := range want {
		hit += min(n, have[run])
		all += n
	}
	for _, n := range have {
		found += n
	}
	return 2 * float64(hit) / float64(all+found)
}

// extracted returns the Markdown of a page or feed.
func extracted(t testing.TB, body []byte) (string, string) {
	text, charset := page.Decode(body, "")
	if f, ok := feed.Parse(text); ok {
		return f.Markdown(t.Context(), nil), "feed"
	}
	doc := page.Parse(t.Context(), text, nil).Main(t.Context())
	return doc.Markdown, charset.Name + " (" + charset.Source + ") " + doc.Note
}

// TestKinds extracts pages that are no articles.
func TestKinds(t *testing.T) {
	const least = 0.88 // of each kind, in the mean
	sums, counts := map[string]float64{}, map[string]float64{}
	pages := kindPages(t)
	if len(pages) < 60 {
		t.Errorf("%d pages", len(pages))
	}
	for _, p := range pages {
		got, how := extracted(t, p.body)
		f1 := score(p.gold, withoutMarks(got))
		if strings.TrimSpace(got) == "" || !utf8.ValidString(got) {
			t.Errorf("%s: %q", p.name, got)
		}
		kind, _, _ := strings.Cut(p.name, "/")
		sums[kind] += f1
		counts[kind]++
		if f1 < 0.85 || os.Getenv("TOOLCRIB_SHOWN") == p.name {
			t.Logf("%s: %.3f, %s\n%s", p.name, f1, how, got)
		}
	}
	total := 0.0
	for _, kind := range slices.Sorted(maps.Keys(sums)) {
		mean := sums[kind] / counts[kind]
		total += sums[kind]
		t.Logf("kinds: %s %.3f of %.0f pages", kind, mean, counts[kind])
		if mean < least {
			t.Errorf("%s: %.3f", kind, mean)
		}
	}
	t.Logf("kinds: %.3f of %d pages", total/float64(len(pages)), len(pages))
}
