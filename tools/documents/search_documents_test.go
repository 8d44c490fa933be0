package documents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/documents"
	"toolcrib/tools/documents/internal/index"
	"toolcrib/tools/internal/document/tesseract"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// searcher calls search_documents in one workspace.
type searcher struct {
	testing.TB
	ws   *workspace.Workspace
	dir  string
	tool tools.Tool
}

func newSearcher(t testing.TB, tree map[string]string) *searcher {
	t.Helper()
	ws, dir := tooltest.Tree(t, tree)
	all := documents.Category(&services.Services{}).Tools
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == "search_documents" })
	return &searcher{t, ws, dir, all[i]}
}

func (s *searcher) search(args map[string]any) string {
	s.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.Fatal(err)
	}
	result, err := tooltest.Call(s.Context(), s.ws, s.tool, raw)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	text := tooltest.Text(result)
	if len(text) > tools.MaxText {
		s.Errorf("%s: %d bytes of text", raw, len(text))
	}
	return text
}

func (s *searcher) write(name, text string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// pages is a tree of documents about one word each, too long to fit into a result.
func pages(n int) map[string]string {
	tree := map[string]string{}
	for i := range n {
		tree[fmt.Sprintf("docs/%03d.md", i)] = fmt.Sprintf("# Page %d\n\nThis page is about unique%d, %s.\n", i, i, strings.Repeat("and what else there is to say of it ", 40))
	}
	return tree
}

func TestSearchDocuments(t *testing.T) {
	tree := pages(30)
	tree["zh.txt"] = "人工智能改变世界"
	tree["notes.go"] = "// unique3 is in code too"
	tree[".ignore"] = "ignored.md\n"
	tree["ignored.md"] = "unique4"
	tree[".hidden.md"] = "unique4"
	tree["same.md"] = tree["docs/005.md"]
	s := newSearcher(t, tree)
	for _, test := range []struct {
		name string
		args map[string]any
		want string // the text begins with it
		not  string // it does not have this
	}{
		{"one word", map[string]any{"query": "unique3", "mode": "keyword"}, "best passages of 32 documents\n\n[docs/003.md:3; Page 3; keyword ", "code"},
		{"none of ignored ones", map[string]any{"query": "unique4"}, "best passages of 32 documents\n\n[docs/004.md:3;", "ignored.md"},
		{"Chinese", map[string]any{"query": "什么是人工智能？"}, "best passages of 32 documents\n\n[zh.txt:1; keyword ", "docs/"},
		{"one Chinese character", map[string]any{"query": "智"}, "best passages of 32 documents\n\n[zh.txt:1; keyword ", "docs/"},
		{"the last Chinese character", map[string]any{"query": "unique3 界", "mode": "keyword"}, "best passages of 32 documents\n\n[zh.txt:1; keyword ", "unique4"},
		{"same content", map[string]any{"query": "unique5"}, "best passages of 32 documents\n\n[docs/005.md:3, same in 1 other file; Page 5; keyword", "[same.md"},
		{"a glob has code", map[string]any{"query": "unique3", "paths": []string{"*.go"}}, "all 1 passage of 1 document, since they fit\n\n[notes.go:1]\n// unique3", "docs/"},
		{"a file", map[string]any{"query": "anything", "paths": []string{"zh.txt"}}, "all 1 passage of 1 document, since they fit\n\n[zh.txt:1]\n人工智能改变世界\n", "docs/"},
		{"a directory", map[string]any{"query": "智能", "paths": []string{"docs"}}, "no passage has a word of the query: at most 400 tokens of the first passages of 30 documents; next: offset=1\n\n[docs/000.md", "zh.txt"},
		{"no query", map[string]any{}, "no words to look for: first passages of 32 documents; next: offset=", "ignored.md"},
		{"only stop words", map[string]any{"query": "the of"}, "no words to look for: first passages of 32 documents", "ignored.md"},
		{"limit", map[string]any{"query": "page", "limit": 2}, "best passages of 32 documents; next: offset=2\n\n[docs/", "zh.txt"},
		{"past the end", map[string]any{"query": "unique3", "offset": 5}, "no more passages at offset=5\n", "docs/"},
		{"few tokens", map[string]any{"query": "unique3", "max_tokens": 100}, "best passages of 32 documents\n\n[docs/003.md:3; Page 3; keyword ", "\n\n\n"},
		{"lists", map[string]any{"query": "unique7", "keywords": []string{"世界"}}, "best passages of 32 documents\n\n[zh.txt:1; keyword 5.55]\n人工智能改变世界\n\n[docs/007.md:3; Page 7; keyword ", "unique8"},
		{"lists in the query", map[string]any{"query": `{"keywords_zh": ["世界"], "keywords_en": ["unique7"]}`}, "best passages of 32 documents\n\n[zh.txt:1; keyword 5.55]\n人工智能改变世界\n\n[docs/007.md:3; Page 7; keyword ", "unique8"},
		{"front page", map[string]any{"mode": "front_page", "limit": 2}, "first passages of 32 documents; next: offset=2\n\n[docs/000.md:3; Page 0]\n", "docs/002"},
		{"misspelt", map[string]any{"query": "unqiue3"}, "best passages of 32 documents\nno passage has \"unqiue3\": \"unique3\" is searched instead\n\n[docs/003.md:3;", "unique4"},
		{"misspelt, by keywords alone", map[string]any{"query": "unqiue3", "mode": "keyword"}, "no passage has a word of the query", "instead"},
		{"misspelt, by vectors", map[string]any{"query": "unqiue3", "mode": "vector", "limit": 1}, "best passages of 32 documents; next: offset=1\n\n[docs/003.md:3; Page 3; hashed vector 0.", "instead"},
		{"misspelt first letter", map[string]any{"query": "tnique3"}, "best passages of 32 documents\nno passage has \"tnique3\": \"unique3\" is", "unique4"},
		{"word of other files", map[string]any{"query": "unqiue3", "paths": []string{"docs/01*.md"}, "max_tokens": 300}, "no passage has a word of the query: at most 300 tokens of the first passages of 10 documents; next: offset=1\n", "unique3"},
		{"missing", map[string]any{"paths": []string{"none.md"}}, "error: ", "docs/"},
		{"no match", map[string]any{"paths": []string{"*.none"}}, `error: not_found: no file matches "*.none"`, "docs/"},
		{"outside", map[string]any{"paths": []string{"/etc/passwd"}}, "error: ", "root:"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := s.search(test.args)
			if !strings.HasPrefix(got, test.want) || strings.Contains(got, test.not) {
				t.Errorf("%v: %.300s", test.args, got)
			}
		})
	}
}

