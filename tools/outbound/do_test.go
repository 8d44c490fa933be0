package outbound_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// TestRedirect follows redirects of all kinds, and looks at what the last server gets.
func TestRedirect(t *testing.T) {
	secret := http.Header{"Authorization": {"Bearer abc"}, "Cookie": {"a=b"}, "X-Api-Key": {"k"}, "Accept": {"text/html"}, "User-Agent": {"me"}}
	const all, open = "Accept,Authorization,Cookie,User-Agent,X-Api-Key", "Accept,User-Agent"
	for name, c := range map[string]struct {
		status     int
		method, to string
		body       string
		header     http.Header
		want       string // method, body, headers; or the error
	}{
		"same origin":               {302, "GET", "/end", "", secret, "GET  " + all},
		"relative":                  {301, "GET", "end?x", "", secret, "GET  " + all},
		"other host":                {302, "GET", "http://b.test/end", "", secret, "GET  " + open},
		"other port":                {302, "GET", "http://a.test:81/end", "", secret, "GET  " + open},
		"a host below":              {302, "GET", "http://x.a.test/end", "", secret, "GET  " + open},
		"the same, written else":    {302, "GET", "http://A.test.:80/end", "", secret, "GET  " + all},
		"post turns to get":         {302, "POST", "/end", "data", nil, "GET  User-Agent"},
		"post turns to get by 303":  {303, "POST", "http://b.test/end", "data", secret, "GET  " + open},
		"put turns to get by 303":   {303, "PUT", "/end", "data", nil, "GET  User-Agent"},
		"put stays":                 {301, "PUT", "/end", "data", nil, "PUT data User-Agent"},
		"post stays by 307":         {307, "POST", "/end", "data", secret, "POST data " + all},
		"body to another origin":    {308, "POST", "http://b.test/end", "data", nil, "denied: another origin"},
		"head stays":                {303, "HEAD", "/end", "", nil, "HEAD  User-Agent"},
		"to a file":                 {302, "GET", "file:///etc/passwd", "", nil, "denied: not http or https"},
		"to a private host":         {302, "GET", "http://10.0.0.1/", "", nil, "denied: the address is private"},
		"to a user":                 {302, "GET", "http://u:p@b.test/", "", nil, "denied: a user name"},
		"to a name that is private": {302, "GET", "http://private.test/", "", nil, "denied: 192.168.0.5 is private"},
		"without a place":           {302, "GET", "", "", nil, "302"},
		"of no kind that is known":  {304, "GET", "/end", "", nil, "304"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/start" {
					if c.to != "" {
						w.Header().Set("Location", c.to)
					}
					w.WriteHeader(c.status)
					return
				}
				data, _ := io.ReadAll(r.Body)
				var names []string
				for name := range r.Header {
					if name != "Content-Length" && name != "Accept-Encoding" {
						names = append(names, name)
					}
				}
				slices.Sort(names)
				w.Header().Set("Got", fmt.Sprintf("%s %s %s", r.Method, data, strings.Join(names, ",")))
			}, outbound.Options{})
			w.answers["private.test"] = "192.168.0.5"
			r := outbound.Request{Method: c.method, URL: "http://a.test/start", Header: c.header, Tries: 1}
			if c.body != "" {
				r.Body = []byte(c.body)
			}
			res, err := w.client.Do(t.Context(), r)
			got := ""
			if err != nil {
				want, saying, _ := strings.Cut(c.want, ": ")
				if string(code(t, err)) != want || !strings.Contains(err.Error(), saying) {
					t.Error(err)
				}
				return
			}
			defer res.Body.Close()
			if got = res.Header.Get("Got"); got == "" {
				got = fmt.Sprint(res.Status)
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestReached notes the hosts that were asked, and none that must not be.
func TestReached(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		to := map[string]string{"a.test": "http://b.test/", "b.test": "http://10.0.0.1/"}[r.Host]
		http.Redirect(w, r, to, http.StatusFound)
	}, outbound.Options{})
	var reached []string
	ctx := tools.WithReached(t.Context(), func(host string) { reached = append(reached, host) })
	if _, err := w.client.Do(ctx, outbound.Request{URL: "http://a.test/", Tries: 1}); err == nil || code(t, err) != tools.Denied {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"a.test", "b.test"}, reached); diff != "" {
		t.Error(diff)
	}
}

