package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"toolcrib/tools"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/page"
	"toolcrib/tools/web/internal/robots"
)

//go:embed web_crawl.md
var webCrawlDoc string

// CrawlIn says which pages to read.
type CrawlIn struct {
	URLs    []string `json:"urls,omitempty" jsonschema:"maxItems=10" jsonschema_description:"pages to read" alias:"url,url_list,links,addresses"`
	Start   string   `json:"start,omitempty" jsonschema:"maxLength=8000" jsonschema_description:"or a page to begin at, and follow its links on the same site" alias:"start_url,seed"`
	Depth   int      `json:"depth,omitempty" jsonschema:"minimum=0,maximum=2,default=1" jsonschema_description:"how many links away from start" alias:"max_depth"`
	Glob    string   `json:"glob,omitempty" jsonschema:"maxLength=400" jsonschema_description:"follow only links whose path matches, such as /docs/**" alias:"pattern"`
	Sitemap bool     `json:"sitemap,omitempty" jsonschema:"default=false" jsonschema_description:"take the pages from the sitemap of start's site instead of links"`
	Limit   int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=30,default=10" jsonschema_description:"most pages" alias:"max_pages"`
	Format  string   `json:"format,omitempty" jsonschema:"enum=markdown,enum=text,enum=links,enum=structured,default=markdown" jsonschema_description:"of each page" alias:"extract_type,output_format"`
	Main    bool     `json:"main,omitempty" jsonschema:"default=true" jsonschema_description:"only the main text of each page"`
	Query   string   `json:"query,omitempty" jsonschema:"maxLength=400" jsonschema_description:"only the sections that answer this" alias:"prompt,question"`
	Budget  int      `json:"budget,omitempty" jsonschema:"minimum=1000,maximum=45000,default=30000" jsonschema_description:"most characters of all pages together" alias:"max_chars,max_characters"`
}

// CrawlOut is what was read, a part a page.
type CrawlOut struct {
	Pages []CrawledPage
	Left  int // pages that were found and not read
	From  string
	Notes []string
	whole string // the arguments with which web_fetch reads all of a page
	parts bool   // the pages are parts that answer a query, so that no offset reads on
}

// CrawledPage is one page, or why it could not be read.
type CrawledPage struct {
	URL    string
	Status string // after the address
	Body   string
	Failed bool
}

func webCrawlTool(e *engine) tools.Tool {
	return tools.New(tools.Def[CrawlIn, CrawlOut]{
		Name: "web_crawl", Title: "Read several web pages", Doc: webCrawlDoc, Tags: []string{"web", "http", "url", "several pages", "site", "sitemap"},
		Aliases: []string{"crawl_batch"}, Foreign: severalPages(),
		Access: tools.External, Effects: tools.Network, Repeatable: true, Streams: true,
		Timeout: crawlTime + 10*time.Second,
		Redact:  redactCrawl,
		Examples: []tools.Example[CrawlIn]{{
			Say:  "two pages, one of which is not there",
			In:   CrawlIn{URLs: []string{"https://docs.example.org/kites", "https://docs.example.org/gone"}, Main: true},
			Want: "2 pages, 1 failed (" + outside + ")\n\n## https://docs.example.org/kites: Kites, 415 characters\n\n...\n\n## https://docs.example.org/gone: not_found: …",
		}},
		Run: e.webCrawl,
	})
}

// severalPages are the names of web_fetch, of which a call with several addresses means this tool.
func severalPages() (list []tools.Foreign) {
	for _, name := range []string{"web_fetch", "web_extractor", "fetch_page"} {
		for _, by := range []string{"url", "urls"} {
			list = append(list, tools.Foreign{Name: name, By: by, Several: true})
		}
	}
	return list
}

// redactCrawl keeps secrets in addresses out of records.
func redactCrawl(_ context.Context, in CrawlIn) CrawlIn {
	in.Start = outbound.Shown(in.Start)
	in.URLs = slices.Clone(in.URLs)
	for i, u := range in.URLs {
		in.URLs[i] = outbound.Shown(u)
	}
	return in
}

