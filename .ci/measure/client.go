package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// client is a bare client of a server on stdio: it sends lines and hands every
// message that comes back to a function, in the order of the lines.
type client struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	mu    sync.Mutex // of in
	calls sync.Map   // id (int) -> chan message
	onMsg func(message)
	// onLine, if set, takes the lines in the place of calls and onMsg.
	onLine atomic.Pointer[func(line []byte)]
	done   chan struct{}
}

// message is a JSON-RPC message as far as the figures look into it.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`

	arrived time.Time // when its last byte was read
}

// dial starts a server. onMsg sees every message before its caller does.
func dial(ctx context.Context, onMsg func(message), name string, args ...string) (*client, error) {
	return dialCommand(exec.CommandContext(ctx, name, args...), onMsg)
}

// dialCommand is dial for a command that is not started yet.
func dialCommand(cmd *exec.Cmd, onMsg func(message)) (*client, error) {
	cmd.Env = append(cmd.Environ(), "NO_COLOR=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if onMsg == nil {
		onMsg = func(message) {}
	}
	c := &client{cmd: cmd, in: in, onMsg: onMsg, done: make(chan struct{})}
	go c.read(out)
	return c, nil
}

func (c *client) read(out io.Reader) {
	defer close(c.done)
	lines := bufio.NewReaderSize(out, 1<<20)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			line = bytes.Clone(line)
			rest, err = lines.ReadBytes('\n')
			line = append(line, rest...)
		}
		if err != nil {
			return
		}
		if take := c.onLine.Load(); take != nil {
			(*take)(line)
			continue
		}
		m := message{arrived: time.Now()}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		c.onMsg(m)
		if id, err := strconv.Atoi(string(m.ID)); err == nil && m.Method == "" {
			if wait, ok := c.calls.LoadAndDelete(id); ok {
				wait.(chan message) <- m
			}
		}
	}
}

func (c *client) send(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.in.Write(append(bytes.TrimRight(line, "\n"), '\n'))
	return err
}

// call sends a request and waits for its answer, at most a minute.
func (c *client) call(id int, method string, params any) (message, error) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return message{}, err
	}
	wait := make(chan message, 1)
	c.calls.Store(id, wait)
	if err := c.send(line); err != nil {
		return message{}, err
	}
	select {
	case m := <-wait:
		if m.Error != nil {
			return m, fmt.Errorf("%s: %d %s", method, m.Error.Code, m.Error.Message)
		}
		return m, nil
	case <-c.done:
		return message{}, errors.New("the server ended")
	case <-time.After(time.Minute):
		return message{}, fmt.Errorf("%s: no answer within a minute", method)
	}
}

// initialize opens the session in the handshake of the older revisions.
func (c *client) initialize() error {
	_, err := c.call(0, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "measure", "version": "1"},
	})
	if err != nil {
		return err
	}
	return c.send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// modern is the _meta that a request of revision 2026-07-28 carries.
func modern(extra map[string]any) map[string]any {
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "measure", "version": "1"},
	}
	maps.Copy(meta, extra)
	return meta
}

// close ends the server as a client does: by the end of its input.
func (c *client) close() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	<-c.done
	return c.cmd.Wait()
}
