package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/web"
)

func hits(urls ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		var list []string
		for i, at := range urls {
			list = append(list, fmt.Sprintf(`{"title":"Hit %d","url":%q,"description":"of %s"}`, i+1, at, at))
		}
		fmt.Fprintf(rw, `{"type":"search","web":{"results":[%s]}}`, strings.Join(list, ","))
	}
}

// TestSearchReads returns what of the first hits answers the query, within one budget.
func TestSearchReads(t *testing.T) {
	long := "<article><h2>Nests</h2><p>They nest in trees.</p><h2>Rest</h2>" + strings.Repeat("<p>Much is told here of other matters, at a length that nobody asks for.</p>", 600) + "</article>"
	w := newWorld(t, map[string]http.HandlerFunc{
		"api.search.brave.com": hits("https://a.example.org/short", "https://a.example.org/long", "https://gone.example.org/", "https://a.example.org/more"),
		"a.example.org": func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/long" {
				page(long)(rw, r)
				return
			}
			page("<p>Short of "+r.URL.Path)(rw, r)
		},
	})
	w.set.Brave = "k"
	got := w.call("web_search", `{"query":"where do they nest","read":3}`)
	for _, want := range []string{
		"## 1. https://a.example.org/short\n\nShort of /short", "## 2. https://a.example.org/long\n(", "They nest in trees.", "web_fetch reads all of it",
		"## 3. https://gone.example.org/\n(not read: there is no host named gone.example.org)",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q in it", cutText(got), want)
		}
	}
	if strings.Contains(got, "Short of /more") || len(got) > 24_000 {
		t.Errorf("%d bytes: %s", len(got), cutText(got))
	}
	if again := w.call("web_search", `{"query":"where do they nest"}`); !strings.Contains(again, "ago") || strings.Contains(again, "## 1.") {
		t.Error(again)
	}
}

// TestBackends tells how each service did, and does not wait for a slow one.
func TestBackends(t *testing.T) {
	slow := make(chan struct{})
	defer close(slow)
	w := newWorld(t, map[string]http.HandlerFunc{
		"api.search.brave.com": hits("https://a.example.org/1"),
		"api.tavily.com":       func(http.ResponseWriter, *http.Request) { <-slow },
		"api.exa.ai":           func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) },
		"google.serper.dev":    func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprint(rw, "<html>Sign in") },
		"html.duckduckgo.com": func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(http.StatusAccepted)
			fmt.Fprint(rw, `<div class="anomaly-modal">Unfortunately, bots use DuckDuckGo too.</div>`)
		},
	})
	w.set = web.Settings{Brave: "k", Tavily: "k", Exa: "k", Serper: "k"}
	begin := time.Now()
	got := w.call("web_search", `{"query":"x"}`)
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("took %v", took)
	}
	for _, want := range []string{"brave: ok, 1", "tavily: timeout", "exa: key refused", "serper: unreadable"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nwant %q in it", got, want)
		}
	}
	if got := w.call("web_search", `{"query":"x","backends":["duckduckgo"]}`); !strings.Contains(got, "error: unavailable") || !strings.Contains(got, "duckduckgo: challenged") {
		t.Error(got)
	}
	if got := w.call("web_search", `{"query":"x","backends":["searxng"]}`); !strings.Contains(got, "searxng is not configured: set SEARXNG_URL") {
		t.Error(got)
	}
}

