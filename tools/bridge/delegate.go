package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/tools/internal/inner"
)

// DelegatedIn is a call of another tool.
type DelegatedIn struct {
	Name      string        `json:"name" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"name of the tool" alias:"tool,tool_name"`
	Arguments schema.Object `json:"arguments,omitempty" jsonschema_description:"as search_tools shows them" alias:"args,input,parameters,params"`
}

// The names of the tools that call others.
const (
	callToolName     = "call_tool"
	callReadToolName = "call_read_tool"
)

// delegators has them.
var delegators = []string{callToolName, callReadToolName}

// route returns the delegator that calls a tool, "" if there is none. call_read_tool comes
// first, since clients let it run unasked.
func route(t tools.Tool, all []tools.Tool) string {
	there := func(name string) bool {
		return slices.ContainsFunc(all, func(o tools.Tool) bool { return o.Name == name })
	}
	switch {
	case slices.Contains(delegators, t.Name):
		return ""
	case t.Least == tools.Read && there(callReadToolName):
		return callReadToolName
	case there(callToolName):
		return callToolName
	}
	return ""
}

// delegate calls another tool for the delegator self. It asks the user on behalf of that tool. A
// call that means no tool goes on: the runner refuses and records it, as it does for a call
// without a delegator.
func (d Deps) delegate(ctx context.Context, self string, in DelegatedIn) (tools.Result, error) {
	if d.Caller == nil {
		return tools.Result{}, inner.Unavailable()
	}
	there, err := d.Caller.Tools(ctx)
	if err != nil {
		return tools.Result{}, err
	}
	args := in.Arguments.Arguments()
	if tool, err := d.named(ctx, in.Name, args); err == nil {
		if err := refuses(self, tool, there.Enabled); err != nil {
			return tools.Result{}, err
		}
	}
	if _, err := d.Caller.Preflight(ctx, []tools.CallSpec{{Name: in.Name, Args: args}}); err != nil {
		return tools.Result{}, d.helpful(ctx, in.Name, args, err)
	}
	res, err := d.Caller.Call(ctx, in.Name, args)
	if err != nil {
		return tools.Result{}, d.helpful(ctx, in.Name, args, err)
	}
	return res, nil
}

// refuses returns why the delegator self does not call a tool, nil if it does.
func refuses(self string, t tools.Tool, all []tools.Tool) error {
	switch {
	case self == callReadToolName && t.Least != tools.Read:
		e := tools.Errorf(tools.Denied, "%s calls only tools that read, and %s has access %s", self, t.Name, t.Access)
		if way := route(t, all); way != "" {
			return e.WithHint("call it by %s", way)
		}
		return e
	case slices.Contains(delegators, t.Name):
		return tools.Errorf(tools.Denied, "%s does not call %s", self, t.Name).
			WithHint("give the name and arguments of the other tool")
	}
	return nil
}

// named returns the tool that a call by a name means, which may depend on its arguments.
func (d Deps) named(ctx context.Context, name string, args json.RawMessage) (tools.Tool, error) {
	names, err := d.Caller.Names(ctx)
	if err != nil {
		return tools.Tool{}, err
	}
	return names.Find(name, args)
}

// tell returns the arguments as records may have them: those for the called tool as that tool
// allows.
func (d Deps) tell(ctx context.Context, in DelegatedIn) DelegatedIn {
	refused := func(t tools.Tool) bool { return slices.Contains(delegators, t.Name) }
	return DelegatedIn{Name: in.Name, Arguments: inner.Told(ctx, d.Caller, in.Name, in.Arguments, refused)}
}

// helpful adds to an error the facts that the caller cannot see for unlisted tools: names similar to an
// unknown one, and the arguments of the tool.
func (d Deps) helpful(ctx context.Context, name string, args json.RawMessage, err error) error {
	there, listErr := d.Caller.Tools(ctx)
	e, ok := errors.AsType[*tools.Error](err)
	if listErr != nil || !ok {
		return err
	}
	tool, unknown := d.named(ctx, name, args)
	if unknown != nil {
		if e.Code != tools.NotFound {
			return err
		}
		return e.WithHint("%s", d.nearest(ctx, there, name))
	}
	if _, wrong := errors.AsType[*schema.Error](e); !wrong {
		return err
	}
	takes, err := signature(tool)
	if err != nil {
		return e
	}
	return e.WithHint("%s", cut(fmt.Sprintf("arguments of %s: %s", name, takes), maxSignature))
}

// nearest names the tools that an unknown name may mean: one that is nearly spelt so, and those
// found by its words that share two of them.
func (d Deps) nearest(ctx context.Context, there tools.Selected, name string) string {
	var near []string
	if names, err := d.Caller.Names(ctx); err == nil && names.Near(name) != "" {
		near = append(near, names.Near(name))
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r < 'a' || r > 'z' })
	if found, _, err := d.shelf.search(there, name); err == nil {
		for _, at := range found[:min(len(found), 3)] {
			if at >= len(there.Enabled) || slices.Contains(near, there.Enabled[at].Name) {
				continue
			}
			own := strings.Split(there.Enabled[at].Name, "_")
			shared := 0
			for _, word := range words {
				if slices.Contains(own, word) {
					shared++
				}
			}
			if shared > 1 {
				near = append(near, there.Enabled[at].Name)
			}
		}
	}
	if near == nil {
		return "search_tools finds tools by what they do"
	}
	return "did you mean " + strings.Join(near, ", ") + "; search_tools finds tools by what they do"
}
