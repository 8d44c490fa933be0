package web

import (
	"bytes"
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolcrib/tools"
	"toolcrib/tools/internal/browser"
	"toolcrib/tools/internal/text/textfile"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web/internal/feed"
	"toolcrib/tools/web/internal/page"
)

// request is an address to read, and how.
type request struct {
	url     string
	method  string // "" = GET
	header  http.Header
	body    []byte
	render  string // auto, always or never
	further bool   // a part of the page was shown: the rest must be of the same page
	delay   time.Duration
}

// reading is what was read at an address.
type reading struct {
	page     *outbound.Page
	rendered *browser.Page // nil = the scripts of the page did not run
	renewed  bool          // a further part was wanted, and the first page is no longer kept
	notes    []string
}

// accept prefers what needs no conversion.
const accept = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"

// address returns a URL as people write it as the one that is asked. Pages that only frame a
// file of source code become that file.
func address(text string) (*url.URL, error) {
	text = strings.TrimSpace(text)
	text = strings.TrimSuffix(strings.TrimPrefix(text, "<"), ">")
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return nil, tools.Errorf(tools.InvalidArgument, "%s: only http and https are read", cut(u.Scheme, 40)).WithHint("read_file reads files of the workspace")
	case err != nil, u.Host == "":
		return nil, tools.Errorf(tools.InvalidArgument, "%.200q is not a URL", text).WithHint("give one such as https://example.com/page")
	}
	u.Fragment, u.RawFragment = "", ""
	parts := strings.SplitN(u.Path, "/", 5)
	if u.Host == "github.com" && len(parts) == 5 && parts[3] == "blob" {
		u.Host, u.Path, u.RawPath = "raw.githubusercontent.com", "/"+parts[1]+"/"+parts[2]+"/"+parts[4], ""
	}
	return u, nil
}

// read fetches an address, or returns what it has fetched before.
func (e *engine) read(ctx context.Context, r request) (*reading, error) {
	u, err := address(r.url)
	if err != nil {
		return nil, err
	}
	header := r.header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Accept") == "" {
		header.Set("Accept", accept)
	}
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", e.agent())
	}
	ask := outbound.Request{Method: r.method, URL: u.String(), Header: header, Body: r.body, Delay: r.delay}
	if r.further {
		if kept := e.kept(ctx, ask); kept != nil {
			return kept, nil
		}
	}
	if err := e.mayRead(ctx, u); err != nil {
		return nil, err
	}
	got, err := e.client().Fetch(ctx, ask)
	if err != nil {
		return nil, err
	}
	read := &reading{page: got, renewed: r.further}
	if err := e.mayRead(ctx, parsed(got.URL)); err != nil {
		return nil, err
	}
	if err := refused(got); err != nil {
		return nil, err
	}
	switch {
	case r.render == "never" || r.method != "" && r.method != http.MethodGet || !isPage(got):
	case r.render == "always":
		err = e.render(ctx, ask, read)
	case needsScripts(ctx, got):
		if err := e.render(ctx, ask, read); err != nil {
			read.notes = append(read.notes, "the page is made by scripts, which did not run: "+tools.AsError(err).Msg)
		}
	}
	return read, err
}

// parsed parses an address that was parsed before.
func parsed(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil {
		return &url.URL{}
	}
	return u
}

// kept returns what the last read of the same request has found, nil = it is no longer kept.
func (e *engine) kept(ctx context.Context, ask outbound.Request) *reading {
	if read, ok := e.rendered.get(renderedKey(ctx, ask.URL)); ok {
		return &read
	}
	if p := e.client().Snapshot(ctx, ask); p != nil {
		return &reading{page: p}
	}
	return nil
}

// render runs the scripts of a page.
func (e *engine) render(ctx context.Context, ask outbound.Request, read *reading) error {
	p, err := e.browser.Render(ctx, browser.Request{URL: read.page.URL})
	if err != nil {
		return err
	}
	read.rendered = &p
	if !p.Settled {
		read.notes = append(read.notes, "the page was still loading after 10 s")
	}
	if len(p.Failed) > 0 {
		read.notes = append(read.notes, "the page could not load "+strings.Join(p.Failed, ", "))
	}
	if len(p.Problems) > 0 {
		read.notes = append(read.notes, "errors of its scripts: "+strings.Join(p.Problems, "; "))
	}
	e.rendered.put(renderedKey(ctx, ask.URL), *read)
	return nil
}

func renderedKey(ctx context.Context, url string) string {
	return tools.Session(ctx).Principal + "\x00" + url
}

// refused returns the error of an answer that is not what was asked for.
func refused(p *outbound.Page) error {
	if p.Status < 400 {
		return nil
	}
	code, hint := tools.Unavailable, ""
	switch p.Status {
	case http.StatusNotFound, http.StatusGone:
		code, hint = tools.NotFound, "web_search finds where it may be now"
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		code = tools.Denied
	case http.StatusTooManyRequests:
		hint = "try again later"
		if after := p.Header.Get("Retry-After"); after != "" {
			hint = "try again after " + after
		}
	}
	say := fmt.Sprintf("%s: HTTP %d %s", shown(p.URL), p.Status, http.StatusText(p.Status))
	if p.Header.Get("Cf-Mitigated") == "challenge" {
		return tools.Errorf(tools.Denied, "%s: the site wants a proof that a person asks", say).WithHint("web_search may find the same elsewhere")
	}
	if text := strings.TrimSpace(textOf(p)); text != "" {
		say += "; it says (" + outside + "): " + cut(text, 500)
	}
	return tools.Errorf(code, "%s", say).WithHint("%s", hint)
}

