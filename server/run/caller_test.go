package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// nest makes a Runner whose tool "outer" does with a Caller what the test says. Its other
// tools are "read", "write", "delete" (asks), "ask" (asks twice) and "self".
func nest(log *lines, cfg run.Config, do func(context.Context, tools.Caller) (string, error)) *run.Runner {
	var caller run.Caller
	outer := func(ctx context.Context, _ In) (Out, error) {
		s, err := do(ctx, &caller)
		return Out{s}, err
	}
	cfg.Caller, cfg.Audit = &caller, log
	cfg.Tools = []tools.Tool{
		tool("outer", tools.Delegates, tools.State, outer),
		tool("read", tools.Read, tools.None, func(_ context.Context, in In) (Out, error) { return Out{fmt.Sprint("read ", in.N)}, nil }),
		tool("write", tools.Write, tools.Workspace, say("written")),
		tool("delete", tools.Write, tools.Workspace, say("deleted"), confirm("delete build/")),
		tool("ask", tools.Read, tools.None, twoAsks),
		tool("self", tools.Delegates, tools.State, func(ctx context.Context, in In) (Out, error) {
			res, err := caller.Call(ctx, "self", empty)
			if err != nil {
				return Out{}, err
			}
			return Out{res.Content[0].Text}, nil
		}),
	}
	return run.New(cfg)
}

func inner(name string) func(context.Context, tools.Caller) (string, error) {
	return func(ctx context.Context, c tools.Caller) (string, error) {
		res, err := c.Call(ctx, name, json.RawMessage(`{"n":4}`))
		if err != nil {
			return "", err
		}
		return res.Content[0].Text, nil
	}
}

func settled(names ...string) func(context.Context, tools.Caller) (string, error) {
	return func(ctx context.Context, c tools.Caller) (string, error) {
		var calls []tools.CallSpec
		for _, n := range names {
			calls = append(calls, tools.CallSpec{Name: n, Args: json.RawMessage(`{"n":4}`)})
		}
		if _, err := c.Preflight(ctx, calls); err != nil {
			return "", err
		}
		var said []string
		for _, n := range names {
			s, err := inner(n)(ctx, c)
			if err != nil {
				return "", err
			}
			said = append(said, s)
		}
		return strings.Join(said, "+"), nil
	}
}

func TestCaller(t *testing.T) {
	preHooks := 0
	count := run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){
		func(_ context.Context, v run.View) (run.Decision, error) {
			if v.Tool.Name != "outer" {
				preHooks++
			}
			return run.Decision{}, nil
		},
	}}
	for _, tc := range []struct {
		name     string
		do       func(context.Context, tools.Caller) (string, error)
		cfg      run.Config
		session  tools.SessionInfo
		want     []string // the endings of the passes, each asked one being accepted
		preHooks int
		audit    []string
	}{
		{name: "call", do: inner("read"), session: local, want: []string{"read 4"}, preHooks: 1,
			audit: []string{"begin outer allow delegates", "end read allow read ok", "end outer allow delegates ok"}},
		{name: "unknown", do: inner("raed"), session: local, want: []string{"not_found"}, preHooks: 0},
		{name: "consent is not asked for", do: inner("delete"), session: askable, want: []string{"denied"}, preHooks: 1},
		{name: "read-only", cfg: run.Config{Settings: run.Settings{ReadOnly: true}}, do: inner("write"), session: askable, want: []string{"denied"}, preHooks: 1},
		{name: "preflight", do: settled("read", "write"), session: local, want: []string{"read 4+written"}, preHooks: 2},
		{name: "preflight asks", do: settled("delete", "write", "delete"), session: askable, want: []string{"asked", "deleted+written+deleted"}, preHooks: 6},
		{name: "preflight cannot ask", do: settled("write", "delete"), session: local, want: []string{"denied"}, preHooks: 2,
			audit: []string{"begin outer allow delegates", "end delete ask tool-asks denied", "end outer allow delegates denied"}},
		{name: "preflight trusts the client", cfg: run.Config{Settings: run.Settings{Confirm: run.ConfirmClient}}, do: settled("delete"), session: local, want: []string{"deleted"}, preHooks: 1},
		{name: "preflight trusts a client with forms", cfg: run.Config{Settings: run.Settings{Confirm: run.ConfirmClient}}, do: settled("delete"), session: askable, want: []string{"deleted"}, preHooks: 1},
		{name: "preflight names the call", do: settled("write", "nothing"), session: local, want: []string{"not_found"}, preHooks: 1},
		{name: "preflight after a call", do: func(ctx context.Context, c tools.Caller) (string, error) {
			if _, err := inner("write")(ctx, c); err != nil {
				return "", err
			}
			return settled("delete")(ctx, c)
		}, session: askable, want: []string{"denied"}, preHooks: 2},
		{name: "a grant serves once", do: func(ctx context.Context, c tools.Caller) (string, error) {
			if _, err := settled("delete")(ctx, c); err != nil {
				return "", err
			}
			return inner("delete")(ctx, c)
		}, session: askable, want: []string{"asked", "denied"}, preHooks: 3},
		{name: "the inner tool asks", do: inner("ask"), session: askable, want: []string{"asked", "asked", "accept accept"}, preHooks: 3},
		{name: "the inner tool asks after another call", do: func(ctx context.Context, c tools.Caller) (string, error) {
			if _, err := inner("write")(ctx, c); err != nil {
				return "", err
			}
			return inner("ask")(ctx, c)
		}, session: askable, want: []string{"unavailable"}, preHooks: 2},
		{name: "the inner tool asks after a preflight", do: settled("ask"), session: askable, want: []string{"asked", "asked", "accept accept"}, preHooks: 3},
		{name: "without end", do: inner("self"), session: local, want: []string{"denied"}, preHooks: 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log lines
			preHooks = 0
			tc.cfg.Hooks = count
			r := nest(&log, tc.cfg, tc.do)
			call := run.Call{Tool: "outer", Args: empty, Session: tc.session}
			var got []string
			for range 5 {
				out := r.Run(t.Context(), call)
				got = append(got, ending(out))
				if out.Ask == nil {
					break
				}
				call.Reply = answer(out.Ask, tools.Accept, "")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("endings (-want +got):\n%s", diff)
			}
			if preHooks != tc.preHooks {
				t.Errorf("pre hooks ran %d times, want %d", preHooks, tc.preHooks)
			}
			if tc.audit != nil {
				if diff := cmp.Diff(tc.audit, log.records(t)); diff != "" {
					t.Errorf("audit (-want +got):\n%s", diff)
				}
			}
			for name, s := range r.Stats().Tools {
				if s.InFlight != 0 {
					t.Errorf("%s: %d calls in flight", name, s.InFlight)
				}
			}
		})
	}
}