// TestSecure goes over TLS and HTTP/2, up to TLS with headers, and never down with them.
func TestSecure(t *testing.T) {
	var plain, secure *httptest.Server
	secure = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			http.Redirect(w, r, "http://example.com/end", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "%s %q", r.Proto, r.Header.Get("Authorization"))
	}))
	secure.EnableHTTP2 = true
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the client refuses its certificate
	secure.StartTLS()
	defer secure.Close()
	plain = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/up" {
			http.Redirect(w, r, "https://example.com/end", http.StatusFound)
			return
		}
		fmt.Fprintf(w, "plain %q", r.Header.Get("Authorization"))
	}))
	defer plain.Close()
	roots := x509.NewCertPool()
	roots.AddCert(secure.Certificate())
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		to := plain
		if strings.HasSuffix(address, ":443") {
			to = secure
		}
		return new(net.Dialer).DialContext(ctx, "tcp", to.Listener.Addr().String())
	}
	w := newWorld(t, hello, outbound.Options{TLS: &tls.Config{RootCAs: roots}, Rules: outbound.Rules{Dial: dial}})
	with := http.Header{"Authorization": {"Basic x"}}
	for _, c := range []struct {
		url    string
		header http.Header
		want   string
	}{
		{"https://example.com/", with, `HTTP/2.0 "Basic x"`},
		{"http://example.com/up", with, `HTTP/2.0 "Basic x"`},
		{"https://example.com/down", nil, `plain ""`},
		{"https://example.com/down", with, "denied: https://example.com/down redirects a request with headers of its own to plain HTTP, http://example.com/end"},
		{"https://other.test/", nil, "denied: https://other.test/: the certificate is not valid: x509: certificate is valid for example.com, *.example.com, not other.test"},
		{"https://example.com:80/", nil, "unavailable: https://example.com:80/: the TLS handshake: tls: first record does not look like a TLS handshake"},
	} {
		_, got, err := w.ask(outbound.Request{URL: c.url, Header: c.header, Tries: 1})
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s", c.url, got)
		}
	}
}

// TestEncodings reads each encoding, and leaves no sign of it in the headers.
func TestEncodings(t *testing.T) {
	text := strings.Repeat("all work and no play ", 20_000)
	encode := map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"x-gzip":  func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"Deflate": func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd":    func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	}
	for name, coder := range encode {
		var buf bytes.Buffer
		z := coder(&buf)
		_, _ = io.WriteString(z, text)
		z.Close()
		for _, c := range []struct {
			method, path string
			data         []byte
			want         string
		}{
			{"GET", "whole", buf.Bytes(), text}, {"GET", "empty", nil, ""}, {"HEAD", "head", nil, ""}, {"GET", "cut", buf.Bytes()[:buf.Len()/2], "cut short"},
		} {
			w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				for _, one := range []string{"gzip", "deflate", "br", "zstd"} {
					if !strings.Contains(r.Header.Get("Accept-Encoding"), one) {
						t.Errorf("asked for %s", r.Header.Get("Accept-Encoding"))
					}
				}
				w.Header().Set("Content-Encoding", name)
				_, _ = w.Write(c.data)
			}, outbound.Options{})
			res, err := w.client.Do(t.Context(), outbound.Request{Method: c.method, URL: "http://a.test/" + c.path})
			if err != nil {
				t.Fatal(name, c.path, err)
			}
			data, err := io.ReadAll(res.Body)
			res.Body.Close()
			if c.path == "cut" {
				if code(t, err) != tools.Unavailable || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s, cut: %v", name, err)
				}
				continue
			}
			if err != nil || string(data) != c.want {
				t.Errorf("%s, %s: %d bytes, %v", name, c.path, len(data), err)
			}
			if c.path == "whole" && (res.Header.Get("Content-Encoding") != "" || res.Header.Get("Content-Length") != "" || res.Length != -1) {
				t.Errorf("%s: %v", name, res.Header)
			}
		}
	}
}