// shown is an address in texts: without what may be a secret, and not too long.
func shown(address string) string {
	u := parsed(address)
	if u.User != nil {
		u.User = url.User("redacted")
	}
	return cut(u.String(), 300)
}

// cut cuts a text to a number of characters, visibly.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "..."
		}
		n++
	}
	return text
}

// mediaType is the type that a server declares, or else that the content has.
func mediaType(p *outbound.Page) string {
	declared, _, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
	found, _, _ := mime.ParseMediaType(http.DetectContentType(p.Body)) // what it returns can be parsed
	switch {
	case err != nil, declared == "application/octet-stream", declared == "binary/octet-stream":
		return found
	case declared == "text/plain" && found == "text/html" && !strings.HasPrefix(p.Header.Get("X-Content-Type-Options"), "nosniff"):
		return found
	case strings.HasPrefix(found, "image/") && strings.HasPrefix(declared, "text/"), found == "application/pdf":
		return found
	}
	return declared
}

func isPage(p *outbound.Page) bool {
	m := mediaType(p)
	return m == "text/html" || m == "application/xhtml+xml"
}

// isText reports whether a media type is a text.
func isText(m string) bool {
	return strings.HasPrefix(m, "text/") || strings.HasSuffix(m, "+json") || strings.HasSuffix(m, "+xml") || slices.Contains([]string{
		"application/json", "application/xml", "application/javascript", "application/x-javascript", "application/ecmascript",
		"application/yaml", "application/x-yaml", "application/toml", "application/x-ndjson", "application/ld+json", "application/graphql",
		"application/x-sh", "application/sql", "application/x-www-form-urlencoded",
	}, m)
}

// textOf returns the text of any page, in short.
func textOf(p *outbound.Page) string {
	if !isPage(p) {
		if !isText(mediaType(p)) {
			return ""
		}
		text, _ := page.Decode(p.Body, p.Header.Get("Content-Type"))
		return string(text)
	}
	text, _ := page.Decode(p.Body, p.Header.Get("Content-Type"))
	return page.Parse(context.Background(), text, parsed(p.URL)).Main(context.Background()).Markdown
}

const (
	// fewLetters is how short the text of a page is that may be made by its scripts.
	fewLetters = 200
)

// needsScripts reports whether a page shows almost nothing before its scripts run.
func needsScripts(ctx context.Context, p *outbound.Page) bool {
	text, _ := page.Decode(p.Body, p.Header.Get("Content-Type"))
	if !bytes.Contains(bytes.ToLower(text), []byte("<script")) {
		return false
	}
	return utf8.RuneCountInString(page.Parse(ctx, text, parsed(p.URL)).Whole(ctx).Markdown) < fewLetters
}

// text is what was read, as a text.
type text struct {
	kind    string // page, feed, text, image or file
	media   string
	charset page.Charset
	meta    page.Meta
	body    string
	notes   []string
}

// convert makes the text of what was read in a format.
func (r *reading) convert(ctx context.Context, format string, main bool) text {
	p := r.page
	t := text{kind: "text", media: mediaType(p), notes: r.notes}
	switch {
	case isPage(p):
		t.kind = "page"
	case strings.HasPrefix(t.media, "image/") && t.media != "image/svg+xml":
		t.kind = "image"
		return t
	case !isText(t.media):
		t.kind = "file"
		return t
	}
	var decoded []byte
	if r.rendered != nil {
		decoded, t.charset = []byte(r.rendered.HTML), page.Charset{Name: "utf-8", Source: "browser"}
	} else {
		decoded, t.charset = page.Decode(p.Body, p.Header.Get("Content-Type"))
	}
	at := parsed(p.URL)
	if r.rendered != nil {
		at = parsed(r.rendered.URL)
	}
	if t.kind != "page" {
		t.body = string(decoded)
		if f, ok := feed.Parse(decoded); ok && format != "raw" {
			t.kind, t.meta.Title, t.meta.Description = "feed", f.Title, f.Description
			t.body = f.Markdown(ctx, at)
			if f.Cut {
				t.notes = append(t.notes, "the feed has more entries")
			}
		}
		return t
	}
	if format == "raw" {
		t.body = string(decoded)
		return t
	}
	parsed := page.Parse(ctx, decoded, at)
	t.meta = parsed.Meta
	doc := parsed.Whole(ctx)
	if main {
		doc = parsed.Main(ctx)
	}
	t.body = doc.Markdown
	if doc.Note != "" {
		t.notes = append(t.notes, doc.Note)
	}
	if doc.Cut {
		t.notes = append(t.notes, "something may be missing: the page is too large to be read as a whole")
	}
	return t
}

// size is the size of what was read.
func (r *reading) size() string { return textfile.Size(int64(len(r.page.Body))) }