// A word in the place of a misspelt one does not outrank the others, and is named as it is written.
func TestSearchMisspelt(t *testing.T) {
	tree := pages(12)
	tree["exact.md"] = "Everything is plain, " + strings.Repeat("in many many words ", 60)
	tree["near.md"] = "Butterflies butterflies! A lossy one. "
	tree["both.md"] = "A plain butterfly, " + strings.Repeat("in many many words ", 70)
	s := newSearcher(t, tree)
	for _, test := range []struct {
		query string
		notes string
		want  []string
	}{
		{"Buterflies, plain", "no passage has \"Buterflies\": \"Butterflies\" is searched instead\n", []string{"both.md", "exact.md", "near.md"}},
		{"yossi plain", "", []string{"exact.md", "both.md"}},
	} {
		text := s.search(map[string]any{"query": test.query})
		var got []string
		for line := range strings.Lines(text) {
			if name, _, ok := strings.Cut(line, ":"); ok && line[0] == '[' {
				got = append(got, name[1:])
			}
		}
		if _, rest, _ := strings.Cut(text, "\n"); !strings.HasPrefix(rest, test.notes+"\n[") || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v; %.300s", test.query, got, test.want, text)
		}
	}
}

// Without a model, mode hybrid answers as mode keyword does if the documents have all words.
func TestSearchHybridIsKeyword(t *testing.T) {
	s := newSearcher(t, pages(30))
	for _, args := range []map[string]any{
		{"query": "page"}, {"query": "unique3 what else"}, {"query": "page 7", "offset": 3},
		{"query": "unique3", "keywords": []string{"page 5", "unique9 else"}},
	} {
		args["mode"], args["limit"] = "keyword", 5
		want := s.search(args)
		args["mode"] = "hybrid"
		if diff := cmp.Diff(want, s.search(args)); diff != "" {
			t.Errorf("%v (-keyword +hybrid):\n%s", args, diff)
		}
	}
}

// Pages have every hit once.
func TestSearchPages(t *testing.T) {
	s := newSearcher(t, pages(30))
	seen := map[string]int{}
	for offset := 0; ; {
		text := s.search(map[string]any{"query": "page unique3", "offset": offset, "max_tokens": 1500})
		for line := range strings.Lines(text) {
			if name, _, ok := strings.Cut(line, ":"); ok && line[0] == '[' {
				seen[name]++
			}
		}
		m := next.FindStringSubmatch(strings.SplitAfter(text, "\n")[0])
		if m == nil {
			break
		}
		if _, err := fmt.Sscan(m[1], &offset); err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 30 {
		t.Errorf("%d passages: %v", len(seen), seen)
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s is there %d times", name, n)
		}
	}
}