// TestRange asks for a part of the file as it is.
func TestRange(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("asked for %q", got)
		}
		http.ServeContent(w, r, "f", time.Time{}, strings.NewReader("0123456789"))
	}, outbound.Options{})
	status, got, err := w.ask(outbound.Request{URL: "http://a.test/", Header: http.Header{"Range": {"bytes=5-"}}})
	if status != http.StatusPartialContent || got != "56789" || err != nil {
		t.Errorf("%d %q %v", status, got, err)
	}
}

// TestSecrets keeps the secrets of URLs out of errors.
func TestSecrets(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://10.0.0.1/?access_token=hunter2hunter2", http.StatusFound)
	}, outbound.Options{})
	for _, u := range []string{
		"http://user:hunter2hunter2@a.test/", "http://a.test/?api_key=hunter2hunter2&q=x", "http://a.test/?key=hunter2hunter2",
		"http://10.0.0.1/?x=1&token=hunter2hunter2", "ftp://user:hunter2hunter2@a.test/", "http://u:hunter2hunter2@a b/", "http://a.test/%zz?token=hunter2hunter2",
	} {
		_, _, err := w.ask(outbound.Request{URL: u})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
	_, _, err := w.ask(outbound.Request{URL: "http://10.0.0.1/search?q=words&token=hunter2hunter2&page=2"})
	if want := "denied: http://10.0.0.1/search?q=words&token=redacted&page=2: 10.0.0.1:80: the address is private"; err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestPhases names what a request was doing when it failed.
func TestPhases(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for _, c := range []struct {
		opt  outbound.Options
		url  string
		code tools.Code
		want string
	}{
		{outbound.Options{Rules: outbound.Rules{Lookup: func(ctx context.Context, _ string) ([]netip.Addr, error) { return nil, hang(ctx) }}}, "http://a.test/", tools.Timeout, "while resolving the name"},
		{outbound.Options{Rules: outbound.Rules{Dial: func(ctx context.Context, _ string) (net.Conn, error) { return nil, hang(ctx) }}}, "http://a.test/", tools.Timeout, "while connecting"},
		{outbound.Options{}, "https://a.test/", tools.Timeout, "while the TLS handshake"},
		{outbound.Options{}, "http://a.test/", tools.Timeout, "while waiting for the headers"},
		{outbound.Options{Rules: outbound.Rules{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
		}}}, "http://a.test/", tools.NotFound, "there is no host named a.test"},
		{outbound.Options{Rules: outbound.Rules{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
		}}}, "http://a.test/", tools.Unavailable, "resolving the name: server misbehaving"},
		{outbound.Options{Rules: outbound.Rules{Dial: func(context.Context, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		}}}, "http://a.test/", tools.Unavailable, "connecting: dial: connection refused"},
	} {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // it accepts nothing: a server that says nothing
		if c.opt.Dial == nil {
			c.opt.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", l.Addr().String())
			}
		}
		w := newWorld(t, hello, c.opt)
		_, _, err = w.ask(outbound.Request{URL: c.url, Timeout: 1e8, Tries: 1})
		if code(t, err) != c.code || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v", c.want, err)
		}
	}
	w := newWorld(t, hello, outbound.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.client.Do(ctx, outbound.Request{URL: "http://a.test/"}); code(t, err) != tools.Cancelled {
		t.Error(err)
	}
}

