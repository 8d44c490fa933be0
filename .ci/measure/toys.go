package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

// serveToys serves, over the production transport and pipeline, what a figure
// needs beside the catalog: "copies" (the catalog, copied up to 60 tools) or
// "progress" (a tool that reports progress).
func serveToys(what string) error {
	dir := "."
	if len(os.Args) > 3 {
		dir = os.Args[3]
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		return err
	}
	defer ws.Close()
	var ts []tools.Tool
	switch what {
	case "copies":
		ts = copied(60)
	case "progress":
		ts = []tools.Tool{countUpTool()}
	default:
		return fmt.Errorf("no toys are called %q", what)
	}
	debug.SetGCPercent(400) // as the serve command does
	workers := run.NewWorkers()
	defer workers.Close()
	s, err := server.New(server.Options{
		Name: "toys", Version: "0", Tools: ts, Workspace: ws,
		Runner: run.New(run.Config{Tools: ts, Go: workers.Go}),
	})
	if err != nil {
		return err
	}
	return s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
}

// copied builds the catalog again and again until there are n tools, so that
// each copy costs what a tool of its own would.
func copied(n int) []tools.Tool {
	ts := make([]tools.Tool, 0, n)
	for round := 0; ; round++ {
		for _, t := range catalog.All(catalog.Deps{}) {
			if len(ts) == n {
				return ts
			}
			if round > 0 {
				t.Name, t.Aliases = fmt.Sprintf("%s_%d", t.Name, round), nil
			}
			ts = append(ts, t)
		}
	}
}

type countUpIn struct {
	Steps int `json:"steps" jsonschema_description:"How far to count." jsonschema:"minimum=1,maximum=1000"`
	Call  int `json:"call" jsonschema_description:"Number of the call, so that no two are the same and joined." jsonschema:"minimum=0,maximum=1000000"`
}

type countUpOut struct{ Steps int }

func (o countUpOut) Text() string { return fmt.Sprintf("counted to %d", o.Steps) }

func countUpTool() tools.Tool {
	return tools.New(tools.Def[countUpIn, countUpOut]{
		Name: "count_up", Title: "Count up", Doc: "Counts up and reports each step.",
		Access: tools.Read, Effects: tools.None, Repeatable: true, Streams: true,
		Run: func(ctx context.Context, in countUpIn) (countUpOut, error) {
			report := tools.Progress(ctx)
			for i := range in.Steps {
				report(tools.ProgressEvent{Done: float64(i + 1), Total: float64(in.Steps)})
			}
			return countUpOut{in.Steps}, nil
		},
	})
}