// Results keep within their limit, whatever is in documents; pages have all passages.
func TestSearchBounds(t *testing.T) {
	var b strings.Builder
	for i := range 90 {
		fmt.Fprintf(&b, "# %s %d\n\nword \x01\u202e%d\n\n", strings.Repeat("heading\u200b ", 100), i, i)
	}
	s := newSearcher(t, map[string]string{"a.md": b.String(), "b.txt": strings.Repeat("\u202e", 1000) + "1" + strings.Repeat("\u202e", 1000) + "2" + strings.Repeat("\u202e", 1000)})
	passages := 0
	for offset := 0; ; {
		text := s.search(map[string]any{"query": "word", "max_tokens": 10_000, "limit": 100, "offset": offset})
		passages += strings.Count(text, "\n[")
		m := next.FindStringSubmatch(strings.SplitAfter(text, "\n")[0])
		if m == nil {
			break
		}
		if _, err := fmt.Sscan(m[1], &offset); err != nil {
			t.Fatal(err)
		}
	}
	if passages < 93 {
		t.Errorf("%d passages", passages)
	}
}

// An edit is seen by the next call, and so is a file that is gone.
func TestSearchChanged(t *testing.T) {
	s := newSearcher(t, pages(30))
	find := func(word string) string {
		return s.search(map[string]any{"query": word, "mode": "keyword"})
	}
	find("unique3")
	for i := range 20 {
		s.write("docs/003.md", fmt.Sprintf("changed%02d", i))
		if got := find(fmt.Sprintf("changed%02d", i)); !strings.Contains(got, "[docs/003.md:1;") {
			t.Fatalf("edit %d is not seen: %.300s", i, got)
		}
		if got := find(fmt.Sprintf("changed%02d", i-1)); i > 0 && !strings.HasPrefix(got, "no passage has a word") {
			t.Fatalf("edit %d is still there: %.300s", i-1, got)
		}
	}
	if err := os.Remove(filepath.Join(s.dir, "docs/004.md")); err != nil {
		t.Fatal(err)
	}
	find("unique1")
	x, err := index.Open(t.Context(), s.ws, &index.Cache{})
	if err != nil {
		t.Fatal(err)
	}
	if files, err := x.Files(t.Context()); err != nil || len(files) != 29 {
		t.Errorf("the index has %d files (%v)", len(files), err)
	}
	for range 2 {
		if got := find("unique4"); !strings.HasPrefix(got, "no passage has a word") || !strings.Contains(got, "of 29 documents") {
			t.Errorf("a removed file is found: %.300s", got)
		}
	}
}

