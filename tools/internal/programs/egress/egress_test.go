package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/programs/egress"
)

// client is a program that goes by its variables.
func (w *world) client(pass *egress.Pass) *http.Client {
	at := proxyURL(w.t, pass, w.at)
	transport := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return at, nil }}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

func get(t *testing.T, c *http.Client, at string) (status int, body string) {
	t.Helper()
	resp, err := c.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func TestPlain(t *testing.T) {
	w := newWorld(t, egress.Options{})
	pass := w.gate.Pass(true, nil)
	status, asked := get(t, w.client(pass), "http://Example.com:8080/a?b=c;d&%zz")
	if status != 200 || !strings.HasPrefix(asked, "GET /a?b=c;d&%zz HTTP/1.1\r\nHost: Example.com:8080\r\n") {
		t.Errorf("%d: %s", status, asked)
	}
	if strings.Contains(asked, "Proxy-") || strings.Contains(asked, "Forwarded") {
		t.Errorf("the request shows the proxy: %s", asked)
	}
	if diff := cmp.Diff([]string{"8.8.8.8:8080"}, w.dialled); diff != "" {
		t.Error(diff)
	}
	use := pass.Usage()
	if use.Connections != 1 || use.Sent == 0 || use.Received == 0 || use.Refused != 0 {
		t.Errorf("usage: %+v", use)
	}
}

func TestTunnels(t *testing.T) {
	sent := make([]byte, 3<<20)
	rand.Read(sent)
	for _, way := range []string{"connect", "socks"} {
		t.Run(way, func(t *testing.T) {
			w := newWorld(t, egress.Options{})
			w.far = echo
			pass := w.gate.Pass(true, nil)
			conn := w.tunnel(way, pass, "example.com")
			defer conn.Close()
			go func() {
				_, _ = conn.Write(sent)
				_ = conn.(interface{ CloseWrite() error }).CloseWrite() // the rest must still come back
			}()
			got, err := io.ReadAll(conn)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d of %d bytes: %v", len(got), len(sent), err)
			}
			pass.Close()
			if use := pass.Usage(); use.Sent != int64(len(sent)) || use.Received != int64(len(sent)) || use.Connections != 1 {
				t.Errorf("usage: %+v", use)
			}
			if diff := cmp.Diff(pass.Usage(), w.gate.Usage()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// tunnel opens a tunnel to port 443 of a host.
func (w *world) tunnel(way string, pass *egress.Pass, host string) net.Conn {
	w.t.Helper()
	conn := w.open()
	if way == "socks" {
		if err := socksTo(conn, pass, host, 443); err != nil {
			w.t.Fatal(err)
		}
		return conn
	}
	fmt.Fprintf(conn, "CONNECT %s:443 HTTP/1.1\r\nHost: %s:443\r\n%s\r\n", host, host, authorization(pass))
	r := bufio.NewReader(conn)
	resp, err := http.ReadResponse(r, nil)
	if err != nil || resp.StatusCode != 200 || r.Buffered() > 0 {
		w.t.Fatal(resp, err)
	}
	resp.Body.Close()
	return conn
}

// TestBytesAhead sends the first bytes of a tunnel with the request for it.
func TestBytesAhead(t *testing.T) {
	w := newWorld(t, egress.Options{})
	w.far = echo
	conn := w.open()
	defer conn.Close()
	fmt.Fprintf(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n%s\r\nahead", authorization(w.gate.Pass(true, nil)))
	const established = "HTTP/1.1 200 Connection established\r\n\r\n"
	got := make([]byte, len(established+"ahead"))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != established+"ahead" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPass shows that the port alone is worth nothing, nor a pass that is another's, has
// ended or is for a command without the network.
func TestPass(t *testing.T) {
	w := newWorld(t, egress.Options{})
	other, off, over := newWorld(t, egress.Options{}).gate.Pass(true, nil), w.gate.Pass(false, nil), w.gate.Pass(true, nil)
	over.Close()
	for name, c := range map[string]struct {
		pass *egress.Pass
		want string
	}{
		"of another gate": {other, "407"},
		"ended":           {over, "407"},
		"network off":     {off, "403 example.com:443: the network is off for this command; network: true asks for it"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := w.open()
			defer conn.Close()
			fmt.Fprintf(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n%s\r\n", authorization(c.pass))
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if !strings.HasPrefix(resp.Status, c.want) {
				t.Errorf("got %s, want %s", resp.Status, c.want)
			}
			if status, _ := get(t, w.client(c.pass), "http://example.com/"); !strings.HasPrefix(c.want, fmt.Sprint(status)) {
				t.Errorf("plain: %d, want %s", status, c.want)
			}
			if err := socksTo(w.open(), c.pass, "example.com", 443); err == nil {
				t.Error("SOCKS lets it through")
			}
		})
	}
	for _, header := range []string{"", "Proxy-Authorization: Basic !!\r\n", "Proxy-Authorization: Bearer x\r\n", "Authorization: " + strings.TrimPrefix(authorization(w.gate.Pass(true, nil)), "Proxy-Authorization: ")} {
		conn := w.open()
		fmt.Fprintf(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n%s\r\n", header)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusProxyAuthRequired || resp.Header.Get("Proxy-Authenticate") == "" {
			t.Errorf("%q: %s", header, resp.Status)
		}
		conn.Close()
	}
	if len(w.dialled) > 0 {
		t.Errorf("dialled: %s", w.dialled)
	}
	if got := off.Told(); got != "the network is off; it asked for example.com:443, example.com:80; network: true asks for it" {
		t.Errorf("told: %s", got)
	}
}

// The hosts that a command has reached are told, in each way, and no others.
func TestTold(t *testing.T) {
	w := newWorld(t, egress.Options{Hosts: []string{"*.example.com", "8.8.8.8"}})
	var told []string
	for _, way := range []string{"connect", "plain", "socks"} {
		pass := w.gate.Pass(true, nil)
		pass.Tell(func(host string) { told = append(told, way+" "+host) })
		for host, want := range map[string]bool{"A.example.com": true, "other.test": false} {
			if got := w.askOpen(pass, way, host); (got == "reached") != want {
				t.Errorf("%s %s: %s", way, host, got)
			}
		}
		if got := w.askOpen(pass, way, "8.8.8.8"); got != "reached" {
			t.Errorf("%s: %s", way, got)
		}
		pass.Close()
	}
	want := []string{"connect a.example.com", "connect 8.8.8.8", "plain a.example.com", "plain 8.8.8.8", "socks a.example.com", "socks 8.8.8.8"}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

// TestEnd shows that the connections of a command end with it, and those of another one
// do not.
func TestEnd(t *testing.T) {
	w := newWorld(t, egress.Options{})
	w.far = echo
	pass, other := w.gate.Pass(true, nil), w.gate.Pass(true, nil)
	kept := w.tunnel("connect", other, "example.com")
	defer kept.Close()
	var open []net.Conn
	for range 10 {
		open = append(open, w.tunnel("connect", pass, "example.com"), w.tunnel("socks", pass, "example.com"))
	}
	pass.Close()
	for _, c := range open {
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a tunnel outlives its command: %v", err)
		}
		c.Close()
	}
	fmt.Fprint(kept, "x")
	if _, err := io.ReadFull(kept, make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

func TestRules(t *testing.T) {
	private := func(_ context.Context, name string) ([]netip.Addr, error) {
		switch {
		case strings.HasPrefix(name, "meta."):
			return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
		case strings.HasSuffix(name, ".corp.test"):
			return []netip.Addr{netip.MustParseAddr("10.1.2.3")}, nil
		default:
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		}
	}
	for _, c := range []struct{ hosts, private, yes, no string }{
		{"", "", "a.test 8.8.8.8", "a.corp.test 10.1.2.3 meta.test"},
		{"a.test", "", "a.test A.test.", "b.a.test b.test xa.test 8.8.8.8 a.corp.test"},
		{"*.a.test", "", "b.a.test c.b.a.test", "a.test xa.test"},
		{"a.test:80 b.test:8080", "", "a.test", "b.test"},
		{"8.8.8.8", "", "8.8.8.8", "8.8.4.4 a.test"},
		{"8.8.0.0/16", "", "8.8.8.8 8.8.4.4", "a.test"},
		{"*:80", "", "a.test", "a.corp.test"},
		{"a.corp.test", "", "", "a.corp.test"},
		{"", "a.corp.test", "a.corp.test b.test", "b.corp.test 10.1.2.3"},
		{"a.test", "a.corp.test", "a.test a.corp.test", "b.test"},
		{"", "*.corp.test:80", "a.corp.test", "10.1.2.3"},
		{"", "*.corp.test:81", "", "a.corp.test"},
		{"", "10.0.0.0/8", "10.1.2.3 a.corp.test a.test", "10.1.2.3.nip.corp.test. 192.168.1.1 127.0.0.1"},
		{"a.test", "10.1.2.3", "10.1.2.3 a.test", "a.corp.test"},
		{"", "localhost", "localhost", "127.0.0.1"},
		{"", "127.0.0.1:80", "127.0.0.1", "127.0.0.2"},
		{"", "*", "10.1.2.3 a.corp.test 127.0.0.1 localhost a.internal", "meta.test 169.254.169.254 0.0.0.0 100.100.100.200"},
		{"", "169.254.169.254", "169.254.169.254 meta.test", "169.254.169.253"},
		{"", "[fd00::7]:80 fd00:1::/32", "[fd00::7] [fd00:1::9]", "[fd00::8]"},
	} {
		t.Run(c.hosts+" "+c.private, func(t *testing.T) {
			if strings.Contains(c.no, "nip") {
				c.no = strings.ReplaceAll(c.no, "10.1.2.3.nip.corp.test. ", "")
			}
			w := newWorld(t, egress.Options{Hosts: strings.Fields(c.hosts), Private: strings.Fields(c.private), Lookup: private})
			for host := range strings.FieldsSeq(c.yes) {
				if got := w.ask("connect", host); got != "reached" {
					t.Errorf("%s: %s", host, got)
				}
			}
			for host := range strings.FieldsSeq(c.no) {
				if got := w.ask("connect", host); !strings.HasPrefix(got, "403 ") {
					t.Errorf("%s: %s", host, got)
				}
			}
		})
	}
}

func TestRulesThatAreNone(t *testing.T) {
	for _, c := range []struct{ host, private, want string }{
		{"http://a.test", "", "is a URL; give a host"},
		{"a.test/x", "", "is not a host"},
		{"a.*.test", "", "is not a host"},
		{"a.test:0", "", "the port must be a number"},
		{"*.8.8.8.8", "", "is not a host"},
		{"ü.test", "", "is not a host"},
		{"10.0.0.1/8", "", "the network is 10.0.0.0/8"},
		{"10.0.0.5", "", "must be named among the private hosts"},
		{"", "127.1", "private hosts of the network: \"127.1\" is not a host"},
	} {
		var opt egress.Options
		if c.host != "" {
			opt.Hosts = []string{c.host}
		}
		if c.private != "" {
			opt.Private = []string{c.private}
		}
		if _, err := egress.New(opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s%s: got %v, want %s", c.host, c.private, err, c.want)
		}
	}
}

// TestUpstream goes by way of the machine's own proxy, which is private, as it will be.
func TestUpstream(t *testing.T) {
	var asked []string
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.RequestURI+" "+r.Header.Get("Proxy-Authorization"))
		switch {
		case r.RequestURI == "no.test:443":
			http.Error(w, "not this one", http.StatusForbidden)
		case r.Method != http.MethodConnect:
			fmt.Fprint(w, "plain")
		default:
			conn, _, _ := http.NewResponseController(w).Hijack()
			fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\nfirst") // some hosts speak first
			conn.Close()
		}
	}))
	defer far.Close()
	at, _ := url.Parse(far.URL)
	at.User = url.UserPassword("me", "word")
	w := newWorld(t, egress.Options{
		Upstream: func(r *http.Request) (*url.URL, error) {
			if r.URL.Hostname() == "direct.test" {
				return nil, nil
			}
			return at, nil
		},
		Dial: func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		},
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return nil, errors.New("this machine cannot resolve the names of the world")
		},
	})
	pass := w.gate.Pass(true, nil)
	conn := w.tunnel("socks", pass, "example.com")
	defer conn.Close()
	if got, err := io.ReadAll(conn); string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if status, body := get(t, w.client(pass), "http://example.com/x"); status != 200 || body != "plain" {
		t.Errorf("%d %s", status, body)
	}
	if got := w.ask("connect", "10.0.0.1"); !strings.HasPrefix(got, "403 10.0.0.1:80: the address is private") {
		t.Error(got)
	}
	if got := w.ask("plain", "db.internal"); !strings.HasPrefix(got, "403 ") {
		t.Error(got)
	}
	if got := w.ask("connect", "direct.test"); !strings.HasPrefix(got, "502 direct.test:80: this machine cannot resolve") {
		t.Error(got)
	}
	if resp, err := w.client(pass).Get("https://no.test/"); err == nil {
		resp.Body.Close()
		t.Error("no.test is let through")
	}
	want := []string{
		"CONNECT example.com:443 Basic bWU6d29yZA==", "GET http://example.com/x Basic bWU6d29yZA==",
		"CONNECT no.test:443 Basic bWU6d29yZA==",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

// TestFailures gives the reasons that are not the configuration's.
func TestFailures(t *testing.T) {
	w := newWorld(t, egress.Options{Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
		switch name {
		case "none.test":
			return nil, nil
		case "second.test":
			return []netip.Addr{netip.MustParseAddr("9.9.9.9"), netip.MustParseAddr("8.8.8.8")}, nil
		case "slow.test":
			return nil, context.DeadlineExceeded
		}
		return []netip.Addr{netip.MustParseAddr("9.9.9.9")}, nil
	}})
	for host, want := range map[string]string{
		"none.test":   "502 none.test:80: lookup none.test: no such host",
		"down.test":   "502 down.test:80: connection refused",
		"slow.test":   "504 slow.test:80: context deadline exceeded",
		"second.test": "reached",
	} {
		if got := w.ask("connect", host); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}

// TestMany holds a command to its number of connections, and lets it go on after.
func TestMany(t *testing.T) {
	w := newWorld(t, egress.Options{})
	w.far = echo
	pass := w.gate.Pass(true, nil)
	var open []net.Conn
	for range 256 {
		open = append(open, w.tunnel("connect", pass, "example.com"))
	}
	conn := w.open()
	fmt.Fprintf(conn, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n%s\r\n", authorization(pass))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Fatal(resp.Status)
	}
	conn.Close()
	if other := w.gate.Pass(true, nil); other != nil { // whose number is its own
		open = append(open, w.tunnel("connect", other, "example.com"))
	}
	for _, c := range open {
		c.Close()
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		conn := w.open()
		err := socksTo(conn, pass, "example.com", 443)
		conn.Close()
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestGateEnds shows that nothing hangs at a gate that is closed: clients that have said
// nothing, half of a request or all of one.
func TestGateEnds(t *testing.T) {
	w := newWorld(t, egress.Options{})
	w.far = echo
	pass := w.gate.Pass(true, nil)
	conns := []net.Conn{w.open(), w.open(), w.open(), w.tunnel("connect", pass, "example.com"), w.tunnel("socks", pass, "example.com")}
	fmt.Fprint(conns[1], "CONNECT exa")
	_, _ = conns[2].Write([]byte{5})
	w.gate.Close()
	for i, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := io.ReadAll(c); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("client %d: %v", i, err)
		}
		c.Close()
	}
	if p := w.gate.Pass(true, nil); socksTo(w.open(), p, "example.com", 443) == nil {
		t.Error("a closed gate lets through")
	}
}

func TestRefused(t *testing.T) {
	w := newWorld(t, egress.Options{Hosts: []string{"a.test"}})
	pass := w.gate.Pass(true, nil)
	for i := range 30 {
		for range 2 {
			conn := w.open()
			_ = socksTo(conn, pass, fmt.Sprintf("h%d.test", i), 443)
			conn.Close()
		}
	}
	hosts, more := pass.Refused()
	if len(hosts) != 20 || more != 20 || hosts[0] != (egress.Refusal{"h0.test:443", "it is not one of network_hosts in the configuration (a.test)", 2, false}) {
		t.Errorf("%d, %d, %+v", len(hosts), more, hosts[0])
	}
	if got := pass.Told(); !strings.HasPrefix(got, "not let through: h0.test:443: it is not one of") || !strings.HasSuffix(got, "and 20 more") {
		t.Error(got)
	}
}

func TestConfigure(t *testing.T) {
	opt := egress.Options{
		Upstream: func(*http.Request) (*url.URL, error) { return nil, nil },
		Lookup:   func(context.Context, string) ([]netip.Addr, error) { return nil, nil },
	}
	p, err := egress.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	got := []string{p.Bounds()}
	for _, o := range []egress.Options{{Private: []string{"db.test"}}, {Hosts: []string{"a.test"}, Private: []string{"db.test"}}} {
		if err := p.Configure(o); err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Bounds())
	}
	if err := p.Configure(egress.Options{Hosts: []string{"a b"}}); err == nil {
		t.Error("accepted")
	}
	if want := []string{"public hosts", "public hosts and db.test", "a.test, db.test"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
