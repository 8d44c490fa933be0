package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/outbound"
)

// A case is what a service answers to the requests of one turn, one after the other, and what
// becomes of it.
type turnCase struct {
	name    string
	answers []answer
	want    string
}

// answer is one of a service.
type answer struct {
	status int // 0 = 200
	header string
	kind   string // "" = text/event-stream
	body   string
	cut    bool // the connection ends in the middle
	hang   bool // nothing more comes
}

// data makes events of lines.
func data(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "data: %s\n\n", line)
	}
	return b.String()
}

// named makes events with the name that their type says.
func named(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		var e struct{ Type string }
		_ = json.Unmarshal([]byte(line), &e)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", e.Type, line)
	}
	return b.String()
}

// service is a network with one service, whose time is that of the test.
type service struct {
	mu       sync.Mutex
	answers  []answer
	requests []*http.Request
	bodies   []string
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	_ = json.NewDecoder(r.Body).Decode(&body)
	s.mu.Lock()
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
	a := answer{status: 500, body: "no more answers"}
	if n := len(s.requests); n <= len(s.answers) {
		a = s.answers[n-1]
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if a.kind != "" {
		w.Header().Set("Content-Type", a.kind)
	}
	if name, value, ok := strings.Cut(a.header, ": "); ok {
		w.Header().Set(name, value)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	_, _ = w.Write([]byte(a.body))
	_ = http.NewResponseController(w).Flush()
	if a.hang {
		<-r.Context().Done()
	}
	if a.cut {
		panic(http.ErrAbortHandler)
	}
}

// client returns a client that reaches nothing but the service.
func (s *service) client(t *testing.T) *model.Client {
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: s}
	go func() { _ = server.Serve(listener) }()
	out, err := outbound.New(outbound.Options{Rules: outbound.Rules{
		Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
		},
		Dial: listener.dial,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close(); _ = server.Close() })
	return &model.Client{Do: out.Do}
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p *pipes) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// chatModel and messagesModel are the endpoints of the cases.
var (
	chatModel     = model.Endpoint{URL: "http://chat.example/v1", Model: "m", Key: "k"}
	messagesModel = model.Endpoint{URL: "http://messages.example/v1", Dialect: model.Messages, Model: "m", Key: "k"}
)

var hello = model.Request{System: "You help.", Messages: []model.Message{{Role: model.User, Blocks: []model.Block{{Text: "hello"}}}}}

// run takes the turn of a case and describes it: the requests and the time that they took, the
// turn, its use, and how the error begins.
func (c turnCase) run(t *testing.T, endpoints ...model.Endpoint) string {
	var got strings.Builder
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: c.answers}
		begin := time.Now()
		var streamed strings.Builder
		turn, use, err := s.client(t).Turn(t.Context(), endpoints, hello, func(e model.Event) {
			switch {
			case e.Dropped != "":
				streamed.Reset()
			case e.Text != "":
				streamed.WriteString(e.Text)
			}
		})
		if n, took := len(s.requests), time.Since(begin).Round(100*time.Millisecond); n != 1 || took != 0 {
			fmt.Fprintf(&got, "%d requests in %s\n", n, took)
		}
		if err != nil {
			if e, ok := errors.AsType[*model.Error](err); ok {
				fmt.Fprintf(&got, "%s: %s\n", e.Reason, e.Say)
			} else {
				fmt.Fprintln(&got, err)
			}
		} else {
			fmt.Fprint(&got, describe(turn))
			if text := textOf(turn); streamed.String() != text {
				t.Errorf("streamed %q, the turn has %q", streamed.String(), text)
			}
		}
		if use.Use != (model.Use{}) {
			if use.Estimated {
				got.WriteString("use: estimated\n")
			} else {
				fmt.Fprintf(&got, "use: in %d, cached %d, kept %d, out %d, thinking %d\n", use.In, use.CacheRead, use.CacheWrite, use.Out, use.Thinking)
			}
		}
	})
	return strings.TrimSuffix(got.String(), "\n")
}

