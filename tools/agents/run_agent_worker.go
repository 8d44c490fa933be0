package agents

import (
	"context"
	"maps"
	"slices"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/executor"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// ask sets who works on a run: the model or executor that the call names, that of the preset,
// or the first executor where there is no model.
func (s *spec) ask(set *Settings, preset Preset, named string) {
	s.Executor = preset.Executor
	if named != "" {
		s.Executor, s.Models = "", []string{named}
		if _, is := set.Agents.Executors[named]; is {
			s.Executor, s.Models = named, nil
		}
	}
	if s.Executor == "" && len(s.Models) == 0 && len(set.Agents.Models) == 0 && len(set.Agents.Executors) > 0 {
		s.Executor = slices.Min(slices.Collect(maps.Keys(set.Agents.Executors)))
	}
}

// able returns why nobody can work on a run as it is asked.
func (set *Settings) able(s spec) error {
	if s.Executor == "" {
		_, err := set.models(s.Models)
		return err
	}
	e, ok := set.Agents.Executors[s.Executor]
	switch {
	case !ok:
		return tools.Errorf(tools.NotFound, "no executor is called %q", s.Executor)
	case s.Temperature != nil:
		return tools.Errorf(tools.Unsupported, "/temperature: the executor %s takes none", s.Executor)
	case s.Limits.Cost > 0 && !e.Priced():
		return tools.Errorf(tools.Unsupported, "/max_cost: the executor %s does not say what it costs", s.Executor).WithHint("name a model, or leave it out; an agent has that of its caller; the user can set price_in and price_out")
	}
	return nil
}

// worker is who works on a run: models, or an executor.
type worker struct {
	name           string
	tools          choice // those of the agent, see sampled
	note           string // for the caller
	window, output int    // of the model, in tokens
	turn           func(context.Context, model.Request, func(model.Event)) (*model.Turn, model.Bill, error)
	run            func(context.Context, *loop.Loop) (loop.Outcome, error)
	close          func()
}

func (a *agents) worker(ctx context.Context, s spec, c choice) (worker, error) {
	set := a.Settings.Now()
	if err := set.able(s); err != nil {
		return worker{}, err
	}
	if s.Executor != "" {
		if !a.Restarts {
			return worker{}, tools.Errorf(tools.Unavailable, "this program cannot run executors")
		}
		e := set.Agents.Executors[s.Executor]
		return worker{name: s.Executor, tools: c, close: func() {}, run: func(ctx context.Context, l *loop.Loop) (loop.Outcome, error) {
			return executor.Run{Name: s.Executor, Executor: e, Sandbox: a.Sandbox, Loop: l, Writes: e.OwnTools && c.runs()}.Do(ctx)
		}}, nil
	}
	endpoints, err := set.models(s.Models)
	if err != nil {
		return worker{}, err
	}
	endpoints, c, note, err := sampled(ctx, endpoints, c, s)
	if err != nil {
		return worker{}, err
	}
	client, err := clientOf(endpoints)
	if err != nil {
		return worker{}, err
	}
	ask := model.Client{Do: client.Do, Sample: tools.Session(ctx).Sample}
	w := worker{name: endpoints[0].String(), tools: c, note: note, close: client.Close, run: func(ctx context.Context, l *loop.Loop) (loop.Outcome, error) { return l.Run(ctx) }}
	w.window, w.output = endpoints[0].Tokens()
	w.turn = func(ctx context.Context, r model.Request, on func(model.Event)) (*model.Turn, model.Bill, error) {
		return ask.Turn(ctx, endpoints, r, on)
	}
	return w, nil
}

// runs reports whether a tool of the agent runs programs.
func (c choice) runs() bool {
	for _, t := range c.byName {
		if t.Access == tools.Exec {
			return true
		}
	}
	return false
}
