package outbound_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/outbound"
)

// world is a public network of its own: names have the addresses that answers says, or
// 8.8.8.8, and every address leads to one server.
type world struct {
	t      *testing.T
	server *httptest.Server
	client *outbound.Client

	mu      sync.Mutex
	answers map[string]string
	dialled []string
	looked  []string
}

func newWorld(t *testing.T, handler http.HandlerFunc, opt outbound.Options) *world {
	t.Helper()
	w := &world{t: t, answers: map[string]string{}}
	w.server = httptest.NewServer(handler)
	t.Cleanup(w.server.Close)
	if opt.Proxy == nil {
		opt.Proxy = direct
	}
	if opt.Lookup == nil {
		opt.Lookup = w.lookup
	}
	if opt.Dial == nil {
		opt.Dial = w.dial
	}
	client, err := outbound.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	w.client = client
	t.Cleanup(client.Close)
	return w
}

func (w *world) lookup(_ context.Context, name string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looked = append(w.looked, name)
	text, ok := w.answers[name]
	if !ok {
		text = "8.8.8.8"
	}
	first, rest, changes := strings.Cut(text, " then ")
	if changes {
		w.answers[name], text = rest, first
	}
	var all []netip.Addr
	for one := range strings.FieldsSeq(text) {
		all = append(all, netip.MustParseAddr(one))
	}
	return all, nil
}

func (w *world) dial(ctx context.Context, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, address)
	w.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, "tcp", w.server.Listener.Addr().String())
}

// dials returns the addresses that were dialled since the last call of it.
func (w *world) dials() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.dialled
	w.dialled = nil
	return all
}

// ask returns the status and the body of an answer, or the error.
func (w *world) ask(r outbound.Request) (int, string, error) {
	w.t.Helper()
	res, err := w.client.Do(w.t.Context(), r)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return res.Status, string(data), err
}

// code returns the code of an error, and fails for an error that no tool could return.
func code(t *testing.T, err error) tools.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*tools.Error](err)
	if !ok {
		t.Fatalf("%T: %v", err, err)
	}
	return e.Code
}

func hello(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }

func direct(*http.Request) (*url.URL, error) { return nil, nil }
