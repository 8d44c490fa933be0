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
			In:    DelegatedIn{Name: "glob", Arguments: schema.Object(`{"pattern":["*.txt"]}`)},
			Want:  "2 files\na.txt\nb.txt\n",
		}},
		Redact: d.tell,
		Run: func(ctx context.Context, in DelegatedIn) (tools.Result, error) {
			return d.delegate(ctx, callReadToolName, in)
		},
	})
}