// Of several calls a Preflight says which cannot run, and the others then pass.
func TestPreflightTellsAll(t *testing.T) {
	var log lines
	specs := func(names ...string) (list []tools.CallSpec) {
		for _, n := range names {
			list = append(list, tools.CallSpec{Name: n, Args: empty})
		}
		return list
	}
	r := nest(&log, run.Config{}, func(ctx context.Context, c tools.Caller) (string, error) {
		_, err := c.Preflight(ctx, specs("read", "nothing", "delete", "write"))
		refused, ok := errors.AsType[*tools.RefusedCalls](err)
		if !ok {
			return "", err
		}
		var said []string
		for _, err := range refused.Errs {
			if err == nil {
				said = append(said, "may run")
				continue
			}
			said = append(said, string(tools.AsError(err).Code))
		}
		if _, err := c.Preflight(ctx, specs("read", "write")); err != nil {
			return "", err
		}
		return strings.Join(said, ", ") + "; " + err.Error(), nil
	})
	out := r.Run(t.Context(), run.Call{Tool: "outer", Args: empty, Session: local})
	if got, want := text(out), `may run, not_found, denied, may run; not_found: call 2 of 4: no tool is called "nothing"`; got != want {
		t.Errorf("got %q %v\nwant %q", got, out.Err, want)
	}
}

// A Preflight returns the arguments that the tools will have: mended, and as a hook has replaced
// them.
func TestPreflightArguments(t *testing.T) {
	var log lines
	replace := func(_ context.Context, v run.View) (run.Decision, error) {
		if !strings.Contains(string(v.Args), "this") {
			return run.Decision{}, nil
		}
		return run.Decision{Args: json.RawMessage(`{"n":9}`)}, nil
	}
	r := nest(&log, run.Config{Settings: run.Settings{Hooks: run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){replace}}}},
		func(ctx context.Context, c tools.Caller) (string, error) {
			calls := []tools.CallSpec{{Name: "read", Args: json.RawMessage(`{"n":"7"}`)}, {Name: "read", Args: json.RawMessage(`{"path":"this"}`)}}
			bound, err := c.Preflight(ctx, calls)
			if err != nil {
				return "", err
			}
			said := fmt.Sprintf("%s %s", bound[0].Canonical, bound[1].Canonical)
			for _, call := range calls {
				res, err := c.Call(ctx, call.Name, call.Args)
				if err != nil {
					return "", err
				}
				said += "; " + text(run.Outcome{Result: res})
			}
			return said, nil
		})
	out := r.Run(t.Context(), run.Call{Tool: "outer", Args: empty, Session: local})
	if got, want := text(out), "{\"n\":7} {\"n\":9}; note: /n: \"7\" read as a number\n|read 7; read 9"; got != want {
		t.Errorf("got %q %v\nwant %q", got, out.Err, want)
	}
}

// A tool that called another can have its result within another limit.
func TestResultFits(t *testing.T) {
	var caller run.Caller
	r := run.New(run.Config{Caller: &caller, Settings: run.Settings{Tools: []tools.Tool{
		tool("inner", tools.Read, tools.None, say(strings.Repeat("x", 100))),
		tool("outer", tools.Delegates, tools.None, func(ctx context.Context, _ In) (Out, error) {
			res, err := caller.Call(ctx, "inner", empty)
			if err != nil {
				return Out{}, err
			}
			wide, err := res.Fit(200)
			if err != nil {
				return Out{}, err
			}
			_, err = res.Fit(50) // it cannot be trimmed
			return Out{fmt.Sprint(len(wide.Content[0].Text), " ", tools.AsError(err).Code)}, nil
		}),
	}}})
	if got := text(r.Run(t.Context(), run.Call{Tool: "outer", Args: empty, Session: local})); got != "100 too_large" {
		t.Errorf("got %q", got)
	}
}

func TestCallerOutsideACall(t *testing.T) {
	var caller run.Caller
	if _, err := caller.Call(t.Context(), "read", empty); tools.AsError(err).Code != tools.Unavailable {
		t.Errorf("got %v", err)
	}
}