// What cannot be read is named, and does not hide the rest.
func TestSearchUnreadable(t *testing.T) {
	s := newSearcher(t, map[string]string{"good.md": "word", "bad.docx": "no archive", "empty.md": "", "scan.html": "<img src=page1.png>"})
	want := "all 1 passage of 4 documents, since they fit\n1 path could not be read (malformed): bad.docx\n2 paths could not be read (no text): empty.md scan.html\n\n[good.md:1]\nword\n"
	for range 2 {
		if got := s.search(map[string]any{"query": "word"}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What other calls have indexed stays, and is not shown to one that does not ask for it.
func TestSearchScopes(t *testing.T) {
	tree := pages(12)
	tree["code.go"] = "// unique3 in code"
	s := newSearcher(t, tree)
	for range 2 {
		if got := s.search(map[string]any{"query": "unique3", "paths": []string{"*.go"}}); !strings.Contains(got, "[code.go:1]") {
			t.Errorf("%.300s", got)
		}
		if got := s.search(map[string]any{"query": "unique3"}); strings.Contains(got, "code.go") || !strings.Contains(got, "docs/003.md") {
			t.Errorf("%.300s", got)
		}
	}
}

// In a server, an unchanged tree is not looked at, and every change is seen all the same.
func TestSearchWatched(t *testing.T) {
	s := newSearcher(t, pages(12))
	category := documents.Category(&services.Services{})
	stop := category.Start(t.Context(), nil)
	defer stop()
	s.tool = category.Tools[1]
	for i := range 50 {
		word := fmt.Sprintf("changed%03d", i)
		s.write("docs/003.md", word+strings.Repeat(" word", 2000))
		for range 2 {
			if got := s.search(map[string]any{"query": word, "mode": "keyword", "limit": 1}); !strings.Contains(got, "[docs/003.md:1;") {
				t.Fatalf("edit %d is not seen: %.300s", i, got)
			}
		}
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(s.dir, "docs/003.md"), old, old); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what the call finds is kept
		s.search(map[string]any{"query": "changed049"})
	}
	all := s.ws
	s.ws = all.Denying(func(p workspace.Path) string {
		if strings.HasSuffix(p.String(), "003.md") {
			return "keys"
		}
		return ""
	})
	for _, query := range []string{"changed049", "changde049"} { // the index has both files
		for _, mode := range []string{"keyword", "hybrid", "vector"} {
			got := s.search(map[string]any{"query": query, "mode": mode})
			if strings.Contains(got, "003.md") || strings.Contains(got, "instead") || !strings.Contains(got, "of 11 documents") || !strings.Contains(got, "left out: 1 path that the policy denies\n") {
				t.Errorf("%s, %s: %.400s", query, mode, got)
			}
		}
	}
	s.ws = all
	if err := os.Remove(filepath.Join(s.dir, "docs/003.md")); err != nil {
		t.Fatal(err)
	}
	if got := s.search(map[string]any{"query": "changed049", "mode": "keyword"}); !strings.HasPrefix(got, "no passage has") {
		t.Errorf("a removed file is found: %.300s", got)
	}
}

// A name that is not UTF-8 is no reason to leave a document out.
func TestSearchBytesInNames(t *testing.T) {
	s := newSearcher(t, map[string]string{"good.md": "other"})
	if err := os.WriteFile(filepath.Join(s.dir, "caf\xe9.md"), []byte("word"), 0o600); err != nil {
		t.Skipf("needs: names that are not UTF-8: %v", err)
	}
	for range 2 {
		if got := s.search(map[string]any{"query": "word", "limit": 1}); !strings.Contains(got, "\nword\n") {
			t.Error(got)
		}
	}
}

// What no call has the time to read is named, and what else the document has is found.
func TestSearchSlowOCR(t *testing.T) {
	documents.SetPatience(t, 2*time.Second)
	var file bytes.Buffer
	if err := png.Encode(&file, drawn(t)); err != nil {
		t.Fatal(err)
	}
	s := newSearcher(t, map[string]string{"photo.png": file.String(), "note.txt": "A mill.\n"})
	past := time.Now().Add(-time.Hour)
	for _, name := range []string{"photo.png", "note.txt"} {
		if err := os.Chtimes(filepath.Join(s.dir, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	fakeTesseract(t, s.dir)
	if err := os.WriteFile(filepath.Join(s.dir, "slow"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := func() string { return s.search(map[string]any{"query": "mill", "paths": []string{"*.png", "*.txt"}}) }
	for end := time.Now().Add(time.Minute); ; {
		got := said()
		if strings.Contains(got, "1 path could not be read (pages that are only images, for which OCR takes too long here: parse_document reads a few at a time by pages): photo.png\n") && strings.Contains(got, "A mill.") {
			break
		}
		if !strings.Contains(got, "not read by OCR yet: call again") || time.Now().After(end) {
			t.Fatal(got)
		}
	}
	if got := said(); !strings.Contains(got, "OCR takes too long here") {
		t.Error(got)
	}
}

// A search reads images too once there is a program for that, although the files are the same, and
// names them before.
func TestSearchOCR(t *testing.T) {
	var file bytes.Buffer
	if err := png.Encode(&file, drawn(t)); err != nil {
		t.Fatal(err)
	}
	s := newSearcher(t, map[string]string{"photo.png": file.String(), "mail.eml": "From: a@example.org\r\nTo: b@example.org\r\nSubject: Rivers\r\n\r\nNothing new.\r\n"})
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(s.dir, "photo.png"), past, past); err != nil {
		t.Fatal(err)
	}
	args := map[string]any{"query": "mill", "paths": []string{"photo.png", "mail.eml"}}
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	if got, want := s.search(args), "1 path could not be read (pages that are only images: "+tesseract.Missing+"): photo.png\n"; !strings.Contains(got, want) || !strings.Contains(got, "Nothing new.") {
		t.Errorf("%q is not in\n%s", want, got)
	}
	t.Setenv("PATH", path)
	fakeTesseract(t, s.dir)
	for range 2 {
		if got := s.search(args); !strings.Contains(got, "[photo.png, page 1; read by OCR (eng), which makes errors]\nmill\n") || strings.Contains(got, "could not be read") {
			t.Error(got)
		}
	}
}
