package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"toolcrib/.ci/measure/harness"
)

// bridge carries what a client sends over HTTP to servers on stdio: one process
// for each session of the older revisions, one for all requests that have none.
// It does the duties of HTTP alone, and passes every message on as it is.
type bridge struct {
	program []string
	web     *http.Server
	url     string
	serving sync.WaitGroup

	mu       sync.Mutex
	last     int
	sessions map[string]*pipe
	shared   *pipe
	stray    []error // what the servers sent that belongs to no request
}

// newBridge starts a bridge to a program that serves stdio.
func newBridge(program ...string) (*bridge, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &bridge{program: program, url: "http://" + ln.Addr().String() + "/mcp", sessions: map[string]*pipe{}}
	if b.shared, err = b.start(); err != nil {
		return nil, errors.Join(err, ln.Close())
	}
	b.web = &http.Server{Handler: b}
	go func() { _ = b.web.Serve(ln) }() // ends with close
	return b, nil
}

// close ends the servers. It fails where one of them did not end well, or sent
// something that belongs to no request.
func (b *bridge) close() error {
	errs := []error{b.web.Close()}
	b.serving.Wait() // streams that were open have been cancelled then
	errs = append(errs, b.shared.Close())
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.sessions {
		errs = append(errs, p.Close())
	}
	return errors.Join(append(errs, b.stray...)...)
}

// pipe is a server on stdio and the requests that it has not answered.
type pipe struct {
	*harness.Client
	bridge *bridge

	mu      sync.Mutex
	pending []*exchange     // oldest first
	left    map[string]bool // ids of requests whose client has gone; their answers may be on the way
}

// exchange is one request of HTTP.
type exchange struct {
	id, token string // as JSON; token is of its progress
	stream    bool   // it only listens
	lines     chan []byte
	gone      <-chan struct{}
}

func (b *bridge) start() (*pipe, error) {
	c, err := harness.Dial(context.Background(), nil, b.program[0], b.program[1:]...)
	if err != nil {
		return nil, err
	}
	p := &pipe{Client: c, bridge: b, left: map[string]bool{}}
	take := p.take
	c.OnLine.Store(&take)
	return p, nil
}

// envelope is a message as far as the bridge looks into it.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Token json.RawMessage            `json:"progressToken"`
		Meta  map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
}

// take hands a message of the server to the request that it belongs to: by its
// id, its subscription, its progress token, else to the newest that runs.
func (p *pipe) take(line []byte) {
	line = bytes.TrimSpace(bytes.Clone(line))
	var m envelope
	if json.Unmarshal(line, &m) != nil {
		p.bridge.lose(line)
		return
	}
	subscription := m.Params.Meta["io.modelcontextprotocol/subscriptionId"]
	p.mu.Lock()
	owner := -1
	for i, e := range p.pending {
		switch {
		case m.Method == "" && e.id == string(m.ID), subscription != nil && e.id == string(subscription):
			owner = i
		case m.Method == "" || subscription != nil:
		case m.Params.Token != nil && e.token == string(m.Params.Token), m.Params.Token == nil && !e.stream:
			owner = i
		}
	}
	var e *exchange
	if owner >= 0 {
		e = p.pending[owner]
	}
	if e != nil && m.Method == "" {
		p.pending = slices.Delete(p.pending, owner, owner+1)
	}
	late := m.Method == "" && p.left[string(m.ID)]
	p.mu.Unlock()
	switch {
	case e == nil && late:
		return
	case e == nil:
		p.bridge.lose(line)
		return
	}
	select {
	case e.lines <- line:
	case <-e.gone:
	}
}

// maxStray is how many stray messages are kept.
const maxStray = 5

func (b *bridge) lose(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.stray) < maxStray {
		b.stray = append(b.stray, fmt.Errorf("belongs to no request: %.300s", line))
	}
}

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.serving.Add(1)
	defer b.serving.Done()
	id := r.Header.Get("Mcp-Session-Id")
	b.mu.Lock()
	p, ok := b.sessions[id]
	if r.Method == http.MethodDelete {
		delete(b.sessions, id)
	}
	b.mu.Unlock()
	switch {
	case id != "" && !ok:
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Method == http.MethodDelete && ok:
		if err := p.Close(); err != nil {
			b.lose([]byte(err.Error()))
		}
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	default:
		b.post(w, r, p)
	}
}

// post carries one message; p is the session that it names, nil if none.
func (b *bridge) post(w http.ResponseWriter, r *http.Request, p *pipe) {
	body, err := io.ReadAll(r.Body)
	var m envelope
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, modern := m.Params.Meta["io.modelcontextprotocol/protocolVersion"]
	switch {
	case p != nil:
	case m.Method == "initialize" && !modern:
		if p, err = b.start(); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		b.mu.Lock()
		b.last++
		id := "session-" + strconv.Itoa(b.last)
		b.sessions[id] = p
		b.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
	default:
		p = b.shared
	}
	if m.Method == "" || m.ID == nil { // an answer or a notification
		if err := p.Send(body); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	p.exchange(w, r, m, body)
}

// exchange carries a request and what the server sends until its answer: as
// JSON where that is the answer alone, else as events.
func (p *pipe) exchange(w http.ResponseWriter, r *http.Request, m envelope, body []byte) {
	e := &exchange{
		id: string(m.ID), token: string(m.Params.Meta["progressToken"]), stream: m.Method == "subscriptions/listen",
		lines: make(chan []byte), gone: r.Context().Done(),
	}
	p.mu.Lock()
	p.pending = append(p.pending, e)
	p.mu.Unlock()
	defer p.forget(e)
	if err := p.Send(body); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for events := false; ; events = true {
		select {
		case line := <-e.lines:
			var answer envelope
			if err := json.Unmarshal(line, &answer); err != nil {
				panic(err) // take has read it before
			}
			last := answer.Method == ""
			switch {
			case last && !events:
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status(answer))
				_, _ = w.Write(line) // a client that is gone wants nothing
				return
			case !events:
				w.Header().Set("Content-Type", "text/event-stream")
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
			if last {
				return
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				return
			}
		case <-e.gone:
			// Over HTTP a client cancels by leaving; over stdio it says so.
			p.leave(e)
			_ = p.Send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, e.id)) // the server may have ended
			return
		case <-p.Done:
			http.Error(w, "the server ended", http.StatusBadGateway)
			return
		}
	}
}

func (p *pipe) forget(e *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = slices.DeleteFunc(p.pending, func(o *exchange) bool { return o == e })
}

func (p *pipe) leave(e *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[e.id] = true
}

// status is how HTTP says an answer.
func status(answer envelope) int {
	if answer.Error == nil {
		return http.StatusOK
	}
	switch answer.Error.Code {
	case -32601:
		return http.StatusNotFound
	case -32700, -32600, -32602, -32020, -32021, -32022:
		return http.StatusBadRequest
	}
	return http.StatusOK
}
