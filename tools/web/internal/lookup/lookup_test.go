package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/web/internal/lookup"
)

// service is a backend with an answer of a good day and one that holds nothing.
type service struct {
	backend lookup.Backend
	good    string
	empty   string
	keyed   bool
	want    lookup.Hit
	request string // of query, with its body
}

var query = lookup.Query{
	Text: "red kite", Limit: 10, Page: 1, Freshness: "week", Language: "de", Region: "at",
	Include: []string{"example.org", "example.com"}, Exclude: []string{"bad.example.org"},
}

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func services() []service {
	kite := lookup.Hit{Title: "Red kite & friends", URL: "https://example.org/kite", Snippet: "A bird of prey.", Date: "2026-05-01"}
	picture := func(h lookup.Hit) lookup.Hit {
		h.Title, h.URL = "Red kite", "https://example.org/page"
		return h
	}
	return []service{
		{
			lookup.Brave("https://brave.test", "k"),
			`{"type":"search","web":{"results":[{"title":"Red kite &amp; friends","url":"https://example.org/kite","description":"A <strong>bird</strong> of prey.","page_age":"2026-05-01T10:00:00"}]}}`,
			`{"type":"search","query":{"original":"x"}}`, true, kite,
			"GET https://brave.test/res/v1/web/search?count=10&country=AT&freshness=pw&offset=0&q=red+kite+%28site%3Aexample.org+OR+site%3Aexample.com%29+-site%3Abad.example.org&search_lang=de",
		},
		{
			lookup.Tavily("https://tavily.test/", "k"),
			`{"query":"x","results":[{"title":"Red kite & friends","url":"https://example.org/kite","content":"A bird of prey.","score":0.9,"published_date":"Fri, 01 May 2026 08:00:00 GMT"}]}`,
			`{"query":"x","results":[]}`, true, kite,
			`POST https://tavily.test/search {"exclude_domains":["bad.example.org"],"include_domains":["example.org","example.com"],"max_results":10,"query":"red kite","time_range":"week"}`,
		},
		{
			lookup.Exa("https://exa.test", "k", noon),
			`{"requestId":"1","results":[{"id":"a","title":"Red kite & friends","url":"https://example.org/kite","publishedDate":"2026-05-01T00:00:00.000Z","highlights":["A bird","of prey."]}]}`,
			`{"requestId":"1","results":[]}`, true, kite,
			`POST https://exa.test/search {"contents":{"highlights":{"highlightsPerUrl":1,"numSentences":2}},"excludeDomains":["bad.example.org"],"includeDomains":["example.org","example.com"],"numResults":10,"query":"red kite","startPublishedDate":"2026-04-27T12:00:00Z","type":"auto"}`,
		},
		{
			lookup.Serper("https://serper.test", "k"),
			`{"searchParameters":{"q":"x"},"organic":[{"title":"Red kite & friends","link":"https://example.org/kite","snippet":"A bird of prey.","date":"2026-05-01T00:00:00Z","position":1}]}`,
			`{"searchParameters":{"q":"x"},"organic":[]}`, true, kite,
			`POST https://serper.test/search {"gl":"at","hl":"de","num":10,"page":1,"q":"red kite (site:example.org OR site:example.com) -site:bad.example.org","tbs":"qdr:w"}`,
		},
		{
			lookup.SearXNG("https://searxng.test"),
			`{"query":"x","number_of_results":0,"results":[{"title":"Red kite & friends","url":"https://example.org/kite","content":"A bird of prey.","publishedDate":"2026-05-01T00:00:00","engines":["bing"]}],"unresponsive_engines":[]}`,
			`{"query":"x","results":[],"unresponsive_engines":[]}`, false, kite,
			"GET https://searxng.test/search?categories=general&format=json&language=de-AT&pageno=1&q=red+kite+%28site%3Aexample.org+OR+site%3Aexample.com%29+-site%3Abad.example.org&safesearch=0&time_range=week",
		},
		{
			lookup.DuckDuckGo("https://duck.test", noon),
			`<html><body><div id="links" class="results"><div class="result results_links result--ad"><a class="result__a" href="//duckduckgo.com/y.js?ad=1">Buy</a></div>
			<div class="result results_links web-result"><h2><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fkite&amp;rut=1">Red kite &amp; friends</a></h2>
			<a class="result__snippet" href="x">A <b>bird</b> of prey.</a></div></div></body></html>`,
			`<html><body><div class="results"><div class="result result--no-result"><div class="no-results">No results.</div></div></div></body></html>`, false,
			lookup.Hit{Title: kite.Title, URL: kite.URL, Snippet: kite.Snippet},
			"GET https://duck.test/html/?df=w&kl=at-de&q=red+kite+%28site%3Aexample.org+OR+site%3Aexample.com%29+-site%3Abad.example.org",
		},
		{
			lookup.Openverse("https://openverse.test"),
			`{"result_count":1,"results":[{"id":"1","title":"Red kite","url":"https://img.test/k.jpg","thumbnail":"https://img.test/t.jpg","foreign_landing_url":"https://example.org/page","creator":"A. Bird","license":"by-sa","license_version":"4.0","width":800,"height":600}]}`,
			`{"result_count":0,"results":[]}`, false,
			picture(lookup.Hit{Image: lookup.Image{URL: "https://img.test/k.jpg", Thumbnail: "https://img.test/t.jpg", Width: 800, Height: 600, License: "CC BY-SA 4.0", Creator: "A. Bird"}}),
			"GET https://openverse.test/v1/images/?page=1&page_size=10&q=red+kite",
		},
		{
			lookup.Commons("https://commons.test"),
			`{"batchcomplete":"","query":{"pages":{"7":{"title":"File:Red kite","index":1,"imageinfo":[{"url":"https://img.test/k.jpg","thumburl":"https://img.test/t.jpg","descriptionurl":"https://example.org/page","width":800,"height":600,"extmetadata":{"LicenseShortName":{"value":"CC0"},"Artist":{"value":"<a href=x>A. Bird</a>"}}}]}}}}`,
			`{"batchcomplete":""}`, false,
			picture(lookup.Hit{Image: lookup.Image{URL: "https://img.test/k.jpg", Thumbnail: "https://img.test/t.jpg", Width: 800, Height: 600, License: "CC0", Creator: "A. Bird"}}),
			"GET https://commons.test/w/api.php?action=query&format=json&generator=search&gsrlimit=10&gsrnamespace=6&gsroffset=0&gsrsearch=filetype%3Abitmap+red+kite&iiprop=url%7Csize%7Cextmetadata&iiurlwidth=320&prop=imageinfo",
		},
		{
			lookup.SearXNGImages("https://searxng.test"),
			`{"results":[{"title":"Red kite","url":"https://example.org/page","img_src":"//img.test/k.jpg","thumbnail_src":"https://img.test/t.jpg","resolution":"800 x 600"}]}`,
			`{"results":[]}`, false,
			picture(lookup.Hit{Image: lookup.Image{URL: "https://img.test/k.jpg", Thumbnail: "https://img.test/t.jpg", Width: 800, Height: 600}}),
			"GET https://searxng.test/search?categories=images&format=json&language=de-AT&pageno=1&q=red+kite+%28site%3Aexample.org+OR+site%3Aexample.com%29+-site%3Abad.example.org&safesearch=1&time_range=week",
		},
		{
			lookup.BraveImages("https://brave.test", "k"),
			`{"type":"images","results":[{"title":"Red kite","url":"https://example.org/page","thumbnail":{"src":"https://img.test/t.jpg"},"properties":{"url":"https://img.test/k.jpg","width":800,"height":600}}]}`,
			`{"type":"images","results":[]}`, true,
			picture(lookup.Hit{Image: lookup.Image{URL: "https://img.test/k.jpg", Thumbnail: "https://img.test/t.jpg", Width: 800, Height: 600}}),
			"GET https://brave.test/res/v1/images/search?count=10&country=AT&q=red+kite+%28site%3Aexample.org+OR+site%3Aexample.com%29+-site%3Abad.example.org&search_lang=de",
		},
		{
			lookup.SerperImages("https://serper.test", "k"),
			`{"searchParameters":{},"images":[{"title":"Red kite","imageUrl":"https://img.test/k.jpg","imageWidth":800,"imageHeight":600,"thumbnailUrl":"https://img.test/t.jpg","link":"https://example.org/page"}]}`,
			`{"searchParameters":{}}`, true,
			picture(lookup.Hit{Image: lookup.Image{URL: "https://img.test/k.jpg", Thumbnail: "https://img.test/t.jpg", Width: 800, Height: 600}}),
			`POST https://serper.test/images {"gl":"at","hl":"de","num":10,"page":1,"q":"red kite (site:example.org OR site:example.com) -site:bad.example.org","tbs":"qdr:w"}`,
		},
		{
			lookup.SerpAPI("https://serpapi.test", "k"),
			`{"search_metadata":{},"images_results":[{"title":"Red kite","link":"https://example.org/page","original":"https://img.test/k.jpg","thumbnail":"https://img.test/t.jpg","original_width":800,"original_height":600}]}`,
			`{"search_metadata":{},"error":"Google hasn't returned any results for this query."}`, true,
			picture(lookup.Hit{Image: lookup.Image{URL: "https://img.test/k.jpg", Thumbnail: "https://img.test/t.jpg", Width: 800, Height: 600}}),
			"GET https://serpapi.test/search.json?api_key=k&engine=google_images&gl=at&hl=de&ijn=0&q=red+kite+%28site%3Aexample.org+OR+site%3Aexample.com%29+-site%3Abad.example.org&tbs=qdr%3Aw",
		},
	}
}

