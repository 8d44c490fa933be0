package tooltest

import (
	"context"
	"encoding/json"
	"slices"

	"toolcrib/tools"
)

// Caller is a [tools.Caller] for tests of tools that call others: it calls the
// tools that it was given, by their name, without a policy.
type Caller struct{ All []tools.Tool }

var _ tools.Caller = (*Caller)(nil)

// Tools implements [tools.Caller].
func (c *Caller) Tools(ctx context.Context) ([]tools.Tool, error) { return c.All, ctx.Err() }

// Refusal implements [tools.Caller]: nothing is refused.
func (c *Caller) Refusal(context.Context, tools.Tool) string { return "" }

// Call implements [tools.Caller].
func (c *Caller) Call(ctx context.Context, name string, args json.RawMessage) (tools.Result, error) {
	if err := ctx.Err(); err != nil {
		return tools.Result{}, err
	}
	i := slices.IndexFunc(c.All, func(t tools.Tool) bool { return t.Name == name })
	if i < 0 {
		return tools.Result{}, tools.Errorf(tools.NotFound, "no tool is called %q", name)
	}
	res, err := Call(ctx, tools.Session(ctx).Workspace, c.All[i], args)
	if err != nil {
		return tools.Result{}, tools.AsError(err)
	}
	return res, nil
}

// Preflight implements [tools.Caller]: every call may be made.
func (c *Caller) Preflight(ctx context.Context, _ []tools.CallSpec) error { return ctx.Err() }
