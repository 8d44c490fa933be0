package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"toolcrib/server"
	"toolcrib/server/identity"
)

// pipes is a listener in memory, so that a test decides over time.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close sync.Once
	addr  net.Addr
}

func newPipes() *pipes {
	return &pipes{conns: make(chan net.Conn), done: make(chan struct{}), addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.close.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return p.addr }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	theirs, ours := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// site is a server over HTTP.
type site struct {
	tb    testing.TB
	pipes *pipes
	http  *http.Client
	stop  context.CancelFunc
	done  chan error
}

const (
	testToken = "0123456789abcdef0123456789abcdef"
	endpoint  = "http://127.0.0.1:8080/mcp"
)

func serveHTTP(tb testing.TB, s *server.Server, opt server.HTTP) *site {
	p := newPipes()
	ctx, stop := context.WithCancel(tb.Context())
	w := &site{tb: tb, pipes: p, stop: stop, done: make(chan error, 1), http: &http.Client{Transport: &http.Transport{DialContext: p.dial}}}
	go func() { w.done <- s.ServeStreamable(ctx, p, opt) }()
	tb.Cleanup(func() {
		w.http.CloseIdleConnections()
		stop()
		if err := <-w.done; err != nil {
			tb.Error(err)
		}
	})
	return w
}

// headers of a message; a value "" takes the header away.
type headers map[string]string

func (w *site) request(ctx context.Context, method, body string, h headers) *http.Request {
	req, err := http.NewRequestWithContext(ctx, method, endpoint, strings.NewReader(body))
	if err != nil {
		w.tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+testToken)
	for name, value := range h {
		switch {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	return req
}

// modernHeaders are what a request of the stateless era says in its headers too.
func modernHeaders(message string) headers {
	var m struct {
		Method string
		Params struct {
			Name, URI, TaskID string
			Meta              map[string]any `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		return headers{}
	}
	version, modern := m.Params.Meta["io.modelcontextprotocol/protocolVersion"].(string)
	if !modern {
		return headers{}
	}
	h := headers{"Mcp-Protocol-Version": version, "Mcp-Method": m.Method}
	if name := m.Params.Name + m.Params.URI + m.Params.TaskID; name != "" {
		h["Mcp-Name"] = name
	}
	return h
}

// open sends a message and returns the answer while it may still come.
func (w *site) open(ctx context.Context, message string, h headers) *http.Response {
	all := modernHeaders(message)
	maps.Copy(all, h)
	res, err := w.http.Do(w.request(ctx, http.MethodPost, message, all))
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { res.Body.Close() })
	return res
}

// head is an answer without its body.
type head struct {
	StatusCode int
	Header     http.Header
}

// post sends a message and returns the messages of the answer.
func (w *site) post(message string, h headers) (_ head, messages []string) {
	w.tb.Helper()
	res := w.open(w.tb.Context(), message, h)
	if res.Header.Get("Content-Type") != "text/event-stream" {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			w.tb.Fatal(err)
		}
		if len(body) > 0 {
			messages = []string{strings.TrimSpace(string(body))}
		}
		return head{res.StatusCode, res.Header}, messages
	}
	for event := range events(res.Body) {
		messages = append(messages, event)
	}
	return head{res.StatusCode, res.Header}, messages
}

// events yields the data of server-sent events, and comments with their colon.
func events(r io.Reader) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			data, ok := strings.CutPrefix(lines.Text(), "data: ")
			if comment := strings.HasPrefix(lines.Text(), ":"); ok || comment {
				if comment {
					data = lines.Text()
				}
				if !yield(data) {
					return
				}
			}
		}
	}
}

// hello opens a session in a revision that opens with initialize.
func (w *site) hello(capabilities string) headers {
	w.tb.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":%s,"clientInfo":{"name":"test","version":"1"}}}`, capabilities)
	res, messages := w.post(message, nil)
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != http.StatusOK || id == "" || len(messages) != 1 {
		w.tb.Fatalf("initialize: %d, session %q, %q", res.StatusCode, id, messages)
	}
	h := headers{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}
	if res, messages := w.post(initDone, h); res.StatusCode != http.StatusAccepted || len(messages) > 0 {
		w.tb.Fatalf("initialized: %d %q", res.StatusCode, messages)
	}
	return h
}

// gate admits the holder of testToken.
func gate(tb testing.TB) *identity.Gate {
	tb.Helper()
	g, err := identity.StaticGate([]identity.Token{{Name: identity.Holder, Token: testToken}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return g
}