// answers returns an Ask that always answers the same.
func answers(a lookup.Answer, err error) lookup.Ask {
	return func(context.Context, *http.Request) (lookup.Answer, error) { return a, err }
}

func reply(status int, body string, header ...string) lookup.Answer {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return lookup.Answer{Status: status, Header: h, Body: []byte(body)}
}

func TestGoodDay(t *testing.T) {
	for _, s := range services() {
		t.Run(s.want.Image.URL+s.backend.Name, func(t *testing.T) {
			var asked string
			ask := func(_ context.Context, req *http.Request) (lookup.Answer, error) {
				asked = req.Method + " " + req.URL.String()
				if req.Body != nil {
					body, err := io.ReadAll(req.Body)
					if err != nil {
						t.Error(err)
					}
					asked += " " + string(body)
				}
				return reply(200, s.good), nil
			}
			hits, states := lookup.Search(t.Context(), ask, []lookup.Backend{s.backend}, query)
			s.want.Backends = []string{s.backend.Name}
			if diff := cmp.Diff([]lookup.Hit{s.want}, hits); diff != "" {
				t.Errorf("hits (-want +got):\n%s\n%+v", diff, states)
			}
			if asked != s.request {
				t.Errorf("asked\n%s, want\n%s", asked, s.request)
			}
		})
	}
}

