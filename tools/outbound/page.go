package outbound

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/diskcache"
)

// SnapshotTime is how long a page can be read on as it was, from its last use.
const SnapshotTime = 15 * time.Minute

// mostFresh is how long a page is used without asking its server, whatever that says.
const mostFresh = 24 * time.Hour

// Page is a whole answer. Its Header and Body must not be changed.
type Page struct {
	URL    string // where the last redirect led
	Status int
	Header http.Header // without those of the encoding
	Body   []byte      // decoded
	At     time.Time   // when it was read, or last confirmed by its server
	Cached bool        // the body was read before
}

// Fetch returns the whole answer to a request. It comes from the cache while its server says
// that it is fresh, or if its server confirms it. The cache is the one of the workspace and
// of the principal of the call.
func (c *Client) Fetch(ctx context.Context, r Request) (*Page, error) {
	w := c.way()
	k, err := keyOf(ctx, r)
	if err != nil {
		return nil, tools.Errorf(tools.InvalidArgument, "%s: %v", w.shown(r.URL), err).WithHint("give a URL such as https://example.com/page")
	}
	old := c.load(ctx, k)
	if old != nil && old.fresh() {
		old.page.Cached = true
		return &old.page, nil
	}
	if old != nil && !old.validates(r) {
		old = nil
	}
	for {
		asked := r
		if old != nil {
			asked.Header = old.conditions(r.Header)
		}
		got, err := c.Do(ctx, asked)
		if err != nil {
			return nil, err
		}
		if old == nil || got.Status != http.StatusNotModified {
			return c.read(ctx, k, r, got)
		}
		_ = got.Body.Close()
		if got.URL == old.page.URL {
			return c.confirmed(ctx, k, old, got.Header), nil
		}
		old = nil // the redirect leads elsewhere now: the confirmation is of another page
	}
}

// Snapshot returns what the last Fetch of the same request has returned, without a word to
// its server; nil if it was last used more than SnapshotTime ago or is no longer kept. It is
// for reading on in a page of which the first part was shown.
func (c *Client) Snapshot(ctx context.Context, r Request) *Page {
	k, err := keyOf(ctx, r)
	if err != nil {
		return nil
	}
	kept := c.load(ctx, k)
	if kept == nil || time.Since(kept.used) > SnapshotTime {
		return nil
	}
	kept.page.Cached = true
	return &kept.page
}

// Keep keeps a page that was made of an answer, for Snapshot of the same request: one that is
// never sent. The header of p says as that of the answer whether it must not be written to
// disk.
func (c *Client) Keep(ctx context.Context, r Request, p Page) {
	k, err := keyOf(ctx, r)
	if err != nil {
		return // what was answered has a URL
	}
	_, secret := directives(p.Header)["no-store"]
	c.store(ctx, k, &kept{page: p, secret: secret})
}

// read reads the body of an answer, and keeps the page.
func (c *Client) read(ctx context.Context, k key, r Request, got *Response) (*Page, error) {
	defer got.Body.Close()
	data, err := io.ReadAll(got.Body)
	if err != nil {
		return nil, err
	}
	p := Page{URL: got.URL, Status: got.Status, Header: got.Header.Clone(), Body: data, At: time.Now()}
	p.Header.Del("Set-Cookie")
	_, secret := directives(got.Header)["no-store"]
	for name := range r.Header {
		secret = secret || SecretHeader(name) // the answer may repeat it
	}
	c.store(ctx, k, &kept{page: p, until: freshUntil(r.Method, p), secret: secret})
	return &p, nil
}

// confirmed keeps and returns a page that its server has confirmed.
func (c *Client) confirmed(ctx context.Context, k key, old *kept, header http.Header) *Page {
	p := old.page
	p.Header = p.Header.Clone()
	for name, values := range header {
		if name != "Set-Cookie" && !strings.HasPrefix(name, "Content-") {
			p.Header[name] = values
		}
	}
	p.At = time.Now()
	c.store(ctx, k, &kept{page: p, until: freshUntil(http.MethodGet, p), secret: old.secret})
	p.Cached = true
	return &p
}

// kept is a page of the cache.
type kept struct {
	page   Page
	until  time.Time // it is fresh
	used   time.Time // last, before this use
	secret bool      // it must not be written to disk
}

func (k *kept) fresh() bool { return time.Now().Before(k.until) }

// validates reports whether the server can confirm the page.
func (k *kept) validates(r Request) bool {
	if !reads(r.Method) || k.page.Status != http.StatusOK {
		return false
	}
	for _, name := range [...]string{"If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	return k.page.Header.Get("ETag") != "" || k.page.Header.Get("Last-Modified") != ""
}

// conditions adds the conditions under which the server need not send the page again.
func (k *kept) conditions(header http.Header) http.Header {
	out := header.Clone()
	if out == nil {
		out = http.Header{}
	}
	if tag := k.page.Header.Get("ETag"); tag != "" {
		out.Set("If-None-Match", tag)
	}
	if at := k.page.Header.Get("Last-Modified"); at != "" {
		out.Set("If-Modified-Since", at)
	}
	return out
}

func reads(method string) bool { return method == "" || strings.EqualFold(method, http.MethodGet) }

// freshUntil returns how long a page may be used without asking its server (RFC 9111, 4.2).
// A server that says nothing is asked each time: an agent looks at what it has just changed.
func freshUntil(method string, p Page) time.Time {
	if !reads(method) || p.Status != http.StatusOK {
		return time.Time{}
	}
	control := directives(p.Header)
	for _, never := range [...]string{"no-store", "no-cache"} {
		if _, ok := control[never]; ok {
			return time.Time{}
		}
	}
	life := time.Duration(0)
	if text, ok := control["max-age"]; ok {
		if n, err := strconv.ParseUint(text, 10, 31); err == nil {
			life = time.Duration(n) * time.Second
		}
	} else if at, err := http.ParseTime(p.Header.Get("Expires")); err == nil {
		made := p.At
		if date, err := http.ParseTime(p.Header.Get("Date")); err == nil {
			made = date
		}
		life = at.Sub(made)
	}
	if age, err := strconv.ParseUint(p.Header.Get("Age"), 10, 31); err == nil {
		life -= time.Duration(age) * time.Second
	}
	return p.At.Add(min(life, mostFresh))
}

// directives reads Cache-Control.
func directives(header http.Header) map[string]string {
	out := map[string]string{}
	for _, line := range header.Values("Cache-Control") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			out[strings.ToLower(name)] = strings.Trim(value, `"`)
		}
	}
	return out
}

// key names a page: it is a hash of the principal and the request.
type key = diskcache.Key

func keyOf(ctx context.Context, r Request) (key, error) {
	u, _, err := parseURL(r.URL, nil)
	if err != nil {
		return key{}, err
	}
	principal := ""
	if s := tools.Session(ctx); s != nil {
		principal = s.Principal
	}
	method := strings.ToUpper(r.Method)
	if reads(method) {
		method = http.MethodGet
	}
	var header [][]string
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		header = append(header, append([]string{http.CanonicalHeaderKey(name)}, r.Header[name]...))
	}
	text, err := json.Marshal([]any{principal, method, u.String(), header, r.Body})
	return sha256.Sum256(text), err
}