func textOf(t *model.Turn) string {
	var b strings.Builder
	for _, block := range t.Blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

func describe(t *model.Turn) string {
	var b strings.Builder
	fmt.Fprintln(&b, t.End)
	for _, block := range t.Blocks {
		switch {
		case block.Thinking != nil:
			fmt.Fprintf(&b, "thinking: %s", block.Thinking.Text+block.Thinking.Hidden)
			if block.Thinking.Signature != "" {
				fmt.Fprintf(&b, " [%s]", block.Thinking.Signature)
			}
			b.WriteByte('\n')
		case block.Call != nil:
			fmt.Fprintf(&b, "%s %s(%s)", block.Call.ID, block.Call.Name, block.Call.Arguments)
			if block.Call.Wrong != "" {
				fmt.Fprintf(&b, " wrong %q", block.Call.Wrong)
			}
			if block.Call.Cut {
				b.WriteString(" cut")
			}
			b.WriteByte('\n')
		default:
			fmt.Fprintf(&b, "text: %s\n", block.Text)
		}
	}
	return b.String()
}

func TestTurns(t *testing.T) {
	for dialect, group := range map[string]struct {
		endpoint model.Endpoint
		cases    []turnCase
	}{"chat": {chatModel, chatCases}, "messages": {messagesModel, messagesCases}} {
		for _, c := range group.cases {
			t.Run(dialect+"/"+c.name, func(t *testing.T) {
				if diff := cmp.Diff(c.want, c.run(t, group.endpoint)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// A second endpoint takes over where the first cannot answer.
func TestFailover(t *testing.T) {
	good := answer{body: data(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, `[DONE]`)}
	for _, c := range []turnCase{
		{"a key that is refused", []answer{{status: 401, body: `{"error":{"message":"bad key"}}`}, good}, "2 requests in 0s\nstop\ntext: hi\nuse: in 9, cached 0, kept 0, out 1, thinking 0"},
		{"a service that stays busy", []answer{{status: 529}, {status: 529}, {status: 529}, {status: 529}, good}, "5 requests in 7s\nstop\ntext: hi\nuse: in 9, cached 0, kept 0, out 1, thinking 0"},
		{"a wait of an hour", []answer{{status: 429, header: "Retry-After: 3600"}, good}, "2 requests in 0s\nstop\ntext: hi\nuse: in 9, cached 0, kept 0, out 1, thinking 0"},
		{"a request that is wrong", []answer{{status: 400, body: `{"error":{"message":"bad schema"}}`}, good}, "rejected: HTTP 400: bad schema"},
		{"a web page", []answer{{kind: "text/html", body: "<html>hello"}, good}, "2 requests in 0s\nstop\ntext: hi\nuse: in 9, cached 0, kept 0, out 1, thinking 0"},
		{"all of them", []answer{{status: 401, body: `{"error":"one"}`}, {status: 402, body: `{"error":"two"}`}}, "2 requests in 0s\nquota: HTTP 402: two"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.run(t, messagesModel, chatModel)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Each attempt is billed at the prices of its endpoint, also if none gives a turn.
func TestBill(t *testing.T) {
	broken := answer{body: data(`{"choices":[{"delta":{"content":"hello"}}],"usage":{"prompt_tokens":50,"completion_tokens":2}}`, `{"error":{"message":"no such","code":"model_not_found"}}`)}
	good := answer{body: data(`{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, `[DONE]`)}
	free, priced := chatModel, chatModel
	priced.PriceIn = 1e6
	for _, c := range []struct {
		endpoints []model.Endpoint
		answers   []answer
		want      float64
	}{
		{[]model.Endpoint{free, priced}, []answer{broken, good}, 9},
		{[]model.Endpoint{priced, free}, []answer{broken, good}, 50},
		{[]model.Endpoint{priced}, []answer{broken}, 50},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &service{answers: c.answers}
			if _, bill, err := s.client(t).Turn(t.Context(), c.endpoints, hello, nil); bill.Cost != c.want {
				t.Errorf("%+v, %v; want a cost of %v", bill, err, c.want)
			}
		})
	}
}

// A cancelled turn ends at once, with the reason of its context.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []answer{{body: data(`{"choices":[{"delta":{"content":"h"}}]}`), hang: true}}}
		why := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		_, use, err := s.client(t).Turn(ctx, []model.Endpoint{chatModel}, hello, func(model.Event) { cancel(why) })
		if !errors.Is(err, why) {
			t.Errorf("the turn ended with %v", err)
		}
		if use.Out == 0 || !use.Estimated {
			t.Errorf("the use of what had arrived is %+v", use)
		}
	})
}
