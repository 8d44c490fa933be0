package outbound

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"
)

// mostAddresses is how many addresses of a name are checked.
const mostAddresses = 32

// Connect opens a connection to a host, through the machine's proxy if there is one. The
// error is a *Refusal if the host may not be reached. The caller must have called Check.
func (g *Guard) Connect(ctx context.Context, t Target) (net.Conn, error) {
	via, err := g.Proxy("https", t)
	if err != nil {
		return nil, err
	}
	if via != nil {
		return g.through(ctx, via, t)
	}
	return g.Direct(ctx, t)
}

// Proxy returns the machine's proxy for a host, nil = none.
func (g *Guard) Proxy(scheme string, t Target) (*url.URL, error) {
	via, err := g.rules.Proxy(&http.Request{URL: &url.URL{Scheme: scheme, Host: t.String()}})
	if err != nil {
		return nil, fmt.Errorf("the proxy of the machine: %w", err)
	}
	return via, nil
}

// Direct resolves the name, checks all addresses and dials the first that answers. It refuses
// the host if one address is not allowed: such an answer is no accident.
func (g *Guard) Direct(ctx context.Context, t Target) (net.Conn, error) {
	return g.direct(ctx, t, false)
}

func (g *Guard) direct(ctx context.Context, t Target, agreed bool) (net.Conn, error) {
	addrs, err := g.addresses(ctx, t, agreed)
	if err != nil {
		return nil, err
	}
	enter(ctx, connecting)
	var first error
	for i, a := range addrs {
		conn, err := g.dialOne(ctx, netip.AddrPortFrom(a.Unmap(), t.Port), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// addresses returns the addresses of a host, all of them allowed.
func (g *Guard) addresses(ctx context.Context, t Target, agreed bool) ([]netip.Addr, error) {
	addrs := []netip.Addr{t.Addr}
	if t.Name != "" {
		enter(ctx, resolving)
		var err error
		if addrs, err = g.rules.Lookup(ctx, t.Name); err != nil {
			return nil, err
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: t.Name, IsNotFound: true}
	}
	addrs = addrs[:min(len(addrs), mostAddresses)]
	for _, a := range addrs {
		if err := g.checkAddress(t, a, agreed); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

// judgeTime is how long the addresses are asked for that a proxy would connect to.
const judgeTime = time.Second

// judge checks the addresses of a host that the machine's proxy connects to. The proxy
// resolves the name itself, and some machines can resolve no name: without an answer the
// proxy alone judges.
func (g *Guard) judge(ctx context.Context, t Target, agreed bool) error {
	ctx, cancel := context.WithTimeout(ctx, judgeTime)
	defer cancel()
	_, err := g.addresses(ctx, t, agreed)
	if _, ok := errors.AsType[*Refusal](err); ok {
		return err
	}
	return nil
}

// dialOne dials one of left remaining addresses, which share the remaining time.
func (g *Guard) dialOne(ctx context.Context, to netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	return g.rules.Dial(ctx, to.String())
}

// DialProxy connects to the HOST:PORT of the machine's proxy. Its address is not checked.
func (g *Guard) DialProxy(ctx context.Context, address string) (net.Conn, error) {
	return g.rules.Dial(ctx, address)
}

// through connects through the machine's proxy, which resolves the name. That proxy, and not
// this package, judges the addresses; Check has checked the name.
func (g *Guard) through(ctx context.Context, via *url.URL, t Target) (net.Conn, error) {
	conn, err := g.toProxy(ctx, via)
	if err != nil {
		return nil, fmt.Errorf("the proxy of the machine, %s: %w", via.Host, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	ahead, err := askProxy(conn, via, t)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the proxy of the machine, %s: %w", via.Host, err)
	}
	return WithAhead(conn, ahead), nil
}

func (g *Guard) toProxy(ctx context.Context, via *url.URL) (net.Conn, error) {
	port := via.Port()
	switch {
	case via.Scheme != "http" && via.Scheme != "https":
		return nil, fmt.Errorf("%s proxies are not supported, only http and https", via.Scheme)
	case port == "" && via.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	conn, err := g.DialProxy(ctx, net.JoinHostPort(via.Hostname(), port))
	if err != nil || via.Scheme == "http" {
		return conn, err
	}
	secure := tls.Client(conn, &tls.Config{ServerName: via.Hostname()})
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

func askProxy(conn net.Conn, via *url.URL, t Target) (*bufio.Reader, error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: t.String()}, Host: t.String(), Header: http.Header{}}
	if u := via.User; u != nil {
		secret, _ := u.Password()
		req.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+secret)))
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	ahead := bufio.NewReader(conn)
	resp, err := http.ReadResponse(ahead, req)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close() // of CONNECT, which has none
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New("it answers " + strconv.Quote(resp.Status))
	}
	return ahead, nil
}

// WithAhead returns a connection that first returns the bytes that a reader of it has
// buffered.
func WithAhead(c net.Conn, ahead *bufio.Reader) net.Conn { return &aheadConn{Conn: c, buf: ahead} }

type aheadConn struct {
	net.Conn
	buf *bufio.Reader
}

func (c *aheadConn) Read(b []byte) (int, error) { return c.buf.Read(b) }

// CloseWrite signals the end of data to the other side.
func (c *aheadConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
