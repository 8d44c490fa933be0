package shell_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/shell"
)

// agency has runs of agents, of which it lists only the newest.
type agency struct {
	runs   []tools.Work // the newest first
	halted string
}

func (a *agency) Works(context.Context) ([]tools.Work, error) {
	return a.runs[:min(len(a.runs), 1)], nil
}

func (a *agency) Has(_ context.Context, handle string) (bool, error) {
	return slices.ContainsFunc(a.runs, func(w tools.Work) bool { return w.Handle == handle }), nil
}

func (a *agency) Follow(ctx context.Context, handle string, from int) (tools.Work, string, error) {
	for i := range a.runs {
		w := &a.runs[i]
		if w.Handle != handle {
			continue
		}
		if !w.Over && from >= w.Steps && ctx.Err() == nil { // its last step comes
			w.Steps, w.Over, w.State = w.Steps+1, true, "completed"
		}
		var b strings.Builder
		for n := from; n < w.Steps; n++ {
			fmt.Fprintf(&b, "%d step\n", n)
		}
		return *w, b.String(), nil
	}
	return tools.Work{}, "", tools.Errorf(tools.NotFound, "no run %s", handle)
}

func (a *agency) Stop(_ context.Context, handle string) (tools.Work, error) {
	a.halted = handle
	return tools.Work{Handle: handle, What: "agent: t", State: "cancelled", Over: true, Steps: 2}, nil
}

// The tools for jobs list, follow and stop what goes on in other categories.
func TestWorks(t *testing.T) {
	s, ctx := start(t), t.Context()
	a := &agency{}
	s.all = shell.Tools(shell.Deps{Sandbox: s.engine, Jobs: s.jobs, Works: func() []tools.Works { return []tools.Works{a} }})
	output := func(args map[string]any) string { return s.call(ctx, "job_output", args) }
	s.want(output(map[string]any{"job": "bbbbbbbb"}), `^error: .*job bbbbbbbb`) // nothing is there
	a.runs = []tools.Work{
		{Handle: "aaaaaaaa", What: "agent: t", State: "running for 1s", Steps: 2},
		{Handle: "bbbbbbbb", What: "agent: old", State: "completed", Steps: 3, Over: true},
	}
	s.want(s.call(ctx, "job_list", nil), `aaaaaaaa running for 1s; 2 steps; agent: t\n`)
	s.want(output(map[string]any{"job": "aaaaaaaa"}), `^running for 1s; agent: t, 2 steps; next: offset=2\n\n0 step\n1 step\n$`)
	s.want(output(map[string]any{"job": "Job BBBBBBBB", "offset": 1}), `^completed; agent: old, 3 steps; next: offset=3\n\n1 step\n2 step\n$`)
	s.want(output(map[string]any{"job": "aaaaaaaa", "wait": "30s"}), `^completed; agent: t, 3 steps; next: offset=3\n\n0 step\n1 step\n2 step\n$`)
	s.want(output(map[string]any{"job": "cccccccc"}), `^error: .*job cccccccc`)
	s.want(s.call(ctx, "job_list", nil), `^no job`)
	s.want(s.call(ctx, "job_list", map[string]any{"all": true}), `aaaaaaaa completed; 3 steps; agent: t\n`)
	if s.want(s.call(ctx, "job_stop", map[string]any{"job": "bbbbbbbb"}), `^cancelled; agent: t, 2 steps\n$`); a.halted != "bbbbbbbb" {
		t.Errorf("%q was stopped", a.halted)
	}
	job := s.begin("echo ready; sleep 60", plain)
	s.want(s.call(ctx, "job_stop", map[string]any{"job": job}), `; job `+job)
}
