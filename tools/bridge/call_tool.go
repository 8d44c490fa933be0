package bridge

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
)

//go:embed call_tool.md
var callToolDoc string

const callToolName = "call_tool"

// CallToolIn is a call of another tool.
type CallToolIn struct {
	Name      string        `json:"name" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"name of the tool" alias:"tool,tool_name"`
	Arguments schema.Object `json:"arguments,omitempty" jsonschema_description:"what the tool takes, as search_tools shows it" alias:"args,input,parameters,params"`
}

func callToolTool(d Deps) tools.Tool {
	return tools.New(tools.Def[CallToolIn, tools.Result]{
		Name: callToolName, Title: "Call a tool", Doc: callToolDoc, Tags: []string{"catalog"},
		// The called tool has the effects, and its call has its own record.
		Access: tools.Delegates, Effects: tools.None, Streams: true,
		Timeout: time.Hour, // that of the tool ends first
		Examples: []tools.Example[CallToolIn]{
			{
				Say:   "a tool that is not listed",
				Files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
				In:    CallToolIn{Name: "glob", Arguments: schema.Object{"pattern": []any{"*.txt"}}},
				Want:  "2 files\na.txt\nb.txt\n",
			},
			{
				Say:   "one that changes files",
				Files: map[string]string{"a.txt": "one\n"},
				In:    CallToolIn{Name: "make_directory", Arguments: schema.Object{"path": "made"}},
				Want:  "…made…",
				After: map[string]string{"a.txt": "one\n", "made/": ""},
			},
		},
		Redact: d.tell,
		Run:    func(ctx context.Context, in CallToolIn) (tools.Result, error) { return callTool(ctx, d, in) },
	})
}

// tell returns the arguments as records may have them: those for the called tool as that tool
// allows.
func (d Deps) tell(ctx context.Context, in CallToolIn) CallToolIn {
	args, err := json.Marshal(in.Arguments)
	if err != nil || d.Caller == nil {
		return CallToolIn{Name: in.Name}
	}
	untold := CallToolIn{Name: in.Name, Arguments: schema.Object{"untold": fmt.Sprintf("%d bytes", len(args))}}
	all, err := d.Caller.Tools(ctx)
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == in.Name || slices.Contains(t.Aliases, in.Name) })
	switch {
	case err != nil, i < 0:
		return untold
	case !all[i].Redacts():
		return in
	case all[i].Name == callToolName: // it is refused
		return untold
	}
	bound, err := all[i].Bind(args)
	if err != nil {
		return untold
	}
	said := all[i].Redacted(ctx, bound)
	if bytes.Equal(said, bound.Canonical) {
		return in
	}
	told := CallToolIn{Name: in.Name} // a new map: the call still uses the other one
	if json.Unmarshal(said, &told.Arguments) != nil {
		return untold
	}
	return told
}

func callTool(ctx context.Context, d Deps, in CallToolIn) (tools.Result, error) {
	if d.Caller == nil {
		return tools.Result{}, noCaller()
	}
	if in.Name == callToolName {
		return tools.Result{}, tools.Errorf(tools.Denied, "call_tool does not call itself").
			WithHint("give the name and arguments of the other tool")
	}
	if in.Arguments == nil {
		in.Arguments = schema.Object{}
	}
	args, err := json.Marshal(in.Arguments)
	if err != nil {
		return tools.Result{}, err
	}
	// This call asks the user on behalf of the called tool.
	if err := d.Caller.Preflight(ctx, []tools.CallSpec{{Name: in.Name, Args: args}}); err != nil {
		return tools.Result{}, d.helpful(ctx, in.Name, err)
	}
	res, err := d.Caller.Call(ctx, in.Name, args)
	if err != nil {
		return tools.Result{}, d.helpful(ctx, in.Name, err)
	}
	return res, nil
}

// helpful adds to an error the facts that the caller cannot see for unlisted tools: names similar to an
// unknown one, and the arguments of the tool.
func (d Deps) helpful(ctx context.Context, name string, err error) error {
	all, listErr := d.Caller.Tools(ctx)
	e, ok := errors.AsType[*tools.Error](err)
	if listErr != nil || !ok {
		return err
	}
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name || slices.Contains(t.Aliases, name) })
	if i < 0 {
		if e.Code != tools.NotFound {
			return err
		}
		return e.WithHint("%s", d.nearest(all, name))
	}
	if _, wrong := errors.AsType[*schema.Error](e); !wrong {
		return err
	}
	args, err := signature(all[i])
	if err != nil {
		return e
	}
	return e.WithHint("%s", cut(fmt.Sprintf("arguments of %s: %s", name, args), maxSignature))
}

// nearest names the tools that an unknown name may mean.
func (d Deps) nearest(all []tools.Tool, name string) string {
	var names, near []string
	for _, t := range all {
		names = append(append(names, t.Name), t.Aliases...)
	}
	if n := schema.Nearest(name, names); n != "" {
		near = append(near, n)
	}
	if found, err := d.shelf.search(all, name); err == nil {
		for _, t := range found[:min(len(found), 3)] {
			if !slices.Contains(near, t.Name) {
				near = append(near, t.Name)
			}
		}
	}
	if near == nil {
		return "search_tools finds tools by what they do"
	}
	return "did you mean " + strings.Join(near, ", ") + "; search_tools finds tools by what they do"
}
