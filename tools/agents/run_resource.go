package agents

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/agents/internal/runs"
)

//go:embed run_resource.md
var runResourceDoc string

// runURI is the prefix of the URIs of runs.
const runURI = "toolcrib://run/"

// mostRuns is how many runs are listed.
const mostRuns = 50

// RunResourceIn says which steps to read.
type RunResourceIn struct {
	Run  string `json:"run" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Handle of the run."`
	From int    `json:"from,omitempty" jsonschema:"minimum=0,maximum=100000" jsonschema_description:"Number of the first step."`
}

// RunResourceOut is the steps of a run.
type RunResourceOut struct{ uri, text string }

// Content returns the steps as one block.
func (o RunResourceOut) Content() []tools.Block {
	return []tools.Block{{Kind: tools.ResourceBlock, URI: o.uri, MIME: "text/markdown", Text: o.text}}
}

// Sources returns the resources of the category.
func Sources(d Deps) []tools.Source {
	return []tools.Source{{
		Name: "run", Title: "Runs of agents", MIME: "text/markdown",
		Description: "Steps of the agents that you have run within the last 30 days; /N after the handle begins at step N.",
		Template:    runURI + "{handle}", Needs: runAgentName,
		Read: tools.New(tools.Def[RunResourceIn, RunResourceOut]{
			Name: "run_resource", Title: "Read the run of an agent as a resource", Doc: runResourceDoc,
			Access: tools.Read, Effects: tools.None, Repeatable: true,
			Limits: tools.Limits{Text: tools.MaxResource},
			Examples: []tools.Example[RunResourceIn]{{
				Say: "the last steps of a run", Before: d.sampleRun, In: RunResourceIn{Run: sampleRun, From: 2},
			}},
			Run: d.runResource,
		}),
		Args: func(uri string) (json.RawMessage, bool) {
			handle, ok := strings.CutPrefix(uri, runURI)
			in := RunResourceIn{Run: handle}
			if run, from, found := strings.Cut(handle, "/"); found {
				n, err := strconv.Atoi(from)
				in.Run, in.From, ok = run, n, ok && err == nil && n >= 0
			}
			args, err := json.Marshal(in)
			return args, ok && in.Run != "" && err == nil
		},
		List: d.listRuns,
		Complete: func(ctx context.Context, variable, prefix string) ([]string, error) {
			list, err := d.listRuns(ctx)
			var handles []string
			for _, r := range list {
				if handle := strings.TrimPrefix(r.URI, runURI); variable == "handle" && strings.HasPrefix(handle, prefix) {
					handles = append(handles, handle)
				}
			}
			return handles, err
		},
		Version: d.runVersion,
	}}
}

// sampleRun is the run of examples.
const sampleRun = "k3bq7xya"

// sampleRun makes the run of examples.
func (d Deps) sampleRun(ctx context.Context) error {
	session := tools.Session(ctx)
	store, err := runs.Open(ctx, d.Database, session.Workspace)
	if err != nil {
		return err
	}
	if _, err := store.Get(ctx, sampleRun, session.Principal); err == nil {
		return nil
	}
	const from = "m at localhost"
	call := &model.Call{ID: "c", Name: "glob", Arguments: json.RawMessage(`{"pattern":"*_test.go"}`)}
	data, err := json.Marshal(spec{Title: "find the tests"})
	if err != nil {
		return err
	}
	now := time.Now()
	return store.Create(ctx, runs.Run{ID: sampleRun, Principal: session.Principal, Created: now, Spec: data}, []loop.Record{
		{Kind: loop.Said, At: now, Text: "find the tests"},
		{Kind: loop.Turn, At: now, From: from, Stop: model.Calls, Blocks: []model.Block{{Call: call}}},
		{Kind: loop.Result, At: now, Call: "c", Tool: "glob", Text: "1 file\na_test.go", MS: 3},
		{Kind: loop.Turn, At: now, From: from, Stop: model.Stop, Blocks: []model.Block{{Text: "a_test.go"}}},
		{Kind: loop.End, At: now, Status: loop.Completed},
	})
}

