package outbound

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"toolcrib/tools"
)

// Request is what to ask. Only URL must be set.
type Request struct {
	Method string // "" = GET
	URL    string // http or https
	// Header is sent as it is to the origin of URL. If a redirect leads to another origin,
	// only what tells no secret goes with it: Accept and the like.
	Header http.Header
	Body   []byte
	// MaxBytes bounds the body of the answer after decoding; 0 = 10 MiB.
	MaxBytes int64
	// Timeout bounds everything, from waiting for a turn to the end of the body; 0 = 30 s,
	// less = the context alone bounds it.
	Timeout time.Duration
	// Redirects is how many are followed; 0 = 5, less = none: the redirect is the answer.
	Redirects int
	// Tries is how often the request is sent if its host is overloaded or cannot be reached;
	// 0 = 3 for methods that change nothing when repeated, and 1 for others.
	Tries int
	// Delay is the time from one request to the next to the same host, for crawlers.
	Delay time.Duration
}

// Response is the answer of a server, of any status.
type Response struct {
	URL    string // where the last redirect led
	Status int
	Header http.Header // without those of the encoding
	Length int64       // of the body; -1 = not known
	// Body is decoded. Its errors are *tools.Error. The caller closes it.
	Body io.ReadCloser
}

// Do sends a request and returns the answer as soon as its headers are there. The error is a
// *tools.Error.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	res, err := c.do(ctx, r)
	if err != nil {
		return nil, err // not a nil *tools.Error
	}
	return res, nil
}

func (c *Client) do(ctx context.Context, r Request) (*Response, *tools.Error) {
	j := &journey{client: c, way: c.way(), request: r, caller: ctx, began: time.Now()}
	if err := j.prepare(); err != nil {
		return nil, err
	}
	if j.request.Timeout > 0 {
		j.ctx, j.cancel = context.WithTimeout(ctx, j.request.Timeout)
	} else {
		j.ctx, j.cancel = context.WithCancel(ctx)
	}
	res, err := j.follow()
	if err != nil {
		e := j.fail(err)
		j.cancel()
		return nil, e
	}
	return res, nil
}

// journey is one call of Do: all redirects and tries.
type journey struct {
	client  *Client
	way     *way
	request Request
	caller  context.Context
	ctx     context.Context
	cancel  context.CancelFunc
	began   time.Time
	phase   phase

	url    *url.URL // of the current hop
	target Target
	method string
	header http.Header
	body   []byte
}

func (j *journey) prepare() *tools.Error {
	r := &j.request
	if r.MaxBytes == 0 {
		r.MaxBytes = usualBytes
	}
	if r.Timeout == 0 {
		r.Timeout = usualTime
	}
	if r.Redirects == 0 {
		r.Redirects = usualRedirects
	}
	if j.method = strings.ToUpper(r.Method); j.method == "" {
		j.method = http.MethodGet
	}
	if r.Tries == 0 {
		r.Tries = 1
		if idempotent(j.method) {
			r.Tries = usualTries
		}
	}
	var err error
	if j.url, j.target, err = parseURL(r.URL, nil); err != nil {
		return tools.Errorf(tools.InvalidArgument, "%s: %v", j.way.shown(r.URL), err).WithHint("give a URL such as https://example.com/page")
	}
	if !httpguts.ValidHeaderFieldName(j.method) || j.method == http.MethodConnect {
		return tools.Errorf(tools.InvalidArgument, "%.40q is not a method of a request", j.method)
	}
	j.body, j.header = r.Body, http.Header{}
	for name, values := range r.Header {
		for _, value := range values {
			if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
				return tools.Errorf(tools.InvalidArgument, "the header %.80q or its value has a character that headers cannot have", name)
			}
			j.header.Add(name, value)
		}
	}
	j.header.Del("Host") // it is that of the URL, which was judged
	if j.header.Get("User-Agent") == "" {
		j.header.Set("User-Agent", cmp.Or(j.way.opt.Agent, "toolcrib"))
	}
	if j.header.Get("Accept-Encoding") == "" {
		j.header.Set("Accept-Encoding", encodings)
		if j.header.Get("Range") != "" { // of the encoded bytes it would be
			j.header.Set("Accept-Encoding", "identity")
		}
	}
	return nil
}

