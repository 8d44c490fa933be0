package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// ToolUser calls the tools of one server. It may be used by several goroutines.
type ToolUser struct {
	*Client
	Last atomic.Int64
	// took is how long the last call took, for who makes one at a time: until the
	// whole answer was there, not until this program had understood it.
	Took atomic.Int64 // nanoseconds
}

// UseTools starts a server and opens the session.
func UseTools(ctx context.Context, p Program) (*ToolUser, error) {
	u, err := UseCommand(exec.CommandContext(ctx, p.Args[0], p.Args[1:]...))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name, err)
	}
	return u, nil
}

// UseCommand is UseTools for a command that is not started yet.
func UseCommand(cmd *exec.Cmd) (*ToolUser, error) {
	c, err := DialCommand(cmd, nil)
	if err != nil {
		return nil, err
	}
	if err := c.Initialize(); err != nil {
		return nil, errors.Join(err, c.End())
	}
	return &ToolUser{Client: c}, nil
}

// UseScratch starts a server on the empty directory of [Environment.Scratch], which remove
// deletes. The server does not wait for the disk.
func (e Environment) UseScratch(ctx context.Context, name string) (u *ToolUser, dir string, remove func(), err error) {
	base, dir, err := e.Scratch(name)
	remove = func() { _ = os.RemoveAll(base) }
	if err == nil {
		u, err = UseTools(ctx, e.Writer(dir, "--durable=false"))
	}
	return u, dir, remove, err
}

// Use makes one call. A tool that fails is an answer, not an error.
func (u *ToolUser) Use(tool string, args map[string]any) (Answer, error) {
	begin := time.Now()
	m, err := u.Call(int(u.Last.Add(1)), "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return Answer{}, fmt.Errorf("%s: %w", tool, err)
	}
	u.Took.Store(int64(m.arrived.Sub(begin)))
	if !utf8.Valid(m.Result) {
		return Answer{}, fmt.Errorf("%s: the result is not UTF-8: %.300q", tool, m.Result)
	}
	return ResultOf(m)
}

// Must makes one call that is to succeed and returns its text.
func (u *ToolUser) Must(tool string, args map[string]any) (string, error) {
	a, err := u.Use(tool, args)
	if err == nil && a.Failed {
		err = fmt.Errorf("%s: %s", tool, a.Text)
	}
	return a.Text, err
}

// Answer is the answer of a tool.
type Answer struct {
	Text, Code string
	Failed     bool
}

// ResultOf reads the answer of a tool.
func ResultOf(m Message) (Answer, error) {
	var r struct {
		Meta struct {
			Code string `json:"toolcrib/code"`
		} `json:"_meta"`
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return Answer{}, err
	}
	a := Answer{Code: r.Meta.Code, Failed: r.IsError}
	for _, c := range r.Content {
		a.Text += c.Text
	}
	return a, nil
}

// Call is a tool with the arguments for it.
type Call struct {
	Tool string
	Args map[string]any
}

// InFlight is how many calls the figures of speed keep in flight.
const InFlight = 64
