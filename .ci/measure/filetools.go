package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// toolUser calls the tools of one server. It may be used by several goroutines.
type toolUser struct {
	*client
	last atomic.Int64
	// took is how long the last call took, for who makes one at a time: until the
	// whole answer was there, not until this program had understood it.
	took atomic.Int64 // nanoseconds
}

// useTools starts a server and opens the session.
func useTools(ctx context.Context, p program) (*toolUser, error) {
	c, err := dial(ctx, nil, p.args[0], p.args[1:]...)
	if err != nil {
		return nil, err
	}
	if err := c.initialize(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return &toolUser{client: c}, nil
}

// use makes one call. A tool that fails is an answer, not an error.
func (u *toolUser) use(tool string, args map[string]any) (toolAnswer, error) {
	begin := time.Now()
	m, err := u.call(int(u.last.Add(1)), "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return toolAnswer{}, fmt.Errorf("%s: %w", tool, err)
	}
	u.took.Store(int64(m.arrived.Sub(begin)))
	if !utf8.Valid(m.Result) {
		return toolAnswer{}, fmt.Errorf("%s: the result is not UTF-8: %.300q", tool, m.Result)
	}
	return toolResult(m)
}

// must makes one call that is to succeed and returns its text.
func (u *toolUser) must(tool string, args map[string]any) (string, error) {
	a, err := u.use(tool, args)
	if err == nil && a.failed {
		err = fmt.Errorf("%s: %s", tool, a.text)
	}
	return a.text, err
}

// toolAnswer is what a tool answered.
type toolAnswer struct {
	text, code string
	failed     bool
}

func toolResult(m message) (toolAnswer, error) {
	var r struct {
		Meta struct {
			Code string `json:"toolcrib/code"`
		} `json:"_meta"`
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return toolAnswer{}, err
	}
	a := toolAnswer{code: r.Meta.Code, failed: r.IsError}
	for _, c := range r.Content {
		a.text += c.Text
	}
	return a, nil
}

type call struct {
	tool string
	args map[string]any
}

const inFlight = 64