// ofRun returns what was asked of a run, and its steps from a number on.
func (d Deps) ofRun(ctx context.Context, id string, from int) (spec, []loop.Record, error) {
	session := tools.Session(ctx)
	store, err := runs.Open(ctx, d.Database, session.Workspace)
	if err != nil {
		return spec{}, nil, err
	}
	run, err := store.Get(ctx, id, session.Principal)
	if err != nil {
		return spec{}, nil, err
	}
	s, err := specOf(run)
	if err != nil {
		return spec{}, nil, err
	}
	records, err := store.Records(ctx, id, from)
	return s, records, err
}

func (d Deps) runResource(ctx context.Context, in RunResourceIn) (RunResourceOut, error) {
	if err := ctx.Err(); err != nil {
		return RunResourceOut{}, err
	}
	s, records, err := d.ofRun(ctx, in.Run, 0)
	if err != nil {
		return RunResourceOut{}, err
	}
	var b strings.Builder
	receipt := receiptOf(records)
	fmt.Fprintf(&b, "# %s\n\n%s\n%s", s.Title, receipt.used(), receipt.done())
	for i, r := range records[min(in.From, len(records)):] {
		fmt.Fprintf(&b, "\n## %d %s\n\n%s", in.From+i, r.Kind, step(r))
	}
	return RunResourceOut{runURI + in.Run, b.String()}, nil
}

// step is a record for people.
func step(r loop.Record) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, strings.TrimRight(format, "\n")+"\n", args...) }
	switch r.Kind {
	case loop.Turn:
		line("%s, %s", r.From, r.At.Format("15:04:05"))
		for _, note := range r.Notes {
			line("%s", note)
		}
		for _, block := range r.Blocks {
			switch {
			case block.Thinking != nil && block.Thinking.Text != "":
				line("> %s", strings.ReplaceAll(block.Thinking.Text, "\n", "\n> "))
			case block.Call != nil:
				line("%s `%s`", block.Call.Name, block.Call.Arguments)
			case block.Text != "":
				line("%s", block.Text)
			}
		}
	case loop.Result:
		line("%s, %d ms\n\n%s", r.Tool, r.MS, r.Text)
	case loop.End:
		line("%s", strings.TrimSpace(fmt.Sprintf("%s %s%s", r.Status, r.Text, r.Output)))
	case loop.Begin:
		line("%s", r.Tool)
	default:
		if r.Text != "" {
			line("%s", r.Text)
		}
	}
	return b.String()
}

func (d Deps) listRuns(ctx context.Context) ([]tools.Resource, error) {
	session := tools.Session(ctx)
	if !d.keeps(session) {
		return nil, nil
	}
	store, err := runs.Open(ctx, d.Database, session.Workspace)
	if err != nil {
		return nil, err
	}
	found, err := store.List(ctx, session.Principal, mostRuns)
	if err != nil {
		return nil, err
	}
	var list []tools.Resource
	for _, run := range found {
		s, err := specOf(run)
		if err != nil {
			return nil, err
		}
		list = append(list, tools.Resource{
			URI: runURI + run.ID, Name: "run " + run.ID, Title: s.Title, MIME: "text/markdown", Size: -1,
			Description: "begun " + run.Created.Format("2006-01-02 15:04"),
		})
	}
	return list, nil
}

// runVersion changes with every step.
func (d Deps) runVersion(ctx context.Context, uri string) (string, error) {
	handle, _, _ := strings.Cut(strings.TrimPrefix(uri, runURI), "/")
	session := tools.Session(ctx)
	store, err := runs.Open(ctx, d.Database, session.Workspace)
	if err != nil {
		return "", err
	}
	n, err := store.Count(ctx, handle, session.Principal)
	if err == nil && n == 0 {
		err = tools.Errorf(tools.NotFound, "there is no run %s", handle)
	}
	return strconv.Itoa(n), err
}
