package bridge

import (
	"context"
	_ "embed"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
)

//go:embed call_tool.md
var callToolDoc string

func callToolTool(d Deps) tools.Tool {
	return tools.New(tools.Def[DelegatedIn, tools.Result]{
		Name: callToolName, Title: "Call a tool", Doc: callToolDoc, Tags: []string{"catalog"},
		// The called tool has the effects, and its call has its own record.
		Access: tools.Delegates, Effects: tools.None, Streams: true,
		Timeout: time.Hour, // that of the tool ends first
		Examples: []tools.Example[DelegatedIn]{
			{
				Say:   "a tool that is not listed",
				Files: map[string]string{"a.txt": "one\n", "b.txt": "two\n"},
				In:    DelegatedIn{Name: "glob", Arguments: schema.Object(`{"pattern":["*.txt"]}`)},
				Want:  "2 files\na.txt\nb.txt\n",
			},
			{
				Say:   "one that changes files",
				Files: map[string]string{"a.txt": "one\n"},
				In:    DelegatedIn{Name: "make_directory", Arguments: schema.Object(`{"path":"made"}`)},
				Want:  "…made…",
				After: map[string]string{"a.txt": "one\n", "made/": ""},
			},
		},
		Redact: d.tell,
		Run: func(ctx context.Context, in DelegatedIn) (tools.Result, error) {
			return d.delegate(ctx, callToolName, in)
		},
	})
}
