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
	long   int          // the step that is long
	halted string
}

func (a *agency) Works(_ context.Context, over bool) (list []tools.Work, older int, err error) {
	for _, w := range a.runs {
		switch {
		case w.Over && !over:
		case len(list) > 0:
			older++
		default:
			list = append(list, w)
		}
	}
	return list, older, nil
}

func (a *agency) Has(_ context.Context, handle string) (bool, error) {
	return slices.ContainsFunc(a.runs, func(w tools.Work) bool { return w.Handle == handle }), nil
}

func (a *agency) Follow(ctx context.Context, handle string, from int) (tools.Work, []string, error) {
	for i := range a.runs {
		w := &a.runs[i]
		if w.Handle != handle {
			continue
		}
		if !w.Over && from >= w.Steps && ctx.Err() == nil { // its last step comes
			w.Steps, w.Over, w.State = w.Steps+1, true, "completed"
		}
		var steps []string
		for n := from; n < w.Steps; n++ {
			step := fmt.Sprintf("%d step", n)
			if n == a.long {
				step += strings.Repeat(".", 400)
			}
			steps = append(steps, step+"\n")
		}
		return *w, steps, nil
	}
	return tools.Work{}, nil, tools.Errorf(tools.NotFound, "no run %s", handle)
}

func (a *agency) Stop(_ context.Context, handle string) (tools.Work, error) {
	a.halted = handle
	return tools.Work{Handle: handle, What: "agent: t", State: "cancelled", Over: true, Steps: 2}, nil
}

// The tools for jobs list, follow and stop what goes on in other categories.
func TestWorks(t *testing.T) {
	s, ctx := start(t), t.Context()
	a := &agency{long: -1}
	s.all = shell.Tools(shell.Deps{Sandbox: s.engine, Jobs: s.jobs, Works: func() []tools.Works { return []tools.Works{a} }})
	output := func(args map[string]any) string { return s.call(ctx, "job_output", args) }
	s.want(output(map[string]any{"job": "bbbbbbbb"}), `^error: .*job bbbbbbbb`) // nothing is there
	a.runs = []tools.Work{
		{Handle: "aaaaaaaa", What: "agent: t", State: "running for 1s", Steps: 2, Input: "run_agent resume"},
		{Handle: "bbbbbbbb", What: "agent: old", State: "input_required: Which?\nanswer it", Steps: 3, Over: true, Input: "run_agent resume: answers"},
	}
	s.want(s.call(ctx, "job_list", nil), `^1 job\naaaaaaaa running for 1s; 2 steps; agent: t\n$`)
	s.want(output(map[string]any{"job": "aaaaaaaa"}), `^running for 1s; agent: t, 2 steps; next: offset=2\n\n0 step\n1 step\n$`)
	s.want(output(map[string]any{"job": "Job BBBBBBBB", "offset": 1}), `^input_required: Which\?\nanswer it; agent: old, 3 steps; next: offset=3\n\n1 step\n2 step\n$`)
	s.want(output(map[string]any{"job": "aaaaaaaa", "wait": "30s"}), `^completed; agent: t, 3 steps; next: offset=3\nfrom step 2, where the last answer ended\n\n2 step\n$`)
	s.want(output(map[string]any{"job": "aaaaaaaa"}), `^completed; agent: t, 3 steps; next: offset=3\nnothing new since step 3; offset=0 shows the steps again\n$`)
	s.want(output(map[string]any{"job": "aaaaaaaa", "offset": 0}), `offset=3\n\n0 step\n1 step\n2 step\n$`)
	s.want(output(map[string]any{"job": "cccccccc"}), `^error: .*job cccccccc`)
	s.want(s.call(ctx, "job_list", nil), `^no job`)
	s.want(s.call(ctx, "job_list", map[string]any{"all": true}), `^1 job; 1 older ones are not shown\naaaaaaaa completed; 3 steps; agent: t\n$`)
	if s.want(s.call(ctx, "job_stop", map[string]any{"job": "bbbbbbbb"}), `^cancelled; agent: t, 2 steps\n$`); a.halted != "bbbbbbbb" {
		t.Errorf("%q was stopped", a.halted)
	}
	job := s.begin("echo ready; sleep 60", plain)
	s.want(s.call(ctx, "job_stop", map[string]any{"job": job}), `; job `+job)
}

// Much of what a run did is paged by whole steps: on from an offset, and without one the last.
func TestWorksPaged(t *testing.T) {
	s, ctx := start(t), t.Context()
	a := &agency{long: 3, runs: []tools.Work{{Handle: "aaaaaaaa", What: "agent: t", State: "completed", Steps: 40, Over: true}}}
	s.all = shell.Tools(shell.Deps{Sandbox: s.engine, Jobs: s.jobs, Works: func() []tools.Works { return []tools.Works{a} }})
	output := func(args map[string]any) string {
		args["job"], args["max_output"] = "aaaaaaaa", 200
		return s.call(ctx, "job_output", args)
	}
	s.want(output(map[string]any{}), `^completed; agent: t, 40 steps; next: offset=40\n15 steps before step 15 are left out: offset=0 shows them\n\n15 step\n[^.]*39 step\n$`)
	s.want(output(map[string]any{"offset": 0}), `next: offset=3\n\n0 step\n1 step\n2 step\n$`)
	s.want(output(map[string]any{}), `next: offset=40\nfrom step 3, where the last answer ended\n12 steps before step 15 are left out: offset=3 shows them\n\n15 step\n`)
	s.want(output(map[string]any{"offset": 3}), `next: offset=4\n207 B of the step are left out\n\n3 step[.]+\n$`)
	s.want(output(map[string]any{"offset": 39}), `next: offset=40\n\n39 step\n$`)
}