// TestBadDays has what services do when they do not answer, each with the outcome that it
// must have at every service.
func TestBadDays(t *testing.T) {
	challenge := "<!DOCTYPE html><html><title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x.js></script></html>"
	days := []struct {
		name      string
		answer    func(s service) (lookup.Answer, error)
		want      lookup.Outcome
		otherwise func(s service) lookup.Outcome
		say       string
	}{
		{name: "nothing found", answer: func(s service) (lookup.Answer, error) { return reply(200, s.empty), nil }, want: lookup.Empty},
		{name: "429", answer: func(service) (lookup.Answer, error) {
			return reply(429, `{"error":{"code":"RATE_LIMITED","detail":"slow down"}}`, "Retry-After", "30"), nil
		}, want: lookup.Limited, say: "again in 30 s"},
		{name: "401", answer: func(service) (lookup.Answer, error) { return reply(401, `{}`), nil }, want: lookup.Refused, otherwise: func(s service) lookup.Outcome {
			if s.keyed {
				return lookup.Key
			}
			return ""
		}},
		{name: "403", answer: func(service) (lookup.Answer, error) { return reply(403, `{}`), nil }, want: lookup.Refused, otherwise: func(s service) lookup.Outcome {
			switch {
			case s.keyed:
				return lookup.Key
			case s.backend.Name == "searxng":
				return lookup.NoJSON
			}
			return ""
		}},
		{name: "402", answer: func(service) (lookup.Answer, error) { return reply(402, `{}`), nil }, want: lookup.Quota},
		{name: "a challenge with 403", answer: func(service) (lookup.Answer, error) {
			return reply(403, challenge, "Cf-Mitigated", "challenge"), nil
		}, want: lookup.Challenged},
		{name: "a challenge with 200", answer: func(service) (lookup.Answer, error) { return reply(200, challenge), nil }, want: lookup.Challenged},
		{name: "a page for JSON", answer: func(s service) (lookup.Answer, error) {
			return reply(200, "<html><body>Welcome to the login of the proxy</body></html>"), nil
		}, want: lookup.Unread},
		{name: "half an answer", answer: func(s service) (lookup.Answer, error) { return reply(200, s.good[:len(s.good)/3]), nil }, want: lookup.Unread},
		{name: "an empty answer", answer: func(service) (lookup.Answer, error) { return reply(200, ""), nil }, want: lookup.Unread},
		{name: "another form of JSON", answer: func(service) (lookup.Answer, error) { return reply(200, `{"hello":"world"}`), nil }, want: lookup.Unread},
		{name: "an array", answer: func(service) (lookup.Answer, error) { return reply(200, `[1,2]`), nil }, want: lookup.Unread},
		{name: "500", answer: func(service) (lookup.Answer, error) { return reply(500, "oops"), nil }, want: lookup.Down},
		{name: "503, a page", answer: func(service) (lookup.Answer, error) {
			return reply(503, "<html>maintenance</html>", "Retry-After", "Wed, 06 May 2026 00:00:00 GMT"), nil
		}, want: lookup.Down, say: "again after Wed, 06 May 2026 00:00:00 GMT"},
		{name: "a redirect that was not followed", answer: func(service) (lookup.Answer, error) { return reply(302, "", "Location", "/login"), nil }, want: lookup.Unread},
		{name: "404", answer: func(service) (lookup.Answer, error) { return reply(404, "<html>nothing here</html>"), nil }, want: lookup.Refused},
		{name: "no connection", answer: func(service) (lookup.Answer, error) { return lookup.Answer{}, errors.New("connection refused") }, want: lookup.Failed, say: "connection refused"},
	}
	for i, s := range services() {
		right := 0
		for _, d := range days {
			s := services()[i]
			ok := t.Run(s.backend.Name+"/"+d.name, func(t *testing.T) {
				hits, states := lookup.Search(t.Context(), answers(d.answer(s)), []lookup.Backend{s.backend}, query)
				want := d.want
				if d.otherwise != nil && d.otherwise(s) != "" {
					want = d.otherwise(s)
				}
				if len(hits) > 0 || len(states) != 1 || states[0].Outcome != want || !strings.Contains(states[0].Say, d.say) {
					t.Errorf("%d hits, %+v; want %s: %s", len(hits), states, want, d.say)
				}
			})
			if ok {
				right++
			}
		}
		what := "pages"
		if s.want.Image.URL != "" {
			what = "images"
		}
		t.Logf("%s, %s: %d of %d bad days have the right word", s.backend.Name, what, right, len(days))
	}
}