const (
	crawlTime = 50 * time.Second // for all pages together
	atOnce    = 5
	mostCrawl = 2000 // addresses that are remembered
	mostMaps  = 5    // sitemaps that are read
)

func (e *engine) webCrawl(ctx context.Context, in CrawlIn) (CrawlOut, error) {
	if (len(in.URLs) > 0) == (in.Start != "") {
		return CrawlOut{}, tools.Errorf(tools.InvalidArgument, "give either urls or start").WithHint("urls reads the pages that it lists; start follows links")
	}
	if in.Glob != "" && !doublestar.ValidatePattern(in.Glob) {
		return CrawlOut{}, tools.Errorf(tools.InvalidArgument, "%q is not a pattern", in.Glob).WithHint("write one such as /docs/**")
	}
	limited, cancel := context.WithTimeout(ctx, crawlTime)
	defer cancel()
	c := &crawl{e: e, in: in, ctx: limited, seen: map[string]bool{}}
	if _, err := reaching(ctx, e, func() (any, error) { return nil, c.plan() }); err != nil {
		return CrawlOut{}, err
	}
	for depth := 0; len(c.queue) > 0 && len(c.done) < in.Limit; depth++ {
		level := c.queue
		c.queue = nil
		if room := in.Limit - len(c.done); len(level) > room {
			c.left += len(level) - room
			level = level[:room]
		}
		if err := c.readAll(ctx, level, in.Start != "" && !in.Sitemap && depth < in.Depth); err != nil {
			return CrawlOut{}, err
		}
	}
	c.left += len(c.queue)
	if err := ctx.Err(); err != nil {
		return CrawlOut{}, err
	}
	out := CrawlOut{Pages: c.done, Left: c.left, From: c.from, Notes: c.notes, parts: in.Query != ""}
	if in.Format != "markdown" {
		out.whole = ", format=" + in.Format
	}
	if !in.Main {
		out.whole += ", main=false"
	}
	out.share(in.Budget)
	return out, nil
}

// crawl is one call.
type crawl struct {
	e    *engine
	in   CrawlIn
	ctx  context.Context
	site *url.URL // of start
	from string   // how the pages were found

	queue []string
	seen  map[string]bool // by their normal form
	full  bool            // seen is
	done  []CrawledPage
	left  int
	notes []string
}

// plan queues the first addresses.
func (c *crawl) plan() error {
	for _, text := range c.in.URLs {
		if u, err := address(text); err == nil {
			c.add(u)
		} else if !c.seen[text] {
			c.seen[text] = true
			c.queue = append(c.queue, text) // reading it says what is wrong
		}
	}
	c.in.Limit = max(c.in.Limit, len(c.in.URLs))
	if c.in.Start == "" {
		return nil
	}
	var err error
	if c.site, err = address(c.in.Start); err != nil {
		return err
	}
	if c.in.Sitemap {
		return c.sitemap()
	}
	c.add(c.site)
	c.from = "following links from " + shown(c.site.String())
	return nil
}

// add queues an address, unless it was queued before.
func (c *crawl) add(u *url.URL) {
	key := strings.TrimSuffix(u.Host+u.EscapedPath(), "/") + "?" + u.RawQuery
	if c.seen[key] {
		return
	}
	if len(c.seen) >= mostCrawl {
		if !c.full {
			c.full = true
			c.notes = append(c.notes, fmt.Sprintf("more than %d addresses were found: the others are not counted", mostCrawl))
		}
		return
	}
	c.seen[key] = true
	c.queue = append(c.queue, u.String())
}

// wanted reports whether an address that was found is to be read.
func (c *crawl) wanted(u *url.URL) bool {
	if u.Host != c.site.Host || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return c.in.Glob == "" || doublestar.MatchUnvalidated(c.in.Glob, u.Path)
}

