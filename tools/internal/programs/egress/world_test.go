package egress_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools/internal/programs/egress"
)

// world is a proxy with a gate, and a public network of its own: every address leads to
// one server.
type world struct {
	t    *testing.T
	at   string // of the gate
	gate *egress.Gate
	far  func(net.Conn) // serves each connection to the outside

	mu      sync.Mutex
	dialled []string
}

func newWorld(t *testing.T, opt egress.Options) *world {
	t.Helper()
	w := &world{t: t, far: answer}
	if opt.Upstream == nil {
		opt.Upstream = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	if opt.Lookup == nil {
		opt.Lookup = func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
	}
	if opt.Dial == nil {
		opt.Dial = w.dial
	}
	proxy, err := egress.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	w.gate = proxy.Gate()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.at = l.Addr().String()
	served := make(chan struct{})
	go func() { defer close(served); _ = w.gate.Serve(l) }()
	t.Cleanup(func() {
		w.gate.Close()
		l.Close()
		proxy.Close()
		<-served
	})
	return w
}

func (w *world) dial(_ context.Context, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, address)
	w.mu.Unlock()
	if strings.HasPrefix(address, "9.9.9.9") {
		return nil, errors.New("connection refused")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // real sockets: pipes cannot be closed by halves
	if err != nil {
		return nil, err
	}
	defer l.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		return nil, err
	}
	c, err := l.Accept() // before the listener is closed, which resets what it has not accepted
	if err != nil {
		return nil, errors.Join(err, near.Close())
	}
	go func() {
		defer c.Close()
		w.far(c)
	}()
	return near, nil
}

// answer is a server that answers every request with what it was asked.
func answer(c net.Conn) {
	buf := make([]byte, 64<<10)
	n, _ := c.Read(buf)
	asked, _, _ := strings.Cut(string(buf[:n]), "\r\n\r\n")
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(asked), asked)
}

// echo is a server that sends back what it gets, and ends when that ends.
func echo(c net.Conn) { _, _ = io.Copy(c, c) }

func (w *world) open() net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", w.at)
	if err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// proxyURL is where a program finds the gate.
func proxyURL(t testing.TB, pass *egress.Pass, at string) *url.URL {
	t.Helper()
	_, port, _ := net.SplitHostPort(at)
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range pass.Env(n) {
		if text, ok := strings.CutPrefix(v, "HTTPS_PROXY="); ok {
			u, err := url.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			return u
		}
	}
	t.Fatal("there is no HTTPS_PROXY")
	return nil
}

// secretOf is the user name and password of a pass.
func secretOf(pass *egress.Pass) (user, secret string) {
	for _, v := range pass.Env(1) {
		if text, ok := strings.CutPrefix(v, "HTTPS_PROXY="); ok {
			u, _ := url.Parse(text)
			secret, _ = u.User.Password()
			return u.User.Username(), secret
		}
	}
	return "", ""
}

// authorization is the header that a program sends for a pass.
func authorization(pass *egress.Pass) string {
	user, secret := secretOf(pass)
	return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+secret)) + "\r\n"
}

// socksTo asks for a host by SOCKS 5.
func socksTo(conn net.Conn, pass *egress.Pass, host string, port uint16) error {
	user, secret := secretOf(pass)
	if _, err := conn.Write([]byte{5, 2, 0, 2}); err != nil {
		return err
	}
	var chosen [2]byte
	if _, err := io.ReadFull(conn, chosen[:]); err != nil || chosen[1] != 2 {
		return fmt.Errorf("method %d: %w", chosen[1], err)
	}
	hello := append([]byte{1, byte(len(user))}, user...)
	hello = append(append(hello, byte(len(secret))), secret...)
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, chosen[:]); err != nil || chosen[1] != 0 {
		return errors.Join(fmt.Errorf("password: %d", chosen[1]), err)
	}
	req := []byte{5, 1, 0}
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" {
		kind := byte(1)
		if a.Is6() {
			kind = 4
		}
		req = append(append(req, kind), a.AsSlice()...)
	} else {
		req = append(append(req, 3, byte(len(host))), host...)
	}
	if _, err := conn.Write(append(req, byte(port>>8), byte(port))); err != nil {
		return err
	}
	var reply [10]byte
	if _, err := io.ReadFull(conn, reply[:]); err != nil {
		return err
	}
	if reply[1] != 0 {
		return fmt.Errorf("reply %d", reply[1])
	}
	return nil
}
