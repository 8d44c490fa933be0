package web

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/browser"
	"toolcrib/tools/outbound"
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
	most    int64 // bytes of the answer; 0 = the usual
}

// reading is what was read at an address.
type reading struct {
	page     *outbound.Page
	ask      outbound.Request
	rendered bool // page is what its scripts have made of it
	renewed  bool // a further part was wanted, and the first page is no longer kept
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
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err == nil && u.Scheme != "http" && u.Scheme != "https":
		return nil, tools.Errorf(tools.InvalidArgument, "%s: only http and https are read", cut(u.Scheme, 40)).WithHint("read_file reads files of the workspace")
	case err != nil, u.Host == "":
		return nil, tools.Errorf(tools.InvalidArgument, "%.200q is not a URL", text).WithHint("give one such as https://example.com/page")
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Port() != "" && hostPort(&url.URL{Scheme: u.Scheme, Host: u.Hostname()}) == u.Host {
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	parts := strings.SplitN(u.Path, "/", 5)
	if u.Host == "github.com" && len(parts) == 5 && parts[3] == "blob" {
		u.Host, u.Path, u.RawPath = "raw.githubusercontent.com", "/"+parts[1]+"/"+parts[2]+"/"+parts[4], ""
	}
	return u, nil
}

// read fetches an address, or returns what it has fetched before. Plain HTTP is asked for
// only if the same address does not answer over TLS.
func (e *engine) read(ctx context.Context, r request) (*reading, error) {
	u, err := address(r.url)
	if err != nil {
		return nil, err
	}
	if r.header == nil {
		r.header = http.Header{}
	}
	own := len(r.header) > 0 || r.body != nil
	if own && r.render == "always" {
		return nil, tools.Errorf(tools.InvalidArgument, "a browser sends no headers and no body of yours").WithHint("leave out render, or headers and body")
	}
	if r.header.Get("Accept") == "" {
		r.header.Set("Accept", accept)
	}
	ask := outbound.Request{Method: r.method, URL: u.String(), Header: r.header, Body: r.body, Delay: r.delay, MaxBytes: r.most}
	secure := ask
	if e.upgrades(ctx, u, ask.Method) {
		secure.URL, secure.Timeout, secure.Tries = "https"+strings.TrimPrefix(ask.URL, "http"), secureTime, 1
	}
	if r.further {
		kept := e.kept(ctx, secure)
		if kept == nil && secure.URL != ask.URL {
			kept = e.kept(ctx, ask)
		}
		if kept != nil {
			return kept, nil
		}
	}
	got, err := e.get(ctx, secure)
	if err != nil && secure.URL != ask.URL && ctx.Err() == nil {
		secure = ask
		got, err = e.get(ctx, ask)
	}
	if err != nil {
		return nil, err
	}
	read := &reading{page: got, ask: secure, renewed: r.further}
	switch {
	case r.render == "never" || own || r.method != "" && r.method != http.MethodGet || !isPage(got):
	case r.render == "always":
		err = e.render(ctx, secure, read)
	case needsScripts(ctx, got):
		if err := e.render(ctx, secure, read); err != nil {
			read.notes = append(read.notes, "the page is made by scripts, which did not run: "+tools.AsError(err).Msg)
		}
	}
	return read, err
}

// file reads a file for tools that want it as it is, or returns what was read before.
func (e *engine) file(ctx context.Context, url string, most int64) (*outbound.Page, error) {
	got, err := reaching(ctx, e, func() (*reading, error) {
		return e.read(ctx, request{url: url, render: "never", further: true, most: most})
	})
	if err != nil {
		return nil, err
	}
	return got.page, nil
}

// secureTime is how long an address is asked for over TLS that was given without.
const secureTime = 10 * time.Second

// upgrades reports whether an address of plain HTTP is asked for over TLS first.
func (e *engine) upgrades(ctx context.Context, u *url.URL, method string) bool {
	return u.Scheme == "http" && u.Port() == "" && !changes(method) && !e.own(u) && !e.allowed(ctx, u)
}

// changes reports whether a method may change something at the server.
func changes(method string) bool {
	return !slices.Contains([]string{"", http.MethodGet, http.MethodHead}, method)
}

// allowed reports whether the user has allowed a host that is private.
func (e *engine) allowed(ctx context.Context, u *url.URL) bool {
	t, err := outbound.ParseTarget(hostPort(u))
	return err == nil && e.agreed(ctx, t)
}

// agreed reports whether the caller may reach a host because the user has allowed it to the
// session, or opened a port of this machine.
func (e *engine) agreed(ctx context.Context, t outbound.Target) bool {
	return e.ownPort(ctx, t) || e.grants.Of(tools.Session(ctx)).Allows(t.String())
}

// ownPort reports whether a job of the caller has opened a port of this machine for the user.
func (e *engine) ownPort(ctx context.Context, t outbound.Target) bool {
	s := tools.Session(ctx)
	return s != nil && e.opened != nil && (t.Name == "localhost" || t.Addr == loopback) && e.opened(s.Principal, int(t.Port))
}

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// get fetches a page that may be read and that is one.
func (e *engine) get(ctx context.Context, ask outbound.Request) (*outbound.Page, error) {
	if err := e.mayRead(ctx, parsed(ask.URL), ask.Tries); err != nil {
		return nil, err
	}
	got, err := e.client().Fetch(ctx, ask)
	if err != nil {
		return nil, err
	}
	if err := e.mayRead(ctx, parsed(got.URL), ask.Tries); err != nil {
		told := *tools.AsError(err)
		told.Err = nil // a refusal of this late host is not asked about: that would send the request again
		return nil, &told
	}
	return got, refused(got)
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
	plain, rendered := e.client().Snapshot(ctx, ask), e.client().Snapshot(ctx, rendering(ask))
	switch {
	case rendered != nil && (plain == nil || rendered.At.After(plain.At)):
		return &reading{page: rendered, ask: ask, rendered: true}
	case plain != nil && plain.Status < 400:
		return &reading{page: plain, ask: ask}
	}
	return nil
}

// rendering names a page after its scripts have run, as a request that is never sent.
func rendering(ask outbound.Request) outbound.Request {
	ask.Method = "RENDER"
	return ask
}

// render runs the scripts of a page.
func (e *engine) render(ctx context.Context, ask outbound.Request, read *reading) error {
	r := browser.Request{URL: read.page.URL}
	if u := parsed(read.page.URL); e.allowed(ctx, u) {
		r.Also = hostPort(u)
	}
	p, err := e.browser.Render(ctx, r)
	if err != nil {
		return err
	}
	header := http.Header{"Content-Type": {"text/html; charset=utf-8"}, "Cache-Control": read.page.Header["Cache-Control"]}
	read.page = &outbound.Page{URL: p.URL, Status: p.Status, Header: header, Body: []byte(p.HTML), At: time.Now()}
	read.rendered = true
	if !p.Settled {
		read.notes = append(read.notes, "the page was still loading after 10 s")
	}
	if len(p.Failed) > 0 {
		read.notes = append(read.notes, "the page could not load "+strings.Join(p.Failed, ", "))
	}
	if len(p.Problems) > 0 {
		read.notes = append(read.notes, "errors of its scripts: "+strings.Join(p.Problems, "; "))
	}
	e.client().Keep(ctx, rendering(ask), *read.page)
	return nil
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
	case http.StatusUnauthorized:
		code, hint = tools.Denied, "headers takes what identifies you, such as Authorization: Bearer TOKEN"
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		code = tools.Denied
	case http.StatusTooManyRequests:
		hint = "try again later"
		if after := p.Header.Get("Retry-After"); after != "" {
			if strings.Trim(after, "0123456789") == "" {
				after += " seconds"
			}
			hint = "try again after " + after
		}
	}
	say := fmt.Sprintf("%s: HTTP %d %s", shown(p.URL), p.Status, http.StatusText(p.Status))
	if challenges(p.Header) {
		return tools.Errorf(tools.Denied, "%s: the site wants a proof that a person asks", say).WithHint("web_search may find the same elsewhere")
	}
	if text := strings.TrimSpace(textOf(p)); text != "" {
		say += "; it says (" + outside + "): " + cut(text, 500)
	}
	return tools.Errorf(code, "%s", say).WithHint("%s", hint)
}

