package web

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/web/internal/lookup"
)

//go:embed web_search.md
var webSearchDoc string

// SearchIn is what to search for.
type SearchIn struct {
	Query          string   `json:"query" jsonschema:"minLength=1,maxLength=400" jsonschema_description:"what to search for" alias:"q,search_query,keywords,search,text"`
	Limit          int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=50,default=10" jsonschema_description:"most results" alias:"count,num,num_results,max_results,top_k,n"`
	Page           int      `json:"page,omitempty" jsonschema:"minimum=1,maximum=10,default=1" jsonschema_description:"page of the results"`
	Freshness      string   `json:"freshness,omitempty" jsonschema:"enum=day,enum=week,enum=month,enum=year" jsonschema_description:"only what is at most this old" alias:"time_range,recency"`
	Language       string   `json:"language,omitempty" jsonschema:"pattern=^[a-zA-Z]{2}$" jsonschema_description:"of the pages, such as de" alias:"lang"`
	Region         string   `json:"region,omitempty" jsonschema:"pattern=^[a-zA-Z]{2}$" jsonschema_description:"country to search from, such as AT" alias:"country"`
	IncludeDomains []string `json:"include_domains,omitempty" jsonschema:"maxItems=20" jsonschema_description:"only pages of these domains" alias:"sites,allowed_domains,domains"`
	ExcludeDomains []string `json:"exclude_domains,omitempty" jsonschema:"maxItems=20" jsonschema_description:"no pages of these domains" alias:"blocked_domains"`
	Read           int      `json:"read,omitempty" jsonschema:"minimum=0,maximum=5,default=0" jsonschema_description:"also read the first so many results, and return what of them answers the query" alias:"read_results,fetch"`
	Backends       []string `json:"backends,omitempty" jsonschema:"enum=brave,enum=tavily,enum=exa,enum=serper,enum=searxng,enum=duckduckgo,maxItems=6" jsonschema_description:"services to ask, instead of all that are configured" alias:"engines,providers"`
}

// SearchOut is what was found.
type SearchOut struct {
	Found
	Texts []ReadText // of the first hits
}

// ReadText is what was read of a hit.
type ReadText struct {
	Body string
	Note string // how it was cut, or why it could not be read
}

func webSearchTool(e *engine) tools.Tool {
	return tools.New(tools.Def[SearchIn, SearchOut]{
		Name: "web_search", Title: "Search the web", Doc: webSearchDoc, Tags: []string{"web", "search", "news", "online"},
		Foreign: tools.Called("WebSearch", "websearch", "google_web_search", "search_web"),
		Access:  tools.External, Effects: tools.Network, Repeatable: true,
		Examples: []tools.Example[SearchIn]{{
			Say:  "pages of the last month",
			In:   SearchIn{Query: "go 1.26 release notes", Freshness: "month", Limit: 2},
			Want: "2 results for \"go 1.26 release notes\" (" + outside + ")\n\n1. Go 1.26 Release Notes, 2026-02-10\nhttps://go.dev/doc/go1.26\nThe latest Go release, version 1.26, arrives in February 2026.\n\n2. What is new in Go 1.26\nhttps://blog.example.org/go126\nA tour.\n\nbrave: ok, 2",
		}},
		Run: e.webSearch,
	})
}

func (e *engine) webSearch(ctx context.Context, in SearchIn) (SearchOut, error) {
	list, err := choose(e.backends(false), in.Backends, e.settings.Now().Web.Search)
	if err != nil {
		return SearchOut{}, err
	}
	out := SearchOut{}
	if out.Found, err = e.search(ctx, "pages", list, lookup.Query{
		Text: in.Query, Limit: in.Limit, Page: in.Page, Freshness: in.Freshness, Language: strings.ToLower(in.Language), Region: in.Region,
		Include: in.IncludeDomains, Exclude: in.ExcludeDomains,
	}); err != nil {
		return SearchOut{}, err
	}
	out.Texts = e.readHits(ctx, in.Query, out.Hits[:min(in.Read, len(out.Hits))])
	return out, ctx.Err()
}

const (
	readTime   = 20 * time.Second // for all hits together
	readBudget = 20_000           // characters of all hits together
)

// readHits reads the main text of hits, and what of it answers the query.
func (e *engine) readHits(ctx context.Context, query string, hits []lookup.Hit) []ReadText {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	texts, bodies := make([]ReadText, len(hits)), make([]string, len(hits))
	var wg sync.WaitGroup
	for i, h := range hits {
		wg.Go(func() {
			got, err := e.read(ctx, request{url: h.URL, render: "auto"})
			if err == nil {
				var t text
				t, err = got.convert(ctx, e.readers, "markdown", true)
				bodies[i] = strings.TrimSpace(t.body)
			}
			if err != nil {
				texts[i].Note = "not read: " + plain(err).Msg
			}
		})
	}
	wg.Wait()
	for i, share := range shares(bodies, readBudget) {
		texts[i].fit(bodies[i], query, share)
	}
	return texts
}

// fit takes what answers the query, or else the beginning, if not all of a text has room.
func (t *ReadText) fit(body, query string, room int) {
	head, more := first(body, room)
	if t.Body = head; !more {
		return
	}
	t.Note = fmt.Sprintf("the first %d of %s; web_fetch reads on with offset=%d", room, textfile.Count(utf8.RuneCountInString(body), "character"), room)
	if kept, of := sectionsOf(body, query, room); kept != "" {
		t.Body, t.Note = kept, of+"; web_fetch reads all of it"
	}
}

// Text implements [tools.Texter].
func (o SearchOut) Text() string {
	var b strings.Builder
	b.WriteString(o.Found.Text())
	for i, t := range o.Texts {
		fmt.Fprintf(&b, "\n\n## %d. %s", i+1, o.Hits[i].URL)
		if t.Note != "" {
			b.WriteString("\n(" + t.Note + ")")
		}
		if t.Body != "" {
			b.WriteString("\n\n" + t.Body)
		}
	}
	return b.String()
}

// Trim implements [tools.Trimmer]: the texts become shorter, then the last results go.
func (o SearchOut) Trim(budget int) SearchOut {
	o.Texts = slices.Clone(o.Texts)
	for room := budget; len(o.Text()) > budget && room > 100; room = room * 2 / 3 {
		bodies := make([]string, len(o.Texts))
		for i, t := range o.Texts {
			bodies[i] = t.Body
		}
		for i, share := range shares(bodies, room) {
			if head, more := first(bodies[i], share); more {
				o.Texts[i] = ReadText{head, "cut; web_fetch reads all of it"}
			}
		}
	}
	if len(o.Texts) == 0 {
		o.Found = o.Found.Trim(budget)
	}
	return o
}
