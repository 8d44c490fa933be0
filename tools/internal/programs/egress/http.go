package egress

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"toolcrib/tools/outbound"
)

// passUser is the user name of every pass; its secret is the password.
const passUser = "command"

// serveHTTP serves one request of a program: CONNECT, or any other with an absolute URL.
func (p *Proxy) serveHTTP(w http.ResponseWriter, r *http.Request) {
	gate, _ := r.Context().Value(gateKey{}).(*Gate)
	pass := gate.passOf(basicAuth(r.Header.Get("Proxy-Authorization")))
	if pass == nil {
		w.Header().Set("Proxy-Authenticate", `Basic realm="toolcrib"`)
		http.Error(w, "this proxy serves the command whose variables name it, while it runs", http.StatusProxyAuthRequired)
		return
	}
	t, err := targetOf(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	ctx, leave, err := pass.enter(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	defer leave()
	if r.Method == http.MethodConnect {
		p.serveConnect(ctx, w, pass, t)
		return
	}
	p.forward(ctx, w, r, pass, t)
}

func basicAuth(header string) (user, secret string) {
	kind, coded, _ := strings.Cut(header, " ")
	if !strings.EqualFold(kind, "basic") {
		return "", ""
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(coded))
	if err != nil {
		return "", ""
	}
	user, secret, _ = strings.Cut(string(plain), ":")
	return user, secret
}

// targetOf returns the target of a request.
func targetOf(r *http.Request) (outbound.Target, error) {
	if r.Method == http.MethodConnect {
		t, err := outbound.ParseTarget(r.RequestURI)
		if err != nil {
			return outbound.Target{}, fmt.Errorf("CONNECT %q: %w", r.RequestURI, err)
		}
		return t, nil
	}
	switch {
	case r.URL.Scheme == "" || r.URL.Host == "":
		return outbound.Target{}, errors.New("this is a proxy: a request names its whole URL")
	case r.URL.Scheme != "http":
		return outbound.Target{}, fmt.Errorf("%s is not forwarded as plain HTTP; use CONNECT", r.URL.Scheme)
	case r.URL.User != nil:
		return outbound.Target{}, errors.New("the URL has a user name; send it in a header instead")
	}
	whole := r.URL.Host
	if r.URL.Port() == "" {
		whole = strings.TrimSuffix(whole, ":") + ":80"
	}
	t, err := outbound.ParseTarget(whole)
	if err != nil {
		return outbound.Target{}, fmt.Errorf("%q: %w", r.URL.Host, err)
	}
	return t, nil
}

// serveConnect opens a tunnel. A refusal is in the status line too, because programs show
// that and rarely the body.
func (p *Proxy) serveConnect(ctx context.Context, w http.ResponseWriter, pass *Pass, t outbound.Target) {
	host, err := p.connect(ctx, pass, t)
	rc := http.NewResponseController(w)
	client, buf, hijacked := rc.Hijack()
	if hijacked != nil {
		http.Error(w, "CONNECT needs HTTP/1.1", http.StatusBadRequest)
		if err == nil {
			_ = host.Close()
		}
		return
	}
	_ = client.SetDeadline(time.Now().Add(handshakeTime))
	if err != nil {
		code, text := statusOf(err), oneLine(t.String()+": "+err.Error())
		fmt.Fprintf(client, "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
			code, text, len(text)+1, text)
		_ = client.Close()
		return
	}
	if _, err := client.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")); err != nil {
		_ = client.Close()
		_ = host.Close()
		return
	}
	tunnel(ctx, pass, rest(client, buf.Reader), host)
}

// rest returns a connection that first returns the bytes that its reader has buffered.
func rest(c net.Conn, r *bufio.Reader) net.Conn {
	if r.Buffered() == 0 {
		return c
	}
	return outbound.WithAhead(c, r)
}

func statusOf(err error) int {
	var no *outbound.Refusal
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &no):
		return http.StatusForbidden
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return http.StatusGatewayTimeout
	default:
		return http.StatusBadGateway
	}
}

// oneLine makes text fit a status line.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text[:min(len(text), 400)])
}

// forward forwards a request of plain HTTP. Each request gets a new connection, so that
// commands do not share connections.
func (p *Proxy) forward(ctx context.Context, w http.ResponseWriter, r *http.Request, pass *Pass, t outbound.Target) {
	guard := pass.reaches(p.guard.Load())
	fail := func(w http.ResponseWriter, err error) {
		http.Error(w, t.String()+": "+err.Error(), statusOf(err))
	}
	if err := pass.check(guard, t); err != nil {
		fail(w, err)
		return
	}
	via, err := guard.Proxy("http", t)
	if err != nil {
		fail(w, err)
		return
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: 256 << 10,
		ResponseHeaderTimeout:  idleTime,
		Proxy:                  func(*http.Request) (*url.URL, error) { return via, nil },
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			if via != nil {
				return p.counted(ctx, pass, t, func(ctx context.Context) (net.Conn, error) { return guard.DialProxy(ctx, address) })
			}
			conn, err := p.counted(ctx, pass, t, func(ctx context.Context) (net.Conn, error) { return guard.Direct(ctx, t) })
			if no, ok := errors.AsType[*outbound.Refusal](err); ok {
				pass.note(t.String(), no)
			}
			return conn, err
		},
	}
	defer transport.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      p.server.ErrorLog,
		Rewrite: func(out *httputil.ProxyRequest) {
			out.Out.URL.RawQuery = out.In.URL.RawQuery // as it is: it is not ours to read
			out.Out.Host = out.In.URL.Host
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { fail(w, err) },
	}
	proxy.ServeHTTP(&patient{w, http.NewResponseController(w)}, r.WithContext(ctx))
}

// counted opens a connection to a host, whose bytes are counted in the usage of a pass.
func (p *Proxy) counted(ctx context.Context, pass *Pass, t outbound.Target, dial func(context.Context) (net.Conn, error)) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := dial(ctx)
	if err != nil {
		return nil, err
	}
	pass.opened(t)
	return &countedConn{conn, pass}, nil
}

type countedConn struct {
	net.Conn
	pass *Pass
}

func (c *countedConn) Read(b []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(idleTime))
	n, err := c.Conn.Read(b)
	c.pass.received(n)
	return n, err
}

// Write counts before it writes, since the answer may come before Write returns.
func (c *countedConn) Write(b []byte) (int, error) {
	_ = c.SetWriteDeadline(time.Now().Add(idleTime))
	c.pass.sent(len(b))
	n, err := c.Conn.Write(b)
	c.pass.sent(n - len(b))
	return n, err
}

// patient extends the deadline at every write, so that a program may read slowly, but the
// connection of one that reads nothing ends.
type patient struct {
	http.ResponseWriter
	rc *http.ResponseController
}

func (w *patient) Write(b []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(time.Now().Add(idleTime))
	return w.ResponseWriter.Write(b)
}

func (w *patient) Unwrap() http.ResponseWriter { return w.ResponseWriter }