// follow sends the request and goes where its answers lead.
func (j *journey) follow() (*Response, error) {
	seen := []string{}
	for hop := 0; ; hop++ {
		res, err := j.persist()
		if err != nil {
			if no, ok := errors.AsType[*Refusal](err); ok && hop > 0 {
				no.Ask = false // nobody has named that host
			}
			return nil, err
		}
		to := res.Header.Get("Location")
		if !redirects(res.StatusCode) || to == "" || j.request.Redirects < 0 {
			return j.answer(res)
		}
		_ = res.Body.Close()
		seen = append(seen, j.method+" "+j.url.String())
		if hop == j.request.Redirects {
			return nil, tools.Errorf(tools.Unsupported, "%s: more than %d redirects", j.shown(), j.request.Redirects)
		}
		if err := j.turn(res.StatusCode, to); err != nil {
			return nil, err
		}
		if slices.Contains(seen, j.method+" "+j.url.String()) {
			return nil, tools.Errorf(tools.Unsupported, "%s: a redirect loop", j.shown())
		}
	}
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// openHeaders go along to another origin; harmless ones stay behind too, but tell no secret.
var (
	openHeaders = []string{"Accept", "Accept-Encoding", "Accept-Language", "Cache-Control", "Range", "User-Agent"}
	harmless    = []string{"Content-Type", "If-None-Match", "If-Modified-Since"}
)

// SecretHeader reports whether a header of a request may hold a secret, as any may that is not
// known to hold none.
func SecretHeader(name string) bool {
	name = http.CanonicalHeaderKey(name)
	return !slices.Contains(openHeaders, name) && !slices.Contains(harmless, name)
}

// turn directs the journey to the target of a redirect.
func (j *journey) turn(status int, to string) error {
	from := j.url
	next, target, err := parseURL(to, from)
	if err != nil {
		return tools.Errorf(tools.Denied, "%s redirects to %s: %v", j.shown(), j.way.shown(to), err)
	}
	if status == http.StatusSeeOther && j.method != http.MethodHead ||
		(status == http.StatusMovedPermanently || status == http.StatusFound) && j.method == http.MethodPost {
		j.method, j.body = http.MethodGet, nil
		j.header.Del("Content-Type")
	}
	if !sameOrigin(from, next) {
		secret := false
		for name := range j.header {
			if !slices.Contains(openHeaders, name) {
				j.header.Del(name)
				secret = secret || SecretHeader(name)
			}
		}
		switch {
		case j.body != nil:
			return tools.Errorf(tools.Denied, "%s redirects the body of the request to another origin, %s", j.shown(), j.way.shown(next.String())).
				WithHint("send it there if that is meant")
		case secret && from.Scheme == "https" && next.Scheme == "http":
			return tools.Errorf(tools.Denied, "%s redirects a request with headers of its own to plain HTTP, %s", j.shown(), j.way.shown(next.String()))
		}
	}
	j.url, j.target = next, target
	return nil
}

// sameOrigin reports whether headers for one URL may go to another: its origin, or the same
// host by TLS where it was plain HTTP.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Host == b.Host ||
		a.Scheme == "http" && b.Scheme == "https" && a.Host == b.Host && a.Port() == "" && b.Port() == ""
}

// trip is what a dial must know of the request that it is for.
type trip struct {
	journey *journey
	via     *url.URL // the machine's proxy, nil = none
	agreed  bool     // Allow has allowed the host
}

type tripKey struct{}

func tripOf(ctx context.Context) trip {
	t, _ := ctx.Value(tripKey{}).(trip)
	return t
}

// once sends the request of the current hop once. The body of the result gives the turn at
// the host back.
func (j *journey) once() (*http.Response, error) {
	j.phase.set(waiting)
	leave, err := j.client.hosts.enter(j.ctx, j.target, j.way.opt.perHost(), j.request.Delay)
	if err != nil {
		return nil, err
	}
	res, err := j.send()
	if err != nil {
		leave()
		return nil, err
	}
	res.Body = &turn{res.Body, leave}
	return res, nil
}

func (opt *Options) perHost() int {
	if opt.PerHost == 0 {
		return usualPerHost
	}
	return opt.PerHost
}

// turn is a body that ends a turn when it is closed.
type turn struct {
	io.ReadCloser
	leave func()
}

func (t *turn) Close() error {
	err := t.ReadCloser.Close()
	t.leave()
	return err
}

func (j *journey) send() (*http.Response, error) {
	this := trip{journey: j, agreed: j.way.opt.Allow != nil && j.way.opt.Allow(j.ctx, j.target)}
	if err := j.way.guard.check(j.target, this.agreed); err != nil {
		return nil, err
	}
	var err error
	if this.via, err = j.way.guard.Proxy(j.url.Scheme, j.target); err != nil {
		return nil, err
	}
	if this.via != nil {
		if err := j.way.guard.judge(j.ctx, j.target, this.agreed); err != nil {
			return nil, err
		}
	}
	ctx := httptrace.WithClientTrace(context.WithValue(j.ctx, tripKey{}, this), &httptrace.ClientTrace{
		TLSHandshakeStart: func() { j.phase.set(handshake) },
		GotConn: func(httptrace.GotConnInfo) {
			j.phase.set(sending)
			tools.Reached(j.ctx, j.target.Hostname())
		},
		WroteRequest: func(httptrace.WroteRequestInfo) { j.phase.set(heading) },
	})
	r := (&http.Request{
		Method: j.method, URL: j.url, Host: j.url.Host, Header: j.header.Clone(),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if j.body != nil {
		r.ContentLength = int64(len(j.body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(j.body)), nil }
		r.Body, _ = r.GetBody() // a reader of bytes opens without errors
	}
	return j.way.transport(this.agreed).RoundTrip(r)
}
