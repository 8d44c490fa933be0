package egress

import (
	"bufio"
	"context"
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

// connect opens a connection of a command to a host. The error is a *refused if the command
// may not reach it.
func (p *Proxy) connect(ctx context.Context, pass *Pass, t target) (net.Conn, error) {
	rules := pass.grants.extend(p.rules.Load())
	if err := pass.check(rules, t); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	via, err := rules.upstream("https", t)
	if err != nil {
		return nil, fmt.Errorf("the proxy of the machine: %w", err)
	}
	var conn net.Conn
	if via != nil {
		conn, err = rules.through(ctx, via, t)
	} else {
		conn, err = rules.direct(ctx, t)
	}
	if no, ok := errors.AsType[*refused](err); ok {
		pass.note(t.String(), no)
	}
	if err == nil {
		pass.opened()
	}
	return conn, err
}

// check returns why the command may not ask for a host, and notes the refusal.
func (p *Pass) check(rules *policy, t target) error {
	err := rules.checkName(t)
	if !p.network {
		err = &refused{why: whyOff}
	}
	if no, ok := errors.AsType[*refused](err); ok {
		p.note(t.String(), no)
	}
	return err
}

// whyOff is a part of answers to programs, which models read.
const whyOff = "the network is off for this command; network: true asks for it"

// direct resolves the name, checks all addresses and dials the first that answers. It refuses
// the host if one address is not allowed: such an answer is no accident.
func (p *policy) direct(ctx context.Context, t target) (net.Conn, error) {
	addrs := []netip.Addr{t.addr}
	if t.name != "" {
		var err error
		if addrs, err = p.opt.Lookup(ctx, t.name); err != nil {
			return nil, err
		}
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: t.name, IsNotFound: true}
	}
	addrs = addrs[:min(len(addrs), mostAddresses)]
	for _, a := range addrs {
		if err := p.checkAddress(t, a); err != nil {
			return nil, err
		}
	}
	var first error
	for i, a := range addrs {
		conn, err := p.dialOne(ctx, netip.AddrPortFrom(a.Unmap(), t.port), len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// dialOne dials one of left remaining addresses, which share the remaining time.
func (p *policy) dialOne(ctx context.Context, to netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer cancel()
	}
	return p.opt.Dial(ctx, to.String())
}

// through connects through the machine's proxy, which resolves the name. That proxy, and not
// this package, judges the addresses; checkName has checked the name.
func (p *policy) through(ctx context.Context, via *url.URL, t target) (net.Conn, error) {
	conn, err := p.toProxy(ctx, via)
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
	return &aheadConn{Conn: conn, buf: ahead}, nil
}

// toProxy connects to the machine's proxy. Its address is not checked.
func (p *policy) toProxy(ctx context.Context, via *url.URL) (net.Conn, error) {
	port := via.Port()
	switch {
	case via.Scheme != "http" && via.Scheme != "https":
		return nil, fmt.Errorf("%s proxies are not supported, only http and https", via.Scheme)
	case port == "" && via.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	conn, err := p.opt.Dial(ctx, net.JoinHostPort(via.Hostname(), port))
	if err != nil || via.Scheme == "http" {
		return conn, err
	}
	return overTLS(ctx, conn, via.Hostname())
}

func askProxy(conn net.Conn, via *url.URL, t target) (*bufio.Reader, error) {
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

// aheadConn is a connection from which some bytes have already been read.
type aheadConn struct {
	net.Conn
	buf *bufio.Reader
}

func (c *aheadConn) Read(b []byte) (int, error) { return c.buf.Read(b) }

func (c *aheadConn) CloseWrite() error { return closeWrite(c.Conn) }