// sitemap queues the pages of the site's sitemaps.
func (c *crawl) sitemap() error {
	root := c.site.Scheme + "://" + c.site.Host
	maps := []string{root + "/sitemap.xml"}
	if r, err := c.e.rulesOf(c.ctx, c.site, 0); err != nil {
		return err
	} else if r.file != nil && len(r.file.Sitemaps()) > 0 {
		maps = r.file.Sitemaps()
	}
	var failed error
	for i := 0; i < len(maps); i++ {
		if i >= mostMaps {
			c.notes = append(c.notes, textfile.Count(len(maps)-i, "more sitemap")+" not read")
			break
		}
		u, err := address(maps[i])
		if err != nil {
			c.notes = append(c.notes, fmt.Sprintf("%.200q, which is listed as a sitemap, is no URL", maps[i]))
			continue
		}
		got, err := c.e.read(c.ctx, request{url: u.String(), render: "never"})
		if err != nil {
			failed = err
			continue
		}
		text, _ := page.Decode(got.page.Body, got.page.Header.Get("Content-Type"))
		m, err := robots.ParseSitemap(text)
		if err != nil {
			failed = tools.Errorf(tools.Unsupported, "%s is no sitemap: %v", shown(u.String()), err)
			continue
		}
		if m.Cut {
			c.notes = append(c.notes, shown(u.String())+" lists more than is read")
		}
		maps = append(maps, m.Maps...)
		for _, found := range m.Pages {
			if u, err := u.Parse(found); err == nil && c.wanted(u) {
				c.add(u)
			}
		}
	}
	c.from = "from the sitemap of " + c.site.Host
	switch {
	case len(c.queue) > 0 && failed != nil:
		c.notes = append(c.notes, "not all sitemaps could be read: "+tools.AsError(failed).Msg)
		return nil
	case len(c.queue) > 0:
		return nil
	case failed != nil:
		return failed
	}
	return tools.Errorf(tools.NotFound, "the sitemap of %s has no page that matches", c.site.Host).WithHint("leave glob out, or follow links with sitemap=false")
}

// readAll reads pages, those of hosts that the user then allows too, and queues their links.
func (c *crawl) readAll(ctx context.Context, level []string, follow bool) error {
	found := c.readOnce(ctx, level, follow)
	var refused []error
	for _, f := range found {
		refused = append(refused, f.err)
	}
	switch again, err := c.e.askPrivate(ctx, refused...); {
	case err != nil:
		return err
	case again:
		for i, f := range found {
			if _, is := errors.AsType[*outbound.Refusal](f.err); is {
				found[i] = c.one(level[i], follow)
			}
		}
	}
	for _, f := range found {
		c.done = append(c.done, f.CrawledPage)
		for _, l := range f.links {
			if u, err := url.Parse(l.Href); err == nil && c.wanted(u) {
				u.Fragment = ""
				c.add(u)
			}
		}
	}
	return nil
}

// visit is a page with what is found there, or the error of reading it.
type visit struct {
	CrawledPage
	links []page.Link // if they are to be followed
	err   error
}

