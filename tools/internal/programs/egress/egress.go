// Package egress connects sandboxed programs to the network. It is a forward proxy that lets
// them reach the hosts that the configuration names, and no private address.
//
// The programs of a sandbox have a private network with only a loopback device. This package
// serves, from outside, a socket that listens there: HTTP with absolute URLs, CONNECT and
// SOCKS5 on one port. Each command gets a [Pass] with a secret, which identifies it to the
// proxy. Other commands on the same loopback device cannot use the port without a secret, and
// the secret becomes invalid at the end of the command. The guard of package outbound decides
// which hosts are reached, by the addresses that are dialled.
//
// Start reading at [New], then [Gate.Serve] and [Gate.Pass]. The package imports outbound and
// no other package of toolcrib.
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

	"toolcrib/tools/outbound"
)

// Options are set by the operator of the server. The zero value lets programs reach every
// public host.
type Options struct {
	// Hosts, Private, Lookup and Dial are those of outbound.Rules.
	Hosts, Private []string
	Lookup         func(ctx context.Context, name string) ([]netip.Addr, error)
	Dial           func(ctx context.Context, address string) (net.Conn, error)
	// Upstream returns the machine's proxy for a request, nil = none. If Upstream is nil, the
	// variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY of this process decide.
	Upstream func(*http.Request) (*url.URL, error)
}

// guard returns the guard of these options.
func (opt Options) guard() (*outbound.Guard, error) {
	return outbound.NewGuard(outbound.Rules{
		Hosts: opt.Hosts, Private: opt.Private, Settings: "network",
		Proxy: opt.Upstream, Lookup: opt.Lookup, Dial: opt.Dial,
	})
}

// Check returns the errors of the options.
func (opt Options) Check() error {
	_, err := opt.guard()
	return err
}

// The limits of the proxy.
const (
	mostOfGate    = 512              // connections of a gate at a time
	mostOfPass    = 256              // connections of a command at a time
	dialTime      = 30 * time.Second // to resolve and connect
	handshakeTime = 20 * time.Second // for a client to send its request
	idleTime      = 15 * time.Minute // of a connection without a byte in either direction
	headerBytes   = 64 << 10         // of a request
)

// Proxy serves gates. Several goroutines may call its methods.
type Proxy struct {
	guard  atomic.Pointer[outbound.Guard]
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
		ErrorLog:          log.New(io.Discard, "", 0), // errors are about requests of programs
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, gateKey{}, c.(*clientConn).gate)
		},
	}
	go func() { _ = p.server.Serve(p.conns) }()
	return p, nil
}

// Configure sets the hosts that may be reached from now on. Open connections stay open.
func (p *Proxy) Configure(opt Options) error {
	guard, err := opt.guard()
	if err != nil {
		return err
	}
	p.guard.Store(guard)
	return nil
}

// Close ends all connections.
func (p *Proxy) Close() error {
	p.end()
	return p.server.Close()
}

// Bounds describes in a few words which hosts may be reached.
func (p *Proxy) Bounds() string { return p.guard.Load().Bounds() }

type gateKey struct{}

// handover is the listener of connections that speak HTTP.
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
