package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// mostMessage is the most bytes of one message of the browser.
const mostMessage = 64 << 20

// errGone says that the browser has ended.
var errGone = errors.New("the browser has ended")

// conn speaks the Chrome DevTools Protocol over a pair of pipes. Messages are JSON, each with
// a NUL at its end. Several goroutines may call its methods.
type conn struct {
	writing sync.Mutex
	to      io.Writer

	mu       sync.Mutex
	last     int
	calls    map[int]chan message
	sessions map[string]func(message) // by their id; what is called must not wait
	gone     chan struct{}            // closed at the end
}

// message is a call, its answer, or an event.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

func newConn(to io.Writer) *conn {
	return &conn{to: to, calls: map[int]chan message{}, sessions: map[string]func(message){}, gone: make(chan struct{})}
}

// listen reads messages until the browser ends.
func (c *conn) listen(from *bufio.Reader) {
	defer close(c.gone)
	for {
		data, err := readMessage(from)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(data, &m) != nil {
			continue
		}
		c.mu.Lock()
		answer, event := c.calls[m.ID], c.sessions[m.Session]
		delete(c.calls, m.ID)
		c.mu.Unlock()
		switch {
		case m.ID != 0 && answer != nil:
			answer <- m
		case m.ID == 0 && event != nil:
			event(m)
		}
	}
}

func readMessage(from *bufio.Reader) ([]byte, error) {
	var data []byte
	for {
		part, err := from.ReadSlice(0)
		if len(data)+len(part) > mostMessage {
			return nil, errors.New("a message is too long")
		}
		data = append(data, part...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return data[:len(data)-1], nil
	}
}

// hear has the events of a session given to a function, nil = to none any more.
func (c *conn) hear(session string, event func(message)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if event == nil {
		delete(c.sessions, session)
		return
	}
	c.sessions[session] = event
}

// send sends a command and returns where its answer arrives.
func (c *conn) send(session, method string, params any) (<-chan message, int, error) {
	data, err := json.Marshal(params)
	if err != nil {
		return nil, 0, err
	}
	answer := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.calls[id] = answer
	c.mu.Unlock()
	line, err := json.Marshal(message{ID: id, Session: session, Method: method, Params: data})
	if err != nil {
		return nil, 0, err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.to.Write(append(line, 0)); err != nil {
		return nil, 0, errGone
	}
	return answer, id, nil
}

// call sends a command and waits for its answer, which it reads into result; nil = it is not
// looked at.
func (c *conn) call(ctx context.Context, session, method string, params, result any) error {
	answer, id, err := c.send(session, method, params)
	if err != nil {
		return err
	}
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
	}()
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-c.gone:
		return errGone
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell sends a command whose answer does not matter.
func (c *conn) tell(session, method string, params any) {
	if _, id, err := c.send(session, method, params); err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, id)
	}
}
