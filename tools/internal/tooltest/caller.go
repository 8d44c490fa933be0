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
	tool, err := c.find(name, args)
	if err != nil {
		return tools.Result{}, err
	}
	res, err := Call(ctx, tools.Session(ctx).Workspace, tool, args)
	if err != nil {
		return tools.Result{}, tools.AsError(err)
	}
	return res, nil
}

func (c *Caller) find(name string, args json.RawMessage) (tools.Tool, error) {
	names, err := tools.NameTools(c.All, c.Off...)
	if err != nil {
		return tools.Tool{}, err
	}
	return names.Find(name, args)
}

// Judge implements [tools.Caller]: a call of a tool that is there may be made, and one that
// runs programs is asked about.
func (c *Caller) Judge(_ context.Context, call tools.CallSpec) (string, error) {
	tool, err := c.find(call.Name, call.Args)
	if err != nil {
		return "", err
	}
	if _, err := tool.Bind(call.Args); err != nil {
		return "", tools.AsError(err)
	}
	if tool.Access == tools.Exec {
		return "run " + tool.Name + "?", nil
	}
	return "", nil
}

// Later implements [tools.Caller].
func (c *Caller) Later(ctx context.Context, call tools.LaterCall) (tools.Result, error) {
	tool, err := c.find(call.Name, call.Args)
	if err != nil {
		return tools.Result{}, err
	}
	bound, err := tool.Bind(call.Args)
	if err != nil {
		return tools.Result{}, err
	}
	out, err := tool.Run(tools.WithSession(ctx, &call.Session), bound)
	if err != nil {
		return tools.Result{}, tools.AsError(err)
	}
	return tool.Render(out)
}

// Preflight implements [tools.Caller]: every call may be made. Arguments that are wrong are left to
// Call.
func (c *Caller) Preflight(ctx context.Context, calls []tools.CallSpec) ([]tools.Bound, error) {
	all := make([]tools.Bound, len(calls))
	for i, call := range calls {
		if tool, err := c.find(call.Name, call.Args); err == nil {
			all[i], _ = tool.Bind(call.Args)
		}
	}
	return all, ctx.Err()
}
