// Package outbound is the one way out over HTTP: for tools that read the web, and for the
// server where it asks a URL of its configuration. It reaches no private address unless the
// configuration or the user allows it, and bounds what it reads.
//
// [Guard] decides at every connection: names are resolved once, all addresses are judged,
// and what was judged is dialled. The proxy of sandboxed programs uses the same Guard.
// [Client.Do] follows redirects, each of which is judged as the first URL was, and decodes
// the body while it is read. [Client.Fetch] reads whole pages, with a cache in the state of
// the workspace; [Client.Snapshot] returns the page that Fetch has read before.
//
// A Client makes everything at its first use. The package imports the contract of tools, and
// must not import a category. Its errors are *tools.Error; they name the limit or the phase
// that failed, and no secret of a URL.
package outbound

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/workspace/redact"
)

// The limits of requests that set none themselves, and those that hold for all.
const (
	usualTime      = 30 * time.Second
	usualBytes     = 10 << 20
	usualRedirects = 5
	usualPerHost   = 6 // requests to a host at a time

	headerBytes = 64 << 10
	idleTime    = time.Minute // of a connection that is kept
	idleConns   = 16
)

// Options configure a Client. The zero value reaches every public host.
type Options struct {
	Rules
	// Allow reports whether the caller of ctx may reach a private host, because the user has
	// agreed to it or a job of the caller listens there; nil = no. It cannot allow
	// link-local addresses and those of clouds' metadata. Connections that it allows are used
	// for one request alone.
	Allow func(ctx context.Context, t Target) bool
	// PerHost is how many requests to one host are made at a time; 0 = 6.
	PerHost int
	// Agent is the header User-Agent of requests that have none; "" = "toolcrib".
	Agent string
	// Redactor removes secrets from errors; nil = those that look like secrets.
	Redactor *redact.Redactor
	// TLS is for servers whose certificates the system does not know; nil = none.
	TLS *tls.Config
}

// Client makes requests. Several goroutines may call its methods. The zero value has the
// zero Options.
type Client struct {
	now   atomic.Pointer[way]
	hosts hosts
	kept  memory
}

// New returns a client.
func New(opt Options) (*Client, error) {
	c := new(Client)
	return c, c.Configure(opt)
}

// To returns a client for URLs of the configuration, whose hosts may be private. Of other
// hosts it reaches public ones.
func To(urls ...string) (*Client, error) {
	rules := Rules{Search: true}
	for _, text := range urls {
		_, t, err := parseURL(text, nil)
		if err != nil {
			return nil, err
		}
		rules.Private = append(rules.Private, t.String())
	}
	return New(Options{Rules: rules})
}

// Configure sets the options of requests from now on.
func (c *Client) Configure(opt Options) error {
	guard, err := NewGuard(opt.Rules)
	if err != nil {
		return err
	}
	if old := c.now.Swap(&way{opt: opt, guard: guard}); old != nil {
		old.close()
	}
	return nil
}

// Close closes the connections that are not in use. The client can be used again.
func (c *Client) Close() {
	if w := c.now.Load(); w != nil {
		w.close()
	}
}

func (c *Client) way() *way {
	if w := c.now.Load(); w != nil {
		return w
	}
	guard, err := NewGuard(Rules{})
	if err != nil {
		panic(err) // no rule can be wrong
	}
	c.now.CompareAndSwap(nil, &way{guard: guard})
	return c.now.Load()
}

// way is a set of options with the connections that were made under it.
type way struct {
	opt   Options
	guard *Guard

	once   sync.Once
	kept   *http.Transport // whose connections any caller may use
	single *http.Transport // whose connections end with their request
}

func (w *way) transport(agreed bool) *http.Transport {
	w.once.Do(func() {
		w.kept = &http.Transport{
			Proxy:                  func(r *http.Request) (*url.URL, error) { return tripOf(r.Context()).via, nil },
			DialContext:            w.dial,
			TLSClientConfig:        w.opt.TLS,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true, // the body is decoded with bounds
			MaxResponseHeaderBytes: headerBytes,
			MaxIdleConns:           idleConns,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        idleTime,
		}
		w.single = w.kept.Clone()
		w.single.DisableKeepAlives = true
	})
	if agreed {
		return w.single
	}
	return w.kept
}

func (w *way) close() {
	w.transport(false).CloseIdleConnections()
	w.transport(true).CloseIdleConnections()
}

// dial connects for a request, whose target was checked: to the target, or to the proxy that
// the environment names for it.
func (w *way) dial(ctx context.Context, _, address string) (net.Conn, error) {
	trip := tripOf(ctx)
	if trip.via != nil {
		enter(ctx, connecting)
		return w.guard.DialProxy(ctx, address)
	}
	t, err := ParseTarget(address)
	if err != nil {
		return nil, refusedf("%s: %v", address, err)
	}
	return w.guard.direct(ctx, t, trip.agreed)
}