// TestSettings names what is wrong with the settings.
func TestSettings(t *testing.T) {
	for want, set := range map[string]web.Settings{
		"":                                    {Web: web.Web{Search: []string{"duckduckgo"}, Addresses: map[string]string{"brave": "http://localhost:1"}}},
		"web.addresses.bing: no service":      {Web: web.Web{Addresses: map[string]string{"bing": "https://x"}}},
		`web.addresses.brave: "x" is not`:     {Web: web.Web{Addresses: map[string]string{"brave": "x"}}},
		"searxng: ":                           {SearXNG: "localhost"},
		"web.search: brave has no key":        {Web: web.Web{Search: []string{"brave"}}},
		"web.images: serpapi has no key":      {Web: web.Web{Images: []string{"serpapi"}}},
		"private hosts of the network: \"a b": {WebPrivate: []string{"a b"}},
		"hosts of the network: \"10.0.0.1\"":  {WebHosts: []string{"10.0.0.1"}},
	} {
		var all []string
		for _, wrong := range set.Check(tools.Host{}) {
			all = append(all, wrong.Err.Error())
		}
		if got := strings.Join(all, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAliases takes the names and arguments of the systems that the tools come from.
func TestAliases(t *testing.T) {
	w := exampleWorld(t)
	for args, tool := range map[string]string{
		`{"url":"https://docs.example.org/kites","extract_type":"structured"}`: "web_fetch",
		`{"url":"https://docs.example.org/kites","extract_type":"text"}`:       "web_fetch",
		`{"url":"https://docs.example.org/kites","extractMode":"markdown"}`:    "web_fetch",
		`{"urls":["https://docs.example.org/kites"],"extract_type":"links"}`:   "web_crawl",
		`{"city":"Vienna"}`:              "weather",
		`{"query":"go","max_results":1}`: "web_search",
	} {
		if got := w.call(tool, args); strings.HasPrefix(got, "error:") {
			t.Errorf("%s %s: %s", tool, args, got)
		}
	}
	for tool, want := range map[string][]string{"web_fetch": {"fetch_page", "web_extractor"}, "web_crawl": {"crawl_batch"}, "weather": {"get_weather", "amap_weather"}} {
		if got := w.tool(tool).Aliases; strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %q", tool, got)
		}
	}
}

// TestImagesAlike sends an image of the workspace once, asked before, and no larger than the
// service takes it.
func TestImagesAlike(t *testing.T) {
	var got []byte
	uploads := 0
	status := http.StatusOK
	w := newWorld(t, map[string]http.HandlerFunc{
		"serpapi.com": func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPost && r.URL.Path == "/image":
				uploads++
				file, _, err := r.FormFile("image")
				if err != nil || r.FormValue("api_key") != "k" {
					t.Errorf("%v, key %q", err, r.FormValue("api_key"))
				}
				got, _ = io.ReadAll(file)
				rw.WriteHeader(status)
				fmt.Fprint(rw, `{"message":"uploaded","image_id":"i1"}`)
			case r.URL.Query().Get("image_id") == "i1":
				fmt.Fprint(rw, `{"search_metadata":{},"visual_matches":[{"title":"A kite","link":"https://example.org/kite","image":"https://img.example.org/k.jpg"}]}`)
			default:
				t.Errorf("%s", r.URL)
			}
		},
		"img.example.org": func(http.ResponseWriter, *http.Request) {},
	})
	w.set.SerpAPI = "k"
	noise := image.NewNRGBA(image.Rect(0, 0, 900, 900))
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise.Pix) // it cannot fail
	var large, small bytes.Buffer
	if err := errors.Join(png.Encode(&large, noise), png.Encode(&small, image.NewGray(image.Rect(0, 0, 3, 2)))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"large.png": large.Bytes(), "small.png": small.Bytes(), "no.png": []byte("text")} {
		if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(args, want string) {
		t.Helper()
		if text := w.call("image_search", args); !strings.Contains(text, want) {
			t.Errorf("%s:\n%s\nwant %q in it", args, text, want)
		}
	}
	ask(`{"path":"small.png"}`, `1 result for "small.png"`)
	if !bytes.Equal(got, small.Bytes()) {
		t.Errorf("%d bytes sent", len(got))
	}
	ask(`{"path":"small.png"}`, "ago")
	ask(`{"path":"large.png"}`, "https://example.org/kite")
	if _, kind, err := image.DecodeConfig(bytes.NewReader(got)); err != nil || kind != "jpeg" || len(got) > 500_000 || uploads != 2 {
		t.Errorf("%s of %d bytes, %v, %d uploads", kind, len(got), err, uploads)
	}
	ask(`{"path":"no.png"}`, "error: unsupported")
	ask(`{"path":"none.png"}`, "error: not_found")
	ask(`{"image":"small.png"}`, "given as path")
	ask(`{"path":"small.png","query":"kites"}`, "error: invalid_argument")
	status = http.StatusUnauthorized
	ask(`{"path":"small.png","limit":3}`, "error: unavailable")
	tool := w.tool("image_search")
	bound, err := tool.Bind([]byte(`{"path":"small.png"}`))
	if err != nil {
		t.Fatal(err)
	}
	q, err := tool.Question(tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: w.ws}), bound)
	if err != nil || q.Message != "send the image small.png to SerpApi, which asks Google for images like it" {
		t.Errorf("%+v, %v", q, err)
	}
}
