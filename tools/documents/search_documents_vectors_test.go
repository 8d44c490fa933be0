package documents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/documents"
	"toolcrib/tools/internal/services"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/outbound"
)

// meanings is an endpoint of embeddings that knows words of like meaning.
type meanings struct {
	*httptest.Server
	texts      atomic.Int64 // that it was asked for
	fails      atomic.Bool
	dimensions atomic.Int64
}

func newMeanings(t *testing.T) *meanings {
	t.Helper()
	m := &meanings{}
	m.dimensions.Store(3)
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if m.fails.Load() {
			http.Error(w, `{"error":{"message":"no credit"}}`, http.StatusPaymentRequired)
			return
		}
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		var data []string
		for _, text := range in.Input {
			m.texts.Add(1)
			v := make([]int, m.dimensions.Load())
			v[2] = 1
			for word := range strings.FieldsSeq(strings.ToLower(text)) {
				switch word = strings.Trim(word, "?.,"); word {
				case "car", "automobile", "vehicle":
					v[0] += 5
				case "tree", "oak", "forest":
					v[1] += 5
				}
			}
			vector, _ := json.Marshal(v)
			data = append(data, fmt.Sprintf(`{"embedding":%s}`, vector))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(m.Close)
	return m
}

// configured returns a searcher of a category with settings.
func configured(t *testing.T, tree map[string]string, s *services.Services, set documents.Settings) *searcher {
	t.Helper()
	ws, dir := tooltest.Tree(t, tree)
	category := documents.Category(s)
	if wrong := set.Check(tools.Host{}); len(wrong) > 0 {
		t.Fatal(wrong[0].Err)
	}
	category.Settings.Apply(&set, tools.Setup{})
	return &searcher{t, ws, dir, category.Tools[1]}
}

func garage() map[string]string {
	tree := pages(30)
	tree["car.md"] = "The automobile stands in the garage. " + strings.Repeat("It is red. ", 60)
	tree["oak.md"] = "An oak grows. " + strings.Repeat("It is green. ", 60)
	return tree
}

// With a trained model, hybrid finds what has no word of the query, and asks the model once for
// each text.
func TestSearchByMeaning(t *testing.T) {
	m := newMeanings(t)
	s := configured(t, garage(), &services.Services{}, documents.Settings{Documents: documents.Documents{Embeddings: m.URL, Model: "m"}})
	if got := s.search(map[string]any{"query": "Where is the vehicle?", "limit": 1}); !strings.Contains(got, "\n[car.md:1; vector ") {
		t.Errorf("%.400s", got)
	}
	if n := m.texts.Load(); n != 33 {
		t.Errorf("%d texts were asked for, want 32 and the query", n)
	}
	if got := s.search(map[string]any{"query": "forest unique3", "limit": 40, "max_tokens": 9000}); !strings.HasPrefix(got, "best passages of 32 documents; next: offset=24\n\n[docs/003.md:3; Page 3; keyword ") || !strings.Contains(got, "[oak.md:1; vector ") || !strings.Contains(got, ", vector 0.") {
		t.Errorf("%.400s", got)
	}
	if got := s.search(map[string]any{"query": "vehicle", "mode": "keyword"}); !strings.HasPrefix(got, "no passage has a word") {
		t.Errorf("%.400s", got)
	}
	if n := m.texts.Load(); n != 34 {
		t.Errorf("%d texts were asked for, want one query more", n)
	}
	s.write("docs/000.md", "A forest grows.")
	if got := s.search(map[string]any{"query": "tree", "mode": "vector", "limit": 2}); !strings.Contains(got, "[oak.md:1; vector ") || !strings.Contains(got, "[docs/000.md:1; vector ") {
		t.Errorf("%.400s", got)
	}
	if n := m.texts.Load(); n != 36 {
		t.Errorf("%d texts were asked for, want a query and an edit more", n)
	}
	m.dimensions.Store(5)
	if got := s.search(map[string]any{"query": "tree", "mode": "vector", "limit": 1}); !strings.Contains(got, "[oak.md:1; vector ") && !strings.Contains(got, "[docs/000.md:1; vector ") {
		t.Errorf("with vectors of another length: %.400s", got)
	}
}

// Where the model fails, words are ranked alone, which is said.
func TestSearchModelFails(t *testing.T) {
	m := newMeanings(t)
	m.fails.Store(true)
	s := configured(t, garage(), &services.Services{}, documents.Settings{Documents: documents.Documents{Embeddings: m.URL, Model: "m"}})
	want := "best passages of 32 documents\nranked by words alone: the endpoint of embeddings answers HTTP 402 Payment Required: no credit\n\n[oak.md:1; keyword "
	if got := s.search(map[string]any{"query": "oak", "limit": 1}); !strings.HasPrefix(got, want) {
		t.Errorf("%.400s", got)
	}
	if got := s.search(map[string]any{"query": "oak", "mode": "vector"}); !strings.HasPrefix(got, "error: unavailable: the endpoint of embeddings answers HTTP 402") {
		t.Errorf("%.400s", got)
	}
}

// Settings choose the searchers that are fused and how much is shown.
func TestSearchSettings(t *testing.T) {
	long := "# First\n\nThis is the front. " + strings.Repeat("front matter ", 50) + "\n\n# Second\n\n" + strings.Repeat("middle ", 400) + "\n\n# Third\n\nunique3 " + strings.Repeat("end ", 400)
	for _, test := range []struct {
		name string
		set  documents.Documents
		want string
	}{
		{"default", documents.Documents{MaxTokens: 1000}, "best passages of 1 document\n\n[a.md:11; Third; keyword "},
		{"front page", documents.Documents{MaxTokens: 1000, Searchers: []string{"keyword", "front_page"}}, "best passages of 1 document\n\n[a.md:3; First]\nThis is"},
		{"front page alone", documents.Documents{MaxTokens: 1000, Searchers: []string{"front_page"}}, "best passages of 1 document\n\n[a.md:3; First]\nThis is"},
		{"all of it fits", documents.Documents{MaxTokens: 9000}, "all 4 passages of 1 document, since they fit\n\n[a.md:3; First]"},
	} {
		s := configured(t, map[string]string{"a.md": long}, &services.Services{}, documents.Settings{Documents: test.set})
		if got := s.search(map[string]any{"query": "unique3"}); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %.300s", test.name, got)
		}
	}
	for _, wrong := range []documents.Documents{{Embeddings: "nowhere"}, {Embeddings: "https://example.com/v1"}, {Table: "/nowhere"}, {Table: "/x", Embeddings: "https://example.com", Model: "m"}} {
		if set := (documents.Settings{Documents: wrong}); len(set.Check(tools.Host{})) != 1 {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

// pageIn is what the tool that reads pages takes, as far as a search uses it.
type pageIn struct {
	URL    string `json:"url" jsonschema_description:"Address."`
	Limit  int    `json:"limit,omitempty" jsonschema_description:"Most characters." jsonschema:"minimum=1,maximum=50000,default=20000"`
	Offset int    `json:"offset,omitempty" jsonschema_description:"Characters to skip." jsonschema:"minimum=0,maximum=1000000,default=0"`
}

type pageOut struct {
	text string
	tools.More
}

func (o pageOut) Text() string { return o.text }

// Pages of the web are read by the tool for them, in all parts, and are searched beside files.
func TestSearchWeb(t *testing.T) {
	const address = "https://docs.example.org/"
	content := map[string]string{
		address + "kites": "# Kites\n\n" + strings.Repeat("Red kites eat carrion. ", 3000) + "\n\n## Nests\n\nThey nest in oaks, platanifolia.\n",
		address + "small": "A small page about unique3.\n",
		"https://me:hunter2@docs.example.org/?token=hunter2": "A page for members.\n",
	}
	reads := map[string]int{}
	caller := &tooltest.Caller{All: []tools.Tool{tools.New(tools.Def[pageIn, pageOut]{
		Name: "web_fetch", Title: "Read", Doc: "Reads a page.\n\nMore.\n", Access: tools.External, Effects: tools.Network,
		Run: func(_ context.Context, in pageIn) (pageOut, error) {
			text, ok := content[in.URL]
			if !ok {
				return pageOut{}, tools.Errorf(tools.NotFound, "%s: HTTP 404", outbound.Shown(in.URL))
			}
			reads[in.URL]++
			end := min(in.Offset+in.Limit, len(text))
			out := pageOut{text: fmt.Sprintf("%s: %d characters\ntitle: T\n(text from the web)\n\n%s", in.URL, len(text), text[in.Offset:end])}
			if end < len(text) {
				out.More = tools.NextAt("offset", end)
			}
			return out, nil
		},
	})}}
	s := configured(t, pages(12), &services.Services{Caller: caller}, documents.Settings{})
	got := s.search(map[string]any{"query": "platanifolia", "urls": []string{address + "kites"}, "limit": 1})
	if !strings.HasPrefix(got, "best passages of 1 document\n\n["+address+"kites, line 7; Kites > Nests; keyword ") || reads[address+"kites"] != 2 {
		t.Errorf("%d reads: %.400s", reads[address+"kites"], got)
	}
	got = s.search(map[string]any{"query": "carrion", "urls": []string{address + "kites"}, "limit": 1})
	if !strings.Contains(got, "next: offset=1") {
		t.Errorf("%.300s", got)
	}
	before := reads[address+"kites"]
	got = s.search(map[string]any{"query": "carrion", "urls": []string{address + "kites"}, "limit": 1, "offset": 1})
	if !strings.HasPrefix(got, "best passages of 1 document from 2 on") || reads[address+"kites"] != before {
		t.Errorf("%d reads: %.300s", reads[address+"kites"]-before, got)
	}
	got = s.search(map[string]any{"query": "unique3", "paths": []string{"docs/*.md", address + "small", address + "gone"}})
	if !strings.HasPrefix(got, "best passages of 14 documents\n1 path could not be read (https://docs.example.org/gone: HTTP 404): https://docs.example.org/gone\n\n[https://docs.example.org/small, line 1; keyword ") || !strings.Contains(got, "[docs/003.md:3;") {
		t.Errorf("%.400s", got)
	}
	got = s.search(map[string]any{"query": "members", "urls": []string{"https://me:hunter2@docs.example.org/?token=hunter2", "https://docs.example.org/?key=hunter2"}})
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "[https://redacted@docs.example.org/?token=redacted, line 1") {
		t.Errorf("%.400s", got)
	}
	content[address+"small"] = "It has changed to unique77.\n"
	if got := s.search(map[string]any{"query": "unique77", "urls": []string{address + "small"}}); !strings.HasSuffix(got, "\nIt has changed to unique77.\n") {
		t.Errorf("%.300s", got)
	}
	if got := s.search(map[string]any{"query": "unique77"}); strings.Contains(got, "example.org") {
		t.Errorf("a page is found where nobody asks for it: %.300s", got)
	}
}