// TestOwnWays has how single services refuse.
func TestOwnWays(t *testing.T) {
	by := map[string]lookup.Backend{}
	for _, s := range services() {
		if by[s.backend.Name].Name == "" {
			by[s.backend.Name] = s.backend
		}
	}
	for _, tt := range []struct {
		backend, name string
		answer        lookup.Answer
		want          lookup.Outcome
		say           string
	}{
		{"brave", "a wrong key", reply(422, `{"type":"ErrorResponse","error":{"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token is invalid.","status":422}}`), lookup.Key, "invalid"},
		{"brave", "another wrong argument", reply(422, `{"error":{"code":"VALIDATION","detail":"Unable to validate request parameter(s)"}}`), lookup.Refused, "validate"},
		{"tavily", "a wrong key", reply(401, `{"detail":{"error":"Unauthorized: missing or invalid API key."}}`), lookup.Key, "missing or invalid API key"},
		{"tavily", "the plan's limit", reply(432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`), lookup.Quota, "usage limit"},
		{"exa", "no credits", reply(402, `{"error":"You have exceeded your credits limit","tag":"NO_MORE_CREDITS"}`), lookup.Quota, "credits"},
		{"serper", "no credits", reply(400, `{"message":"Not enough credits","statusCode":400}`), lookup.Quota, "Not enough credits"},
		{"searxng", "engines out of reach", reply(200, `{"results":[],"unresponsive_engines":[["google","CAPTCHA"],["brave","timeout"]]}`), lookup.Down, "google CAPTCHA, brave timeout"},
		{"duckduckgo", "202", reply(202, "<html><div class=anomaly-modal>"), lookup.Challenged, "robot"},
		{"commons", "an error with 200", reply(200, `{"error":{"code":"badvalue","info":"Unrecognized value"}}`), lookup.Refused, "Unrecognized value"},
		{"commons", "its limit", reply(200, `{"error":{"code":"ratelimited","info":"You've exceeded your rate limit."}}`), lookup.Limited, "rate limit"},
		{"serpapi", "a wrong key", reply(401, `{"error":"Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"}`), lookup.Key, "Invalid API key"},
		{"serpapi", "no searches left", reply(429, `{"error":"Your account has run out of searches."}`), lookup.Quota, "run out"},
	} {
		t.Run(tt.backend+"/"+tt.name, func(t *testing.T) {
			_, states := lookup.Search(t.Context(), answers(tt.answer, nil), []lookup.Backend{by[tt.backend]}, query)
			if len(states) != 1 || states[0].Outcome != tt.want || !strings.Contains(states[0].Say, tt.say) {
				t.Errorf("got %+v, want %s: %s", states, tt.want, tt.say)
			}
		})
	}
}

// TestImagesOfNoEngine has an instance that could ask none of its engines for images.
func TestImagesOfNoEngine(t *testing.T) {
	answer := reply(200, `{"results":[],"unresponsive_engines":[["bing images","timeout"]]}`)
	_, states := lookup.Search(t.Context(), answers(answer, nil), []lookup.Backend{lookup.SearXNGImages("http://s.test")}, query)
	if len(states) != 1 || states[0].Outcome != lookup.Down || !strings.Contains(states[0].Say, "bing images timeout") {
		t.Errorf("got %+v", states)
	}
}

// named are backends that are all SearXNG instances by other names; ask sees the name as
// the host.
func named(names ...string) (list []lookup.Backend) {
	for _, name := range names {
		b := lookup.SearXNG("http://" + name)
		b.Name = name
		b.Last = strings.HasPrefix(name, "last")
		list = append(list, b)
	}
	return list
}

func results(urls ...string) string {
	var list []string
	for _, u := range urls {
		list = append(list, fmt.Sprintf(`{"title":"T","url":%q,"content":"c"}`, u))
	}
	return `{"results":[` + strings.Join(list, ",") + `]}`
}

// TestSlow holds that one slow service delays the others by two seconds at most, and that
// all together take no longer than one may.
func TestSlow(t *testing.T) {
	for _, tt := range []struct {
		name  string
		waits map[string]time.Duration // until the answer
		bad   string                   // answers nothing good
		took  time.Duration
		want  []lookup.Outcome
	}{
		{"one is slow", map[string]time.Duration{"a": time.Second, "b": time.Hour}, "", 3 * time.Second, []lookup.Outcome{lookup.Fine, lookup.Slow}},
		{"both in time", map[string]time.Duration{"a": time.Second, "b": 2500 * time.Millisecond}, "", 2500 * time.Millisecond, []lookup.Outcome{lookup.Fine, lookup.Fine}},
		{"both are slow", map[string]time.Duration{"a": time.Hour, "b": time.Hour}, "", 6 * time.Second, []lookup.Outcome{lookup.Slow, lookup.Slow}},
		{"the first has nothing", map[string]time.Duration{"a": 0, "b": 5 * time.Second}, "a", 5 * time.Second, []lookup.Outcome{lookup.Empty, lookup.Fine}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ask := func(ctx context.Context, req *http.Request) (lookup.Answer, error) {
					select {
					case <-time.After(tt.waits[req.URL.Host]):
					case <-ctx.Done():
						return lookup.Answer{}, ctx.Err()
					}
					if req.URL.Host == tt.bad {
						return reply(200, results()), nil
					}
					return reply(200, results("http://"+req.URL.Host+"/")), nil
				}
				begin := time.Now()
				_, states := lookup.Search(t.Context(), ask, named("a", "b"), lookup.Query{Text: "x", Limit: 5, Page: 1})
				if took := time.Since(begin); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				var got []lookup.Outcome
				for _, s := range states {
					got = append(got, s.Outcome)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				synctest.Wait()
			})
		})
	}
}

func TestLast(t *testing.T) {
	asked := []string{}
	answer := map[string]string{"a": results(), "last": results("http://x.test/")}
	ask := func(_ context.Context, req *http.Request) (lookup.Answer, error) {
		asked = append(asked, req.URL.Host)
		return reply(200, answer[req.URL.Host]), nil
	}
	q := lookup.Query{Text: "x", Limit: 5, Page: 1}
	hits, states := lookup.Search(t.Context(), ask, named("last", "a"), q)
	if len(hits) != 1 || len(states) != 2 || states[0].Backend != "last" {
		t.Errorf("nothing elsewhere: %v, %+v", hits, states)
	}
	answer["a"], asked = results("http://y.test/"), nil
	if _, states = lookup.Search(t.Context(), ask, named("last", "a"), q); len(states) != 1 || !slices.Equal(asked, []string{"a"}) {
		t.Errorf("found elsewhere: asked %v, %+v", asked, states)
	}
}

// TestPause holds that DuckDuckGo is not asked again right away, and not for minutes after a
// challenge.
func TestPause(t *testing.T) {
	clock := noon()
	duck := []lookup.Backend{lookup.DuckDuckGo("http://duck.test", func() time.Time { return clock })}
	status := 200
	ask := func(context.Context, *http.Request) (lookup.Answer, error) {
		return reply(status, services()[5].empty), nil
	}
	for _, step := range []struct {
		after  time.Duration
		status int
		want   lookup.Outcome
		say    string
	}{
		{0, 200, lookup.Empty, ""},
		{time.Second, 200, lookup.Limited, "again in 1s"},
		{time.Second, 202, lookup.Challenged, "takes us for a robot"},
		{time.Minute, 200, lookup.Challenged, "another 4m0s"},
		{4 * time.Minute, 200, lookup.Empty, ""},
	} {
		clock, status = clock.Add(step.after), step.status
		_, states := lookup.Search(t.Context(), ask, duck, lookup.Query{Text: "x", Limit: 5, Page: 1})
		if states[0].Outcome != step.want || !strings.Contains(states[0].Say, step.say) {
			t.Errorf("after %v: %+v, want %s: %s", step.after, states[0], step.want, step.say)
		}
	}
}

func TestMerge(t *testing.T) {
	ask := func(_ context.Context, req *http.Request) (lookup.Answer, error) {
		return reply(200, map[string]string{
			"a": results("https://one.test/", "https://www.two.test/page/?utm_source=x&b=2&a=1#top", "https://two.test:443/page?a=1&b=2", "ftp://no.test/", "https://bad.test/"),
			"b": results("http://two.test/page?a=1&b=2", "https://three.test/?gclid=7"),
		}[req.URL.Host]), nil
	}
	q := lookup.Query{Text: "x", Limit: 5, Page: 1, Exclude: []string{"bad.test"}}
	hits, _ := lookup.Search(t.Context(), ask, named("a", "b"), q)
	got := ""
	for _, h := range hits {
		got += h.URL + " " + strings.Join(h.Backends, ",") + "\n"
	}
	want := "https://www.two.test/page/?utm_source=x&b=2&a=1#top a,b\nhttps://one.test/ a\nhttps://three.test/?gclid=7 b\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	q.Limit = 1
	if hits, _ = lookup.Search(t.Context(), ask, named("a", "b"), q); len(hits) != 1 {
		t.Errorf("limit 1: %d hits", len(hits))
	}
}

func TestPages(t *testing.T) {
	tavily := lookup.Tavily("http://t.test", "k")
	ask := func(context.Context, *http.Request) (lookup.Answer, error) {
		return reply(200, results("http://a.test/", "http://b.test/", "http://c.test/")), nil
	}
	for page, want := range []string{"", "http://a.test/ http://b.test/ ", "http://c.test/ ", ""} {
		if page == 0 {
			continue
		}
		hits, _ := lookup.Search(t.Context(), ask, []lookup.Backend{tavily}, lookup.Query{Text: "x", Limit: 2, Page: page})
		got := ""
		for _, h := range hits {
			got += h.URL + " "
		}
		if got != want {
			t.Errorf("page %d: %s, want %s", page, got, want)
		}
	}
}

// TestClean holds that what services say cannot hide text or break lines.
func TestClean(t *testing.T) {
	title := `A <b>b</b>&amp;c\n\td\u202e\u200b\udb40\udc41 ` + strings.Repeat("x", 500)
	body := `{"results":[{"title":"` + title + `","url":"https://a.test/","content":"<script>x</script>"}]}`
	hits, _ := lookup.Search(t.Context(), answers(reply(200, body), nil), []lookup.Backend{lookup.SearXNG("http://s.test")}, lookup.Query{Text: "x", Limit: 5, Page: 1})
	if len(hits) != 1 || !strings.HasPrefix(hits[0].Title, "A b&c d xxx") || len(hits[0].Title) > 420 {
		t.Errorf("got %+v", hits)
	}
}
