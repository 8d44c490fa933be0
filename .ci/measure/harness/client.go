package harness

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

// Client is a bare client of a server on stdio: it sends lines and hands every
// message that comes back to a function, in the order of the lines.
type Client struct {
	Cmd   *exec.Cmd
	In    io.WriteCloser
	mu    sync.Mutex // of in
	calls sync.Map   // id (int) -> chan message
	onMsg func(Message)
	// onLine, if set, takes the lines in the place of calls and onMsg.
	OnLine atomic.Pointer[func(line []byte)]
	Done   chan struct{}
}

// Message is a JSON-RPC message as far as the figures look into it.
type Message struct {
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

// Dial starts a server. onMsg sees every message before its caller does.
func Dial(ctx context.Context, onMsg func(Message), name string, args ...string) (*Client, error) {
	return DialCommand(exec.CommandContext(ctx, name, args...), onMsg)
}

// DialCommand is Dial for a command that is not started yet.
func DialCommand(cmd *exec.Cmd, onMsg func(Message)) (*Client, error) {
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
		onMsg = func(Message) {}
	}
	c := &Client{Cmd: cmd, In: in, onMsg: onMsg, Done: make(chan struct{})}
	go c.read(out)
	return c, nil
}

func (c *Client) read(out io.Reader) {
	defer close(c.Done)
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
		if take := c.OnLine.Load(); take != nil {
			(*take)(line)
			continue
		}
		m := Message{arrived: time.Now()}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		c.onMsg(m)
		if id, err := strconv.Atoi(string(m.ID)); err == nil && m.Method == "" {
			if wait, ok := c.calls.LoadAndDelete(id); ok {
				wait.(chan Message) <- m
			}
		}
	}
}

// Send writes a line to the server.
func (c *Client) Send(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.In.Write(append(bytes.TrimRight(line, "\n"), '\n'))
	return err
}

// Call sends a request and waits for its answer, at most a minute.
func (c *Client) Call(id int, method string, params any) (Message, error) {
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return Message{}, err
	}
	wait := make(chan Message, 1)
	c.calls.Store(id, wait)
	if err := c.Send(line); err != nil {
		return Message{}, err
	}
	select {
	case m := <-wait:
		if m.Error != nil {
			return m, fmt.Errorf("%s: %d %s", method, m.Error.Code, m.Error.Message)
		}
		return m, nil
	case <-c.Done:
		return Message{}, errors.New("the server ended")
	case <-time.After(time.Minute):
		return Message{}, fmt.Errorf("%s: no answer within a minute", method)
	}
}

// Initialize opens the session in the handshake of the older revisions.
func (c *Client) Initialize() error {
	_, err := c.Call(0, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "measure", "version": "1"},
	})
	if err != nil {
		return err
	}
	return c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// Modern is the _meta that a request of revision 2026-07-28 carries.
func Modern(extra map[string]any) map[string]any {
	meta := map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "measure", "version": "1"},
	}
	maps.Copy(meta, extra)
	return meta
}

// Close ends the server as a client does: by the end of its input.
func (c *Client) Close() error {
	if err := c.In.Close(); err != nil {
		return err
	}
	<-c.Done
	return c.Cmd.Wait()
}

// End ends a server that may have ended, or may not do so by the end of its input: then by force.
func (c *Client) End() error {
	_ = c.In.Close()                                                           // it may have ended
	late := time.AfterFunc(3*time.Second, func() { _ = c.Cmd.Process.Kill() }) // Wait tells
	defer late.Stop()
	<-c.Done
	return c.Cmd.Wait()
}
