// Package egress is the way of contained programs to the network: a forward proxy that
// lets them reach the hosts that the configuration names, and no private address.
//
// Programs of a sandbox have a network of their own with nothing in it but a loopback
// device. On it listens a socket whose other end this package serves, from outside: HTTP
// with absolute URLs, CONNECT and SOCKS5 on one port. Each command gets a [Pass], by whose
// secret the proxy knows it: commands beside it on the same loopback device gain nothing
// from the port, and the secret dies with the command. Names are resolved here, every
// address is looked at, and what was looked at is dialled, so that no answer of a name
// server can change in between.
//
// Start reading at [New], then [Gate.Serve] and [Gate.Pass]. The package imports nothing
// of toolcrib.
package egress

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"
)

// Options is what whoever starts the server sets. The zero value lets programs reach
// every public host.
type Options struct {
	// Hosts are the only ones that may be reached: "example.com", "*.example.com" (all
	// below it), "example.com:443", an address or a prefix of addresses. Empty = all.
	Hosts []string
	// Private are the hosts that may be reached though their addresses are private, in
	// the same forms; "*" = all. A name allows no link-local address: these, where the
	// metadata of clouds are, are allowed as addresses only.
	Private []string
	// Upstream is the machine's own proxy for a request, nil for none; nil = as the
	// variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY of this process say.
	Upstream func(*http.Request) (*url.URL, error)
	// Lookup resolves a name; nil = the resolver of the machine.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Dial connects to an address; nil = over TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// The limits of the proxy.
const (
	mostOfGate    = 512              // connections of a gate at a time
	mostOfPass    = 256              // connections of a command at a time
	dialTime      = 30 * time.Second // to resolve and connect
	handshakeTime = 20 * time.Second // for a client to say what it wants
	idleTime      = 15 * time.Minute // without a byte in either direction
	headerBytes   = 64 << 10         // of a request
)

// Proxy serves gates. Its methods may be called by several goroutines.
type Proxy struct {
	rules  atomic.Pointer[policy]
	server *http.Server
	conns  *handover
	life   context.Context // ends with the proxy
	end    context.CancelFunc
}

// New makes a Proxy. Close ends it.
func New(opt Options) (*Proxy, error) {
	p := new(Proxy)
	if err := p.Configure(opt); err != nil {
		return nil, err
	}
	p.life, p.end = context.WithCancel(context.Background())
	p.conns = &handover{conns: make(chan net.Conn), closed: p.life.Done()}
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.serveHTTP),
		ReadHeaderTimeout: handshakeTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(io.Discard, "", 0), // of what programs send
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, gateKey{}, c.(*clientConn).gate)
		},
	}
	go func() { _ = p.server.Serve(p.conns) }()
	return p, nil
}

// Configure sets what may be reached from now on. Connections that are open stay.
func (p *Proxy) Configure(opt Options) error {
	rules, err := newPolicy(opt)
	if err != nil {
		return err
	}
	p.rules.Store(rules)
	return nil
}

// Close ends all connections.
func (p *Proxy) Close() error {
	p.end()
	return p.server.Close()
}

// Bounds says in a few words what may be reached.
func (p *Proxy) Bounds() string { return p.rules.Load().bounds() }

type gateKey struct{}

// handover is the listener of connections that turned out to speak HTTP.
type handover struct {
	conns  chan net.Conn
	closed <-chan struct{}
}

func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *handover) give(c net.Conn) bool {
	select {
	case h.conns <- c:
		return true
	case <-h.closed:
		return false
	}
}

func (h *handover) Close() error { return nil }

func (h *handover) Addr() net.Addr { return &net.TCPAddr{} }
