package bridge

import (
	"context"
	_ "embed"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
)

//go:embed call_read_tool.md
var callReadToolDoc string

func callReadToolTool(d Deps) tools.Tool {
	return tools.New(tools.Def[DelegatedIn, tools.Result]{
		Name: callReadToolName, Title: "Call a tool that only reads", Doc: callReadToolDoc, Tags: []string{"catalog"},
		Access: tools.Read, Effects: tools.None, Streams: true,
		Timeout: time.Hour, // that of the tool ends first
		Examples: []tools.Example[DelegatedIn]{{
			Say:   "a tool that is not listed",
			Files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
			In:    DelegatedIn{Name: "glob", Arguments: schema.Object{"pattern": []any{"*.txt"}}},
			Want:  "2 files\na.txt\nb.txt\n",
		}},
		Redact: d.tell,
		Run: func(ctx context.Context, in DelegatedIn) (tools.Result, error) {
			if err := d.onlyReads(ctx, in); err != nil {
				return tools.Result{}, err
			}
			return d.delegate(ctx, callReadToolName, in)
		},
	})
}

// onlyReads refuses a tool that does more than read. A call that means no tool passes: the
// runner refuses and records it, as it does for a call without a delegator.
func (d Deps) onlyReads(ctx context.Context, in DelegatedIn) error {
	if d.Caller == nil {
		return noCaller()
	}
	there, err := d.Caller.Tools(ctx)
	if err != nil {
		return err
	}
	args, err := in.args()
	if err != nil {
		return err
	}
	tool, err := named(there, in.Name, args)
	if err != nil || tool.Access == tools.Read {
		return nil
	}
	e := tools.Errorf(tools.Denied, "%s calls only tools that read, and %s has access %s", callReadToolName, tool.Name, tool.Access)
	if way := route(tool, there.Enabled); way != "" {
		return e.WithHint("call it by %s", way)
	}
	return e
}