// challenges reports whether an answer says that it asks for a proof that a person asks.
func challenges(header http.Header) bool {
	for _, name := range [...]string{"Cf-Mitigated", "X-Amzn-Waf-Action", "X-Vercel-Mitigated"} {
		if v := header.Get(name); v == "challenge" || v == "captcha" {
			return true
		}
	}
	return false
}

// shown is an address in texts: without its secrets, and not too long.
func shown(address string) string { return cut(outbound.Shown(address), 300) }

// cut cuts a text to a number of characters, visibly.
func cut(text string, most int) string {
	if head, more := first(text, most); more {
		return head + "..."
	}
	return text
}

// fileName is the name that a server gives to a file: that of its header, or of its address.
func fileName(header http.Header, at string) string {
	name := ""
	if _, params, err := mime.ParseMediaType(header.Get("Content-Disposition")); err == nil {
		name = params["filename"]
	}
	if name = plainName(name); name == "" {
		u := parsed(at)
		if name = plainName(path.Base(u.Path)); name == "" || name == u.Hostname() {
			name = "download"
		}
	}
	return name
}

// plainName is the last component of a name without characters that file names should not
// have, "" if nothing is left.
func plainName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if unescaped, err := url.PathUnescape(name); err == nil && !strings.ContainsAny(unescaped, `/\`) {
		name = unescaped
	}
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"|?*`, r) || !strconv.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimLeft(strings.TrimSpace(name), ".")
	return cut(name, 120)
}
