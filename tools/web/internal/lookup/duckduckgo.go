package lookup

import (
	"bytes"
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// DuckDuckGo is the page of DuckDuckGo for browsers without scripts. It wants no key and
// takes programs for robots soon, so it is asked last and seldom.
func DuckDuckGo(address string, now func() time.Time) Backend {
	return Backend{
		Name: "duckduckgo", Last: true, pause: &pause{now: now, apart: 2 * time.Second, rest: 5 * time.Minute},
		request: func(q Query) (*http.Request, error) {
			header := http.Header{
				"Accept-Language": {cmp.Or(q.Language, "en") + ",*;q=0.5"},
				"Sec-Fetch-Dest":  {"document"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Site": {"none"},
			}
			start := ""
			if q.Page > 1 {
				start = strconv.Itoa((q.Page - 1) * q.Limit)
			}
			req, err := get(address, "/html/", header, "q", q.operators(), "kl", area(q), "df", letters(q.Freshness, "d", "w", "m", "y"), "s", start)
			if err == nil {
				req.Header.Set("Accept", "text/html")
			}
			return req, err
		},
		read: readDuckDuckGo,
	}
}

// area is region and language as DuckDuckGo wants them, "" for everywhere.
func area(q Query) string {
	if q.Region == "" {
		return ""
	}
	return strings.ToLower(q.Region + "-" + cmp.Or(q.Language, "en"))
}

func readDuckDuckGo(a Answer) ([]Hit, error) {
	if a.Status == http.StatusAccepted {
		return nil, &problem{Challenged, "it takes us for a robot; a key for another service or a SearXNG instance avoids this"}
	}
	if err := (dialect{}).refusal(a); err != nil {
		return nil, err
	}
	page, err := html.Parse(bytes.NewReader(a.Body))
	if err != nil {
		return nil, &problem{Unread, clean(err.Error())}
	}
	var hits []Hit
	results, none := false, false
	for n := range page.Descendants() {
		switch {
		case has(n, "no-results"):
			none = true
		case has(n, "results"):
			results = true
		case has(n, "result") && !has(n, "result--ad") && !has(n, "result--no-result"):
			if h := duck(n); h.URL != "" {
				hits = append(hits, h)
			}
		}
	}
	if len(hits) == 0 && !none {
		if results {
			return nil, &problem{Unread, "its page has another form than expected"}
		}
		return nil, &problem{Unread, "the page has no list of results; check its address in the configuration"}
	}
	return hits, nil
}

// duck reads one result.
func duck(result *html.Node) (h Hit) {
	for n := range result.Descendants() {
		switch {
		case has(n, "result__a"):
			h.Title, h.URL = clean(all(n)), behind(attribute(n, "href"))
		case has(n, "result__snippet"):
			h.Snippet = clean(all(n))
		}
	}
	return h
}

// behind returns the address that one of DuckDuckGo's own leads to.
func behind(href string) string {
	u, err := url.Parse(href)
	if err != nil {
		return ""
	}
	if to := u.Query().Get("uddg"); to != "" {
		return to
	}
	if u.Host == "" || strings.HasSuffix(u.Hostname(), "duckduckgo.com") {
		return "" // an advertisement
	}
	return href
}

// has reports whether an element has a class.
func has(n *html.Node, class string) bool {
	for name := range strings.FieldsSeq(attribute(n, "class")) {
		if name == class {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// all returns the text of an element.
func all(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return text.String()
}
