package lookup

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The addresses of the services, where the configuration names no other.
const (
	BraveAddress      = "https://api.search.brave.com"
	TavilyAddress     = "https://api.tavily.com"
	ExaAddress        = "https://api.exa.ai"
	SerperAddress     = "https://google.serper.dev"
	DuckDuckGoAddress = "https://html.duckduckgo.com"
)

// get makes a request that has its parameters in the address. Empty ones are left out.
func get(address, path string, header http.Header, params ...string) (*http.Request, error) {
	values := url.Values{}
	for i := 0; i < len(params); i += 2 {
		if params[i+1] != "" {
			values.Set(params[i], params[i+1])
		}
	}
	req, err := http.NewRequest(http.MethodGet, strings.TrimSuffix(address, "/")+path+"?"+values.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Accept", "application/json")
	return req, nil
}

// post makes a request that has its parameters in a body of JSON.
func post(address, path string, header http.Header, params map[string]any) (*http.Request, error) {
	body, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(http.MethodPost, strings.TrimSuffix(address, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	return req, nil
}

// letters returns the code of a service for a freshness.
func letters(freshness string, day, week, month, year string) string {
	return map[string]string{"day": day, "week": week, "month": month, "year": year}[freshness]
}

// window returns how many hits to ask for from a service without pages, and page picks those
// of the page that is wanted.
func (q Query) window(most int) int { return min(q.Limit*q.Page, most) }

func (q Query) page(hits []Hit) []Hit {
	return hits[min(q.Limit*(q.Page-1), len(hits)):min(q.Limit*q.Page, len(hits))]
}

// brave is how Brave Search refuses.
var brave = dialect{keyed: true, said: func(body []byte) string {
	var e struct {
		Error struct{ Code, Detail string }
	}
	_ = json.Unmarshal(body, &e) // what is no JSON is no error of its form
	return strings.TrimSpace(e.Error.Code + " " + e.Error.Detail)
}, by: func(_ int, said string) Outcome {
	if strings.Contains(said, "SUBSCRIPTION_TOKEN_INVALID") {
		return Key
	}
	return ""
}}

// Brave is the API of Brave Search.
func Brave(address, key string) Backend {
	return Backend{
		Name: "brave",
		request: func(q Query) (*http.Request, error) {
			return get(address, "/res/v1/web/search", http.Header{"X-Subscription-Token": {key}},
				"q", q.operators(), "count", strconv.Itoa(min(q.Limit, 20)), "offset", strconv.Itoa(min(q.Page-1, 9)),
				"country", strings.ToUpper(q.Region), "search_lang", q.Language,
				"freshness", letters(q.Freshness, "pd", "pw", "pm", "py"))
		},
		read: reads(brave.refusal, func(answer struct {
			Type string
			Web  *struct {
				Results []struct {
					Title, URL, Description string
					Age                     string
					PageAge                 string `json:"page_age"`
				}
			}
		}) ([]Hit, error) {
			if answer.Web == nil {
				return nil, absent(answer.Type == "search")
			}
			var hits []Hit
			for _, r := range answer.Web.Results {
				hits = append(hits, Hit{Title: clean(r.Title), URL: r.URL, Snippet: clean(r.Description), Date: cmp.Or(day(r.PageAge), clean(r.Age))})
			}
			return hits, nil
		}),
	}
}

// absent returns the problem of an answer without a list: it is empty if the answer shows
// otherwise that it is one.
func absent(known bool) error {
	if known {
		return nil
	}
	return &problem{Unread, "the answer has no list of results; check its address in the configuration"}
}

// Tavily is the API of Tavily.
func Tavily(address, key string) Backend {
	d := dialect{keyed: true, said: func(body []byte) string {
		var e struct{ Detail json.RawMessage }
		if json.Unmarshal(body, &e) != nil || e.Detail == nil {
			return ""
		}
		var detail struct{ Error string }
		if json.Unmarshal(e.Detail, &detail) == nil && detail.Error != "" {
			return detail.Error
		}
		return strings.Trim(string(e.Detail), `"`)
	}, by: func(status int, _ string) Outcome {
		if status == 432 || status == 433 {
			return Quota
		}
		return ""
	}}
	return Backend{
		Name: "tavily", Ignores: []string{"language", "region"},
		request: func(q Query) (*http.Request, error) {
			params := map[string]any{"query": q.Text, "max_results": q.window(20)}
			if q.Freshness != "" {
				params["time_range"] = q.Freshness
			}
			if len(q.Include) > 0 {
				params["include_domains"] = q.Include
			}
			if len(q.Exclude) > 0 {
				params["exclude_domains"] = q.Exclude
			}
			return post(address, "/search", http.Header{"Authorization": {"Bearer " + key}}, params)
		},
		read: results(d.refusal, func(r struct {
			Title, URL, Content string
			Published           string `json:"published_date"`
		}) Hit {
			return Hit{Title: clean(r.Title), URL: r.URL, Snippet: clean(r.Content), Date: day(r.Published)}
		}),
		paged: true,
	}
}

// Exa is the API of Exa. now is the time that freshness is counted from.
func Exa(address, key string, now func() time.Time) Backend {
	d := dialect{keyed: true, said: func(body []byte) string {
		var e struct{ Error, Tag string }
		_ = json.Unmarshal(body, &e) // what is no JSON is no error of its form
		return strings.TrimSpace(e.Tag + " " + e.Error)
	}, by: func(_ int, said string) Outcome {
		if strings.HasPrefix(said, "INVALID_API_KEY") {
			return Key
		}
		return ""
	}}
	return Backend{
		Name: "exa", Ignores: []string{"language", "region"},
		request: func(q Query) (*http.Request, error) {
			params := map[string]any{
				"query": q.Text, "numResults": q.window(100), "type": "auto",
				"contents": map[string]any{"highlights": map[string]any{"numSentences": 2, "highlightsPerUrl": 1}},
			}
			if days := map[string]int{"day": 1, "week": 7, "month": 31, "year": 366}[q.Freshness]; days > 0 {
				params["startPublishedDate"] = now().UTC().AddDate(0, 0, -days).Format(time.RFC3339)
			}
			if len(q.Include) > 0 {
				params["includeDomains"] = q.Include
			}
			if len(q.Exclude) > 0 {
				params["excludeDomains"] = q.Exclude
			}
			return post(address, "/search", http.Header{"X-Api-Key": {key}}, params)
		},
		read: results(d.refusal, func(r struct {
			Title, URL, Text string
			PublishedDate    string
			Highlights       []string
		}) Hit {
			return Hit{
				Title: clean(r.Title), URL: r.URL, Date: day(r.PublishedDate),
				Snippet: clean(cmp.Or(strings.Join(r.Highlights, " "), r.Text)),
			}
		}),
		paged: true,
	}
}

// serper is how Serper refuses.
var serper = dialect{keyed: true, said: func(body []byte) string {
	var e struct{ Message string }
	_ = json.Unmarshal(body, &e) // what is no JSON is no error of its form
	return e.Message
}}

// serperRequest makes requests of Serper.
func serperRequest(address, path, key string) func(Query) (*http.Request, error) {
	return func(q Query) (*http.Request, error) {
		params := map[string]any{"q": q.operators(), "num": min(q.Limit, 100), "page": q.Page}
		for name, value := range map[string]string{
			"gl": strings.ToLower(q.Region), "hl": q.Language, "tbs": letters(q.Freshness, "qdr:d", "qdr:w", "qdr:m", "qdr:y"),
		} {
			if value != "" {
				params[name] = value
			}
		}
		return post(address, path, http.Header{"X-Api-Key": {key}}, params)
	}
}

// Serper is the API of Serper, which asks Google.
func Serper(address, key string) Backend {
	return Backend{
		Name:    "serper",
		request: serperRequest(address, "/search", key),
		read: reads(serper.refusal, func(answer struct {
			Parameters json.RawMessage `json:"searchParameters"`
			Organic    *[]struct{ Title, Link, Snippet, Date string }
		}) ([]Hit, error) {
			if answer.Organic == nil {
				return nil, absent(answer.Parameters != nil)
			}
			var hits []Hit
			for _, r := range *answer.Organic {
				hits = append(hits, Hit{Title: clean(r.Title), URL: r.Link, Snippet: clean(r.Snippet), Date: day(r.Date)})
			}
			return hits, nil
		}),
	}
}

// searxng returns why a SearXNG instance has no hits, nil if it has some or found nothing.
func searxng(a Answer) error {
	if a.Status == http.StatusForbidden && !challenges(a) {
		return &problem{NoJSON, "the instance answers browsers only; add json to search.formats of its settings.yml"}
	}
	if err := (dialect{}).refusal(a); err != nil {
		return err
	}
	var answer struct {
		Results      []json.RawMessage
		Unresponsive [][]any `json:"unresponsive_engines"`
	}
	if err := decode(a, &answer); err != nil {
		return err
	}
	if answer.Results != nil && len(answer.Results) == 0 && len(answer.Unresponsive) > 0 {
		return &problem{Down, "its engines do not answer: " + engines(answer.Unresponsive)}
	}
	return nil
}

// SearXNG is an instance of SearXNG.
func SearXNG(address string) Backend {
	return Backend{
		Name: "searxng",
		request: func(q Query) (*http.Request, error) {
			return get(address, "/search", http.Header{}, "q", q.operators(), "format", "json", "categories", "general",
				"language", locale(q), "time_range", q.Freshness, "pageno", strconv.Itoa(q.Page), "safesearch", "0")
		},
		read: results(searxng, func(r struct {
			Title, URL, Content string
			PublishedDate       string
		}) Hit {
			return Hit{Title: clean(r.Title), URL: r.URL, Snippet: clean(r.Content), Date: day(r.PublishedDate)}
		}),
	}
}

// locale is language and region as SearXNG wants them.
func locale(q Query) string {
	if q.Language != "" && q.Region != "" {
		return strings.ToLower(q.Language) + "-" + strings.ToUpper(q.Region)
	}
	return q.Language
}

// engines lists the engines that an instance could not reach, each with the reason.
func engines(list [][]any) string {
	var said []string
	for _, e := range list {
		var parts []string
		for _, part := range e {
			if text, ok := part.(string); ok {
				parts = append(parts, text)
			}
		}
		said = append(said, strings.Join(parts, " "))
	}
	return clean(strings.Join(said, ", "))
}
