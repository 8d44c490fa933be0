package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"toolcrib/server/wire"

	"github.com/mark3labs/mcp-go/mcp"
)

// asks are the requests of ours that wait for the client's response.
type asks struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan *wire.Message
	ended   bool // the client is gone
}

var errClientGone = errors.New("the client is gone")

// ask sends a request to the client on behalf of r and waits for the response.
func (r *request) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	if !r.out.Streams() {
		return nil, errors.New("the client takes no events, so it cannot be asked")
	}
	id, response, err := r.link.asks.open()
	if err != nil {
		return nil, err
	}
	defer r.link.asks.forget(id)
	line, err := wire.AppendCall(nil, id, method, params)
	if err != nil {
		return nil, err
	}
	r.send(line)
	select {
	case m, ok := <-response:
		switch {
		case !ok:
			return nil, errClientGone
		case m.Err != nil:
			return nil, fmt.Errorf("%s: the client answered %s", method, m.Err)
		}
		return m.Result, nil
	case <-ctx.Done():
		// The dialog must not stay open for a call that nobody waits for.
		cancelled := map[string]string{"requestId": id, "reason": "the call has ended"}
		if line := r.link.server.notification(string(mcp.MethodNotificationCancelled), cancelled); line != nil {
			r.out.Write(func() []byte { return line })
		}
		return nil, ctx.Err()
	}
}

func (a *asks) open() (id string, response chan *wire.Message, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return "", nil, errClientGone
	}
	a.last++
	id, response = fmt.Sprintf("ask-%d", a.last), make(chan *wire.Message, 1)
	if a.waiting == nil {
		a.waiting = map[string]chan *wire.Message{}
	}
	a.waiting[id] = response
	return id, response, nil
}

func (a *asks) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// answered hands a response of the client to whom it concerns. One that nobody
// waits for is dropped: its call may have ended.
func (a *asks) answered(m *wire.Message) {
	if m.ID[0] != '"' {
		return
	}
	id := wire.Unquote(m.ID)
	a.mu.Lock()
	defer a.mu.Unlock()
	if response, ok := a.waiting[id]; ok {
		response <- m
		delete(a.waiting, id)
	}
}

// end lets everybody who waits for the client go on without it.
func (a *asks) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, response := range a.waiting {
		close(response)
	}
	a.waiting, a.ended = nil, true
}
