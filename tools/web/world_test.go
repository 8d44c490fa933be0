package web_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/outbound"
	"toolcrib/tools/web"
	"toolcrib/workspace"
)

// world is a small web of hosts with public addresses, all served by one server here.
type world struct {
	testing.TB
	set   web.Settings
	hosts map[string]http.HandlerFunc
	ws    *workspace.Workspace
	dir   string

	mu    sync.Mutex
	asked []string // method, host and path of each request
	tools []tools.Tool
}

func newWorld(t testing.TB, hosts map[string]http.HandlerFunc) *world {
	t.Helper()
	w := &world{TB: t, hosts: hosts}
	w.ws, w.dir = tooltest.Tree(t, nil)
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, r.Method+" "+r.Host+r.URL.Path)
	w.mu.Unlock()
	if h := w.hosts[r.Host]; h != nil {
		h(rw, r)
		return
	}
	http.NotFound(rw, r)
}

// requests returns the requests since the last call.
func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.asked
	w.asked = nil
	return list
}

// network lets every name resolve to a public address, and every connection to one lead to
// the server of the world.
func (w *world) network(rules outbound.Rules) outbound.Rules {
	plain := httptest.NewServer(http.HandlerFunc(w.serve))
	secure := httptest.NewTLSServer(http.HandlerFunc(w.serve))
	w.Cleanup(plain.Close)
	w.Cleanup(secure.Close)
	rules.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if _, ok := w.hosts[strings.TrimSuffix(name, ".")]; !ok {
			return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
	}
	rules.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	rules.Dial = func(ctx context.Context, address string) (net.Conn, error) {
		to := plain.Listener.Addr().String()
		if strings.HasSuffix(address, ":443") {
			to = secure.Listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, "tcp", to)
	}
	return rules
}

func (w *world) tool(name string) tools.Tool {
	w.Helper()
	if w.tools == nil {
		w.tools = web.NewTools(w.set, w.network, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the server's certificate is of the test
	}
	for _, t := range w.tools {
		if t.Name == name {
			return t
		}
	}
	w.Fatalf("no tool is called %q", name)
	return tools.Tool{}
}

// call returns the text of the result, or "error: " and the error.
func (w *world) call(name, args string) string {
	w.Helper()
	result, err := tooltest.Call(w.Context(), w.ws, w.tool(name), []byte(args))
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	return tooltest.Text(result)
}

// page answers with a page.
func page(body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(rw, body)
	}
}