// readOnce reads pages, several at once and of one host two at once.
func (c *crawl) readOnce(ctx context.Context, level []string, follow bool) []visit {
	found := make([]visit, len(level))
	slots := make(chan struct{}, atOnce)
	hosts := map[string]chan struct{}{}
	for _, at := range level {
		hosts[parsed(at).Host] = make(chan struct{}, 2)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	count := len(c.done)
	for i, at := range level {
		wg.Go(func() {
			host := hosts[parsed(at).Host]
			for _, turn := range []chan struct{}{host, slots} {
				select {
				case turn <- struct{}{}:
					defer func() { <-turn }()
				case <-c.ctx.Done():
				}
			}
			found[i] = c.one(at, follow)
			mu.Lock()
			defer mu.Unlock()
			count++
			tools.Progress(ctx)(tools.ProgressEvent{Done: float64(count), Total: float64(len(c.done) + len(level)), Message: shown(at)})
		})
	}
	wg.Wait()
	return found
}

// one reads a page and, if they are to be followed, its links.
func (c *crawl) one(at string, follow bool) visit {
	p := CrawledPage{URL: shown(at)}
	fail := func(err error) visit {
		e := plain(err)
		if c.ctx.Err() != nil {
			e = tools.Errorf(tools.Timeout, "not read within the time of the call, %s", crawlTime)
		}
		p.Status, p.Failed = e.Error(), true
		return visit{CrawledPage: p, err: e}
	}
	delay := c.e.pace
	if u := parsed(at); c.e.heeds(u) {
		if r, err := c.e.rulesOf(c.ctx, u, 1); err == nil && r.file != nil {
			delay = max(delay, r.file.Delay(c.e.settings.Now().robot()))
		}
	}
	got, err := c.e.read(c.ctx, request{url: at, render: "auto", delay: delay})
	if err != nil {
		return fail(err)
	}
	t, err := got.convert(c.ctx, c.e.readers, c.in.Format, c.in.Main)
	if err != nil {
		return fail(err)
	}
	p.Status = textfile.Count(utf8.RuneCountInString(t.body), "character")
	if t.meta.Title != "" {
		p.Status = cut(t.meta.Title, 120) + ", " + p.Status
	}
	if len(t.notes) > 0 {
		p.Status += "; " + strings.Join(t.notes, "; ")
	}
	if c.in.Query != "" {
		var of string
		if t.body, of = sectionsOf(t.body, c.in.Query, c.in.Budget); t.body == "" {
			p.Status += fmt.Sprintf("; no section has a word of %q", c.in.Query)
		} else {
			p.Status += "; " + of
		}
	}
	p.Body = strings.TrimSpace(t.body)
	if !follow || !isPage(got.page) {
		return visit{CrawledPage: p}
	}
	decoded, _ := page.Decode(got.page.Body, got.page.Header.Get("Content-Type"))
	links, total := page.Parse(c.ctx, decoded, parsed(got.page.URL)).Links(mostLinks)
	if total > len(links) {
		p.Status += fmt.Sprintf("; only the first %d of its %d links are followed", len(links), total)
	}
	return visit{CrawledPage: p, links: links}
}

// share cuts the pages to a number of characters together.
func (o *CrawlOut) share(budget int) {
	bodies := make([]string, len(o.Pages))
	for i, p := range o.Pages {
		bodies[i] = p.Body
	}
	for i, share := range shares(bodies, budget) {
		head, more := first(bodies[i], share)
		if !more {
			continue
		}
		hint := fmt.Sprintf("\n[cut; web_fetch of this address reads on with offset=%d%s]", share, o.whole)
		if o.parts {
			hint = "\n[cut; web_fetch of this address with the same query reads more]"
		}
		o.Pages[i].Body = head + hint
	}
}

// Text implements [tools.Texter].
func (o CrawlOut) Text() string {
	var b strings.Builder
	failed := 0
	for _, p := range o.Pages {
		if p.Failed {
			failed++
		}
	}
	b.WriteString(textfile.Count(len(o.Pages), "page"))
	if o.From != "" {
		b.WriteString(" " + o.From)
	}
	if failed > 0 {
		fmt.Fprintf(&b, ", %d failed", failed)
	}
	if o.Left > 0 {
		fmt.Fprintf(&b, "; %d more found, a higher limit reads them", o.Left)
	}
	b.WriteString(" (" + outside + ")\n")
	for _, note := range o.Notes {
		b.WriteString(note + "\n")
	}
	for _, p := range o.Pages {
		fmt.Fprintf(&b, "\n## %s: %s\n", p.URL, strings.ReplaceAll(p.Status, ": "+p.URL+": ", ": ")) // an error names its address too
		if p.Body != "" {
			b.WriteString("\n" + p.Body + "\n")
		}
	}
	return b.String()
}

// Trim implements [tools.Trimmer].
func (o CrawlOut) Trim(budget int) CrawlOut {
	o.Pages = slices.Clone(o.Pages)
	for characters := budget; len(o.Text()) > budget && characters > 100; characters = characters * 2 / 3 {
		o.share(characters)
	}
	return o
}
