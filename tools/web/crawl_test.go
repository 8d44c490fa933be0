package web_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// TestCrawl reads several pages, each with an outcome of its own.
func TestCrawl(t *testing.T) {
	site := func(rw http.ResponseWriter, r *http.Request) {
		link := func(path string) string { return `<a href="` + path + `">to ` + path + `</a> ` }
		text := "<p>This is what the page " + r.URL.Path + " has to say of kites, in a sentence of some length, which ends here. "
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(rw, "User-agent: *\nDisallow: /secret\nSitemap: https://a.example.org/map.xml\n")
		case "/map.xml":
			fmt.Fprint(rw, `<urlset><url><loc>https://a.example.org/docs/one</loc></url><url><loc>https://a.example.org/blog</loc></url><url><loc>https://b.example.org/x</loc></url></urlset>`)
		case "/docs/":
			page(text+link("/docs/one")+link("/docs/two#x")+link("/docs/two")+link("/blog")+link("https://b.example.org/x")+link("/secret/a")+link("mailto:x"))(rw, r)
		case "/docs/one":
			page(text+link("/docs/deep"))(rw, r)
		case "/docs/deep", "/docs/two", "/blog", "/secret/a":
			page(text)(rw, r)
		case "/long":
			page("<h2>Food</h2><p>They eat worms.</p><h2>Rest</h2>"+strings.Repeat(text+"</p>", 300))(rw, r)
		default:
			http.NotFound(rw, r)
		}
	}
	w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": site, "b.example.org": site})
	const a = "https://a.example.org"
	step := func(args string, want []string, pages ...string) {
		t.Helper()
		w.requests()
		got := w.call("web_crawl", args)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s:\n%s\nwant %q in it", args, cutText(got), text)
			}
		}
		var read []string
		for line := range strings.Lines(got) {
			if at, ok := strings.CutPrefix(line, "## https://"); ok {
				page, said, _ := strings.Cut(at, ": ")
				if strings.Contains(said, page) {
					t.Errorf("%s: an address is there twice: %s", args, line)
				}
				read = append(read, page)
			}
		}
		if !slices.Equal(read, pages) {
			t.Errorf("%s: read %q, want %q", args, read, pages)
		}
		asked := w.requests()
		slices.Sort(asked)
		for i := range asked[min(1, len(asked)):] {
			if asked[i] == asked[i+1] {
				t.Errorf("%s: asked twice for %s", args, asked[i])
			}
		}
	}
	step(`{"urls":["https://a.example.org/docs/two","https://a.example.org/gone","ftp://x/","https://nowhere.example.org/","https://a.example.org/secret/a","https://a.example.org/docs/two#again"]}`,
		[]string{"5 pages, 4 failed", "not_found", "only http and https", "no host named", "robots.txt of a.example.org says"},
		"a.example.org/docs/two", "a.example.org/gone", "nowhere.example.org/", "a.example.org/secret/a")
	step(`{"start":"https://a.example.org/docs/","depth":2,"glob":"/docs/**"}`, []string{"following links from " + a + "/docs/"},
		"a.example.org/docs/", "a.example.org/docs/one", "a.example.org/docs/two", "a.example.org/docs/deep")
	step(`{"start":"https://a.example.org/docs/","depth":1,"limit":2}`, []string{"more found, a higher limit reads them"}, "a.example.org/docs/", "a.example.org/docs/one")
	step(`{"start":"https://a.example.org/","sitemap":true,"glob":"/docs/**"}`, []string{"from the sitemap of a.example.org"}, "a.example.org/docs/one")
	step(`{"urls":["https://a.example.org/docs/two"],"format":"links"}`, nil, "a.example.org/docs/two")
	step(`{"urls":["https://a.example.org/long","https://a.example.org/docs/two"],"budget":3000}`, []string{"[cut; web_fetch of this address reads on with offset="}, "a.example.org/long", "a.example.org/docs/two")
	step(`{"urls":["https://a.example.org/long"],"query":"what do they eat"}`, []string{"They eat worms."}, "a.example.org/long")
	step(`{"urls":["https://a.example.org/long"],"query":"kites page","budget":1000}`, []string{"1 of "}, "a.example.org/long")
	step(`{"urls":["https://a.example.org/long"],"start":"https://a.example.org/"}`, []string{"error: invalid_argument"})
	step(`{"start":"https://a.example.org/","glob":"[x"}`, []string{"error: invalid_argument"})
	if got := w.call("web_crawl", `{"urls":["https://a.example.org/long","https://a.example.org/docs/two"],"budget":3000}`); utf8.RuneCountInString(got) > 3600 || !strings.Contains(got, "ends here.") {
		t.Errorf("%d characters", utf8.RuneCountInString(got))
	}
}

// TestCrawlCounts says what it has not counted.
func TestCrawlCounts(t *testing.T) {
	w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/links":
			page(strings.Repeat("<p>text</p>", 3)+numbered(`<a href="/page/%d">page %d</a> `, 600))(rw, r)
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(rw, numbered("Sitemap: https://a.example.org/map%d.xml\n", 8))
		case r.URL.Path == "/map1.xml":
			fmt.Fprint(rw, "<urlset>"+numbered("<url><loc>https://a.example.org/page/%d</loc></url>", 2100)+"</urlset>")
		case r.URL.Path == "/map2.xml":
			http.NotFound(rw, r)
		case strings.HasPrefix(r.URL.Path, "/map"):
			fmt.Fprint(rw, "<urlset></urlset>")
		default:
			page("<p>text")(rw, r)
		}
	}})
	for args, want := range map[string][]string{
		`{"start":"https://a.example.org/links","limit":1}`:           {"only the first 500 of its 600 links are followed"},
		`{"start":"https://a.example.org/","sitemap":true,"limit":1}`: {"more than 2000 addresses were found", "3 more sitemaps not read", "not all sitemaps could be read: https://a.example.org/map2.xml: HTTP 404"},
	} {
		got := w.call("web_crawl", args)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s:\n%s\nwant %q in it", args, cutText(got), text)
			}
		}
	}
}

func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprint(&b, strings.ReplaceAll(format, "%d", fmt.Sprint(i+1)))
	}
	return b.String()
}

// TestPace asks one host only as often as is polite, and others meanwhile.
func TestPace(t *testing.T) {
	var at []time.Time
	site := func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/robots.txt" {
			at = append(at, time.Now())
		}
		page("<p>text")(rw, r)
	}
	w := newWorld(t, map[string]http.HandlerFunc{"a.example.org": site})
	w.pace = 60 * time.Millisecond
	begin := time.Now() // a request may be told of late, so that two come closer together
	got := w.call("web_crawl", `{"urls":["https://a.example.org/1","https://a.example.org/2","https://a.example.org/3"]}`)
	if len(at) != 3 || at[2].Sub(begin) < 2*w.pace {
		t.Errorf("%v\n%s", at, got)
	}
}
