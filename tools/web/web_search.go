package web

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/web/internal/lookup"
)

//go:embed web_search.md
var webSearchDoc string

// WebSearchIn is what to search for.
type WebSearchIn struct {
	Query          string   `json:"query" jsonschema:"minLength=1,maxLength=400" jsonschema_description:"what to search for" alias:"q,search_query,keywords,search,text"`
	Limit          int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10" jsonschema_description:"most results" alias:"count,num,num_results,max_results,top_k,n"`
	Page           int      `json:"page,omitempty" jsonschema:"minimum=1,maximum=10,default=1" jsonschema_description:"page of the results"`
	Freshness      string   `json:"freshness,omitempty" jsonschema:"enum=day,enum=week,enum=month,enum=year" jsonschema_description:"only what is at most this old" alias:"time_range,recency"`
	Language       string   `json:"language,omitempty" jsonschema:"pattern=^[a-zA-Z]{2}$" jsonschema_description:"of the pages, such as de" alias:"lang"`
	Region         string   `json:"region,omitempty" jsonschema:"pattern=^[a-zA-Z]{2}$" jsonschema_description:"country to search from, such as AT" alias:"country"`
	IncludeDomains []string `json:"include_domains,omitempty" jsonschema:"maxItems=20" jsonschema_description:"only pages of these domains" alias:"sites,allowed_domains,domains"`
	ExcludeDomains []string `json:"exclude_domains,omitempty" jsonschema:"maxItems=20" jsonschema_description:"no pages of these domains" alias:"blocked_domains"`
	Backends       []string `json:"backends,omitempty" jsonschema:"enum=brave,enum=tavily,enum=exa,enum=serper,enum=searxng,enum=duckduckgo,maxItems=6" jsonschema_description:"services to ask, instead of all that are configured" alias:"engines,providers"`
}

// WebSearchOut is what was found.
type WebSearchOut struct {
	Query  string
	Hits   []lookup.Hit
	States []lookup.State
	Page   int
	Age    time.Duration // 0 = the services were asked now
	Cut    int           // hits left out by Trim
}

func webSearchTool(e *engine) tools.Tool {
	return tools.New(tools.Def[WebSearchIn, WebSearchOut]{
		Name: "web_search", Title: "Search the web", Doc: webSearchDoc, Tags: []string{"web", "search"},
		Access: tools.External, Effects: tools.Network, Repeatable: true,
		Examples: []tools.Example[WebSearchIn]{{
			Say:  "pages of the last month",
			In:   WebSearchIn{Query: "go 1.26 release notes", Freshness: "month", Limit: 2},
			Want: "2 results for \"go 1.26 release notes\" (" + outside + ")\n\n1. Go 1.26 Release Notes, 2026-02-10\nhttps://go.dev/doc/go1.26\nThe latest Go release, version 1.26, arrives in February 2026.\n\n2. What is new in Go 1.26\nhttps://blog.example.org/go126\nA tour.\n\nbrave: ok, 2",
		}},
		Run: e.webSearch,
	})
}

func (e *engine) webSearch(ctx context.Context, in WebSearchIn) (WebSearchOut, error) {
	list, err := choose(e.backends(false), in.Backends, e.settings.Now().Web.Search)
	if err != nil {
		return WebSearchOut{}, err
	}
	found, age, err := e.search(ctx, "pages", list, lookup.Query{
		Text: in.Query, Limit: in.Limit, Page: in.Page, Freshness: in.Freshness, Language: strings.ToLower(in.Language), Region: in.Region,
		Include: in.IncludeDomains, Exclude: in.ExcludeDomains,
	})
	return WebSearchOut{Query: in.Query, Hits: found.hits, States: found.states, Page: in.Page, Age: age}, err
}

// search asks services, or returns what they have answered before. It is an error if none of
// them could look.
func (e *engine) search(ctx context.Context, what string, list []lookup.Backend, q lookup.Query) (answered, time.Duration, error) {
	names := make([]string, len(list))
	for i, b := range list {
		names[i] = b.Name
	}
	key, err := json.Marshal([]any{what, names, q})
	if err != nil {
		return answered{}, 0, err
	}
	if err := ctx.Err(); err != nil {
		return answered{}, 0, err
	}
	if old, ok := e.answers.get(string(key)); ok {
		return old, max(time.Since(old.at), time.Second), nil
	}
	now := answered{key: string(key), at: time.Now()}
	now.hits, now.states = lookup.Search(ctx, e.ask, list, q)
	switch {
	case ctx.Err() != nil:
		return answered{}, 0, ctx.Err()
	case len(now.hits) > 0:
		e.answers.put(now)
	case !slices.ContainsFunc(now.states, func(s lookup.State) bool { return s.Outcome == lookup.Empty }):
		return answered{}, 0, tools.Errorf(tools.Unavailable, "no service could search: %s", stateLine(now.states)).
			WithHint("%s", wayOut(names))
	}
	return now, 0, nil
}

// wayOut says what to do if no service could search.
func wayOut(asked []string) string {
	if slices.Equal(asked, []string{"duckduckgo"}) {
		return "try again in some minutes, or let the user configure another service: set BRAVE_API_KEY, TAVILY_API_KEY, EXA_API_KEY, SERPER_API_KEY or SEARXNG_URL for the server"
	}
	return "toolcrib doctor lists the services; try again later, or name others as backends"
}

// stateLine lists how the services did.
func stateLine(states []lookup.State) string {
	parts := make([]string, len(states))
	for i, s := range states {
		parts[i] = s.Backend + ": " + string(s.Outcome)
		if s.Hits > 0 {
			parts[i] += fmt.Sprintf(", %d", s.Hits)
		}
		if s.Say != "" {
			parts[i] += " (" + s.Say + ")"
		}
	}
	return strings.Join(parts, "; ")
}

// Text implements [tools.Texter].
func (o WebSearchOut) Text() string {
	var b strings.Builder
	if len(o.Hits) == 0 {
		fmt.Fprintf(&b, "no results for %q", o.Query)
		if o.Page > 1 {
			fmt.Fprintf(&b, " on page %d", o.Page)
		}
		b.WriteByte('\n')
	} else {
		fmt.Fprintf(&b, "%s for %q (%s)", textfile.Count(len(o.Hits), "result"), o.Query, outside)
		if o.Age > 0 {
			fmt.Fprintf(&b, ", of %s ago", o.Age.Round(time.Second))
		}
		if o.Cut > 0 {
			fmt.Fprintf(&b, "; %d more left out, ask with limit=%d", o.Cut, len(o.Hits))
		}
		b.WriteByte('\n')
	}
	for i, h := range o.Hits {
		fmt.Fprintf(&b, "\n%d. %s", i+1, cmp.Or(h.Title, "(no title)"))
		if h.Date != "" {
			b.WriteString(", " + h.Date)
		}
		b.WriteString("\n" + h.URL + "\n")
		if h.Snippet != "" {
			b.WriteString(h.Snippet + "\n")
		}
	}
	b.WriteString("\n" + stateLine(o.States))
	return b.String()
}

// Trim implements [tools.Trimmer]: the last results go first.
func (o WebSearchOut) Trim(budget int) WebSearchOut {
	for len(o.Hits) > 1 && len(o.Text()) > budget {
		o.Hits = o.Hits[:len(o.Hits)-1]
		o.Cut++
	}
	return o
}