// TestInvalid refuses what could smuggle a second request.
func TestInvalid(t *testing.T) {
	w := newWorld(t, hello, outbound.Options{})
	for _, r := range []outbound.Request{
		{URL: "http://a.test/", Header: http.Header{"X": {"a\r\nHost: b"}}},
		{URL: "http://a.test/", Header: http.Header{"X: y\r\nZ": {"a"}}},
		{URL: "http://a.test/", Method: "GET / HTTP/1.1\r\nX:"},
		{URL: "http://a.test/", Method: "CONNECT"},
		{URL: ""},
	} {
		if _, _, err := w.ask(r); code(t, err) != tools.InvalidArgument {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if got := w.dials(); len(got) > 0 {
		t.Errorf("dialled: %q", got)
	}
	seen := ""
	w = newWorld(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Host }, outbound.Options{})
	if _, _, err := w.ask(outbound.Request{URL: "http://a.test/", Header: http.Header{"Host": {"b.test"}}}); err != nil || seen != "a.test" {
		t.Errorf("host %q, %v", seen, err)
	}
}

// TestProxy goes through the proxy of the machine, which is private, to public hosts alone.
func TestProxy(t *testing.T) {
	w := newWorld(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%s %s", r.Method, r.RequestURI) }, outbound.Options{Rules: outbound.Rules{
		Proxy: func(*http.Request) (*url.URL, error) { return url.Parse("http://10.0.0.8:3128") },
	}})
	w.answers = map[string]string{"private.test": "10.0.0.1", "none.test": ""}
	for u, want := range map[string]string{
		"http://a.test/x":       "GET http://a.test/x",
		"http://none.test/x":    "GET http://none.test/x", // the proxy may know it
		"http://10.0.0.8:3128/": "", "http://10.0.0.1/": "", "http://localhost/": "", "http://private.test/": "", "http://169.254.169.254/": "",
	} {
		_, got, err := w.ask(outbound.Request{URL: u, Tries: 1})
		if got != want || want == "" && code(t, err) != tools.Denied {
			t.Errorf("%s: %q, %v", u, got, err)
		}
	}
	if diff := cmp.Diff([]string{"10.0.0.8:3128"}, slices.Compact(w.dials())); diff != "" {
		t.Error(diff)
	}
}

type callerKey struct{}

// TestAllow lets one caller reach a port of this machine and a private host, and nobody else
// over the connections of that caller.
func TestAllow(t *testing.T) {
	w := newWorld(t, hello, outbound.Options{Allow: func(ctx context.Context, to outbound.Target) bool {
		return ctx.Value(callerKey{}) == "a" && slices.Contains([]string{"127.0.0.1:3000", "localhost:3000", "intra.test:80", "169.254.169.254:80", "meta.test:80"}, to.String())
	}})
	w.answers = map[string]string{"localhost": "127.0.0.1 ::1", "intra.test": "10.0.0.1", "meta.test": "169.254.169.254"}
	for _, u := range []string{"http://127.0.0.1:3000/", "http://localhost:3000/", "http://intra.test/"} {
		for range 2 {
			res, err := w.client.Do(context.WithValue(t.Context(), callerKey{}, "a"), outbound.Request{URL: u})
			if err != nil {
				t.Fatal(u, err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
			if _, err := w.client.Do(t.Context(), outbound.Request{URL: u}); code(t, err) != tools.Denied {
				t.Errorf("%s: another caller gets %v", u, err)
			}
		}
	}
	for _, u := range []string{"http://169.254.169.254/", "http://meta.test/", "http://127.0.0.1:3001/"} {
		if _, err := w.client.Do(context.WithValue(t.Context(), callerKey{}, "a"), outbound.Request{URL: u}); code(t, err) != tools.Denied {
			t.Errorf("%s: %v", u, err)
		}
	}
}

// TestProgress tells of a long body, and not of a short one.
func TestProgress(t *testing.T) {
	told := 0
	ctx := tools.WithProgress(t.Context(), func(tools.ProgressEvent) { told++ })
	w := newWorld(t, hello, outbound.Options{})
	res, err := w.client.Do(ctx, outbound.Request{URL: "http://a.test/"})
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	if told > 0 {
		t.Errorf("told %d times", told)
	}
}
