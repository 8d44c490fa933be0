package tooltest

import (
	"context"
	"encoding/json"

	"toolcrib/tools"
)

// Caller is a [tools.Caller] for tests of tools that call others: it calls the
// tools that it was given, by their name, without a policy.
type Caller struct {
	All    []tools.Tool
	Listed []tools.Tool     // of them, nil = none
	Off    []tools.Omission // beside them
}

var _ tools.Caller = (*Caller)(nil)

// Tools implements [tools.Caller].
func (c *Caller) Tools(ctx context.Context) (tools.Selected, error) {
	return tools.Selected{Enabled: c.All, Listed: c.Listed, Omitted: c.Off}, ctx.Err()
}

// Names implements [tools.Caller].
func (c *Caller) Names(context.Context) (*tools.Names, error) {
	return tools.NameTools(c.All, c.Off...)
}

// Refusal implements [tools.Caller]: nothing is refused.
func (c *Caller) Refusal(context.Context, tools.Tool) string { return "" }

// Call implements [tools.Caller].
func (c *Caller) Call(ctx context.Context, name string, args json.RawMessage) (tools.Result, error) {
	if err := ctx.Err(); err != nil {
		return tools.Result{}, err
	}
	names, err := c.Names(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	tool, err := names.Find(name, args)
	if err != nil {
		return tools.Result{}, err
	}
	res, err := Call(ctx, tools.Session(ctx).Workspace, tool, args)
	if err != nil {
		return tools.Result{}, tools.AsError(err)
	}
	return res, nil
}

// Preflight implements [tools.Caller]: every call may be made.
func (c *Caller) Preflight(ctx context.Context, _ []tools.CallSpec) error { return ctx.Err() }
