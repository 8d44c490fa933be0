package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// TestStages takes calls out of the pipeline at each of its stages, and looks at
// who was called, what was recorded and which hooks fired.
func TestStages(t *testing.T) {
	deny := func(context.Context, run.View) (run.Decision, error) { return run.Decision{Deny: "not today"}, nil }
	skip := func(context.Context, run.View) (run.Decision, error) {
		return run.Decision{Skip: &tools.Result{Content: []tools.Block{tools.Text("from the hook")}}}, nil
	}
	goOn := func(context.Context, run.View) (run.Decision, error) { return run.Decision{}, nil }
	replace := func(args string) func(context.Context, run.View) (run.Decision, error) {
		return func(context.Context, run.View) (run.Decision, error) {
			return run.Decision{Args: json.RawMessage(args)}, nil
		}
	}
	type pre = []func(context.Context, run.View) (run.Decision, error)

	for _, tc := range []struct {
		name    string
		access  tools.Access
		effects tools.Effects
		change  func(*tools.Def[In, Out])
		call    string
		args    string
		session tools.SessionInfo
		pre     pre
		handler handler
		cfg     run.Config
		want    string
		fired   string
		ran     int
		audit   []string
	}{
		{name: "unknown tool", call: "thing", want: "not_found", fired: "error not_found", audit: []string{"end thing not_found"}},
		{name: "bind", args: `{"n":5000}`, want: "invalid_argument", fired: "error invalid_argument", audit: []string{"end it invalid_argument"}},
		{name: "pre denies", pre: pre{skip, deny}, want: "denied", fired: "error denied", audit: []string{"end it deny pre-hook denied"}},
		{name: "pre fails", pre: pre{skip, func(context.Context, run.View) (run.Decision, error) {
			return run.Decision{}, errors.New("no idea")
		}}, want: "denied", fired: "error denied", audit: []string{"end it deny pre-hook denied"}},
		{name: "pre panics", pre: pre{goOn, func(context.Context, run.View) (run.Decision, error) { panic("no idea") }},
			want: "denied", fired: "error denied", audit: []string{"end it deny pre-hook denied"}},
		{name: "pre skips", pre: pre{skip, goOn}, want: "from the hook", fired: "skip from the hook", audit: []string{"end it skipped"}},
		{name: "pre replaces", pre: pre{replace(`{"n":7}`)}, handler: func(_ context.Context, in In) (Out, error) {
			return Out{strings.Repeat("x", in.N)}, nil
		}, want: "xxxxxxx", fired: "post xxxxxxx", ran: 1, audit: []string{"end it allow read ok"}},
		{name: "pre replaces wrongly", pre: pre{replace(`{"n":-1}`)}, want: "denied", fired: "error denied", audit: []string{"end it deny pre-hook denied"}},
		{name: "policy", access: tools.Write, effects: tools.Workspace, args: `{"path":".git/hooks/x"}`,
			want: "denied", fired: "error denied", audit: []string{"end it deny protected-path denied"}},
		{name: "question fails", change: func(d *tools.Def[In, Out]) {
			d.Confirm = func(context.Context, In) (tools.Question, error) {
				return tools.Question{}, tools.Errorf(tools.NotFound, "no such path")
			}
		}, want: "not_found", fired: "error not_found", audit: []string{"end it allow read not_found"}},
		{name: "asked", change: confirm("sure?"), session: askable, want: "asked", audit: []string{"end it ask tool-asks asked"}},
		{name: "cannot ask", change: confirm("sure?"), want: "denied", fired: "error denied", audit: []string{"end it ask tool-asks denied"}},
		{name: "cannot ask, client trusted", change: confirm("sure?"), cfg: run.Config{Settings: run.Settings{Confirm: run.ConfirmClient}},
			want: "done", fired: "post done", ran: 1, audit: []string{"end it allow tool-asks ok"}},
		{name: "can ask, client trusted", change: confirm("sure?"), session: askable, cfg: run.Config{Settings: run.Settings{Confirm: run.ConfirmClient}},
			want: "done", fired: "post done", ran: 1, audit: []string{"end it allow tool-asks ok"}},
		{name: "never ask", change: confirm("sure?"), session: askable, cfg: run.Config{Settings: run.Settings{Confirm: run.ConfirmDeny}},
			want: "denied", fired: "error denied", audit: []string{"end it ask tool-asks denied"}},
		{name: "handler fails", handler: fails(tools.Errorf(tools.Conflict, "changed")), want: "conflict", fired: "error conflict", ran: 1,
			audit: []string{"end it allow read conflict"}},
		{name: "handler fails with a plain error", handler: fails(errors.New("odd")), want: "internal", fired: "error internal", ran: 1,
			audit: []string{"end it allow read internal"}},
		{name: "handler panics", handler: func(context.Context, In) (Out, error) { panic("boom") }, want: "internal", fired: "error internal", ran: 1,
			audit: []string{"end it allow read internal"}},
		{name: "handler ends its goroutine", handler: func(context.Context, In) (Out, error) { runtime.Goexit(); return Out{}, nil },
			want: "internal", fired: "error internal", ran: 1, audit: []string{"end it allow read internal"}},
		{name: "goroutine of the handler panics", handler: func(ctx context.Context, _ In) (Out, error) {
			g, _ := tools.NewGroup(ctx, 2)
			g.Go(func() error { panic("boom") })
			return Out{}, g.Wait()
		}, want: "internal", fired: "error internal", ran: 1, audit: []string{"end it allow read internal"}},
		{name: "shape", handler: say(strings.Repeat("x", tools.MaxText+1)), want: "too_large", fired: "post", ran: 1,
			audit: []string{"end it allow read too_large"}},
		{name: "shape leaves room for the note", args: `{"n":"3"}`, handler: say(strings.Repeat("x", tools.MaxText)), want: "too_large", fired: "post", ran: 1,
			audit: []string{"end it allow read too_large"}},
		{name: "effects", access: tools.Write, effects: tools.State, want: "done", fired: "post done", ran: 1,
			audit: []string{"begin it allow write", "end it allow write ok"}},
		{name: "mends", args: `{"n":"3"}`, want: "note: /n: \"3\" read as a number\n|done", fired: "post done", ran: 1, audit: []string{"end it allow read ok"}},
		{name: "not UTF-8", handler: say("a\xffb"), want: "a?b", fired: "post a\xffb", ran: 1, audit: []string{"end it allow read ok"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var log lines
			var fired []string
			ran := 0
			h := tc.handler
			if h == nil {
				h = say("done")
			}
			if tc.access == 0 {
				tc.access, tc.effects = tools.Read, tools.None
			}
			change := tc.change
			if change == nil {
				change = func(*tools.Def[In, Out]) {}
			}
			cfg := tc.cfg
			cfg.Audit = &log
			cfg.Tools = []tools.Tool{tool("it", tc.access, tc.effects, func(ctx context.Context, in In) (Out, error) {
				ran++
				return h(ctx, in)
			}, change)}
			cfg.Hooks = run.Hooks{
				Pre: tc.pre,
				Post: []func(context.Context, run.View, any){func(_ context.Context, _ run.View, out any) {
					if s := out.(Out).Say; len(s) < 100 {
						fired = append(fired, "post "+s)
					} else {
						fired = append(fired, "post")
					}
				}},
				Error: []func(context.Context, run.View, *tools.Error){func(_ context.Context, _ run.View, err *tools.Error) {
					fired = append(fired, "error "+string(err.Code))
				}},
				Skip: []func(context.Context, run.View, tools.Result){func(_ context.Context, _ run.View, r tools.Result) {
					fired = append(fired, "skip "+r.Content[0].Text)
				}},
			}
			if tc.session.Principal == "" {
				tc.session = local
			}
			call := run.Call{Tool: "it", Args: json.RawMessage(tc.args), Session: tc.session}
			if tc.call != "" {
				call.Tool = tc.call
			}
			if tc.args == "" {
				call.Args = json.RawMessage(`{}`)
			}
			r := run.New(cfg)
			out := r.Run(t.Context(), call)
			if got := ending(out); got != tc.want {
				t.Errorf("ended in %q, want %q (%v)", got, tc.want, out.Err)
			}
			if got := strings.Join(fired, ","); got != tc.fired {
				t.Errorf("fired %q, want %q", got, tc.fired)
			}
			if ran != tc.ran {
				t.Errorf("ran %d times, want %d", ran, tc.ran)
			}
			if diff := cmp.Diff(tc.audit, log.records(t)); diff != "" {
				t.Errorf("audit (-want +got):\n%s", diff)
			}
			name := "it"
			if tc.call != "" {
				name = ""
			}
			if s := r.Stats().Tools[name]; s.Calls != 1 || s.InFlight != 0 {
				t.Errorf("calls %d, in flight %d; want 1, 0", s.Calls, s.InFlight)
			}
		})
	}
}

func TestPanicIsHiddenBehindAnID(t *testing.T) {
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
		tool("it", tools.Read, tools.None, func(context.Context, In) (Out, error) { panic("secret") }),
	}}})
	err := r.Run(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: local}).Err
	if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Msg, "crashed, error ") {
		t.Errorf("got %q", err)
	}
}

// mine is a log whose first line panics.
type mine struct {
	slog.Handler
	gone bool
}

func (m *mine) WithAttrs([]slog.Attr) slog.Handler { return m }

func (m *mine) Enabled(context.Context, slog.Level) bool { return true }

func (m *mine) Handle(context.Context, slog.Record) error {
	if !m.gone {
		m.gone = true
		panic("boom")
	}
	return nil
}

func TestPanicOfThePipeline(t *testing.T) {
	var log lines
	r := run.New(run.Config{
		Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, fails(errors.New("odd")))}}, // which is logged
		Audit:    &log,
		Log:      slog.New(&mine{Handler: slog.DiscardHandler}),
	})
	out := r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})
	if got := ending(out); got != "internal" || !strings.Contains(out.Err.Msg, "crashed") || r.Stats().Tools["it"].InFlight != 0 {
		t.Errorf("ended in %s (%v)", got, out.Err)
	}
	if diff := cmp.Diff([]string{"end it allow read internal"}, log.records(t)); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestResultOfAHookIsNotChanged(t *testing.T) {
	own := tools.Result{Content: []tools.Block{tools.Text("a\xffb")}}
	r := run.New(run.Config{
		Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, say("done"))}, Hooks: run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){
			func(context.Context, run.View) (run.Decision, error) { return run.Decision{Skip: &own}, nil },
		}}},
	})
	if got := ending(r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})); got != "a?b" || own.Content[0].Text != "a\xffb" {
		t.Errorf("ended in %q, the hook's own is now %q", got, own.Content[0].Text)
	}
}

func TestAuditHasNoResults(t *testing.T) {
	var log lines
	r := run.New(run.Config{Audit: &log, Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, say("hunter2"))}}})
	r.Run(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(`{"path":"a/b","n":"987"}`), Session: local})
	if got := log.buf.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, `"paths":["a/b"]`) || !strings.Contains(got, `"arguments":{"n":987,"path":"a/b"}`) {
		t.Errorf("got %s", got)
	}
}

func TestAuditOfChanges(t *testing.T) {
	var log lines
	r := run.New(run.Config{Audit: &log, Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Write, tools.Workspace, func(ctx context.Context, _ In) (Out, error) {
		for range 2 {
			tools.Changed(ctx, "a/b")
		}
		for i := range 40 {
			tools.Changed(ctx, fmt.Sprint("c", i))
		}
		return Out{}, nil
	})}}})
	r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})
	if got := log.buf.String(); !strings.Contains(got, `"changed":["a/b","c0",`) || !strings.Contains(got, `"c30"],"more_changed":9`) {
		t.Errorf("got %s", got)
	}
}

func TestEffectsWantAnAuditLog(t *testing.T) {
	log := lines{err: errors.New("disk full")}
	ran := false
	mark := func(context.Context, In) (Out, error) { ran = true; return Out{"done"}, nil }
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
		tool("reads", tools.Read, tools.None, say("done")), tool("writes", tools.Write, tools.Workspace, mark),
	}}, Audit: &log})
	if got := ending(r.Run(t.Context(), run.Call{Tool: "writes", Args: json.RawMessage(`{}`), Session: local})); got != "unavailable" || ran {
		t.Errorf("ended in %s, ran: %t", got, ran)
	}
	if got := ending(r.Run(t.Context(), run.Call{Tool: "reads", Args: json.RawMessage(`{}`), Session: local})); got != "done" {
		t.Errorf("a reading tool ended in %s", got)
	}
	r = run.New(run.Config{Audit: &log, Settings: run.Settings{AuditFailure: run.AuditAllow, Tools: []tools.Tool{tool("writes", tools.Write, tools.Workspace, mark)}}})
	if got := ending(r.Run(t.Context(), run.Call{Tool: "writes", Args: json.RawMessage(`{}`), Session: local})); got != "done" || !ran {
		t.Errorf("with allow: ended in %s, ran: %t", got, ran)
	}
}

func TestErrorIsClipped(t *testing.T) {
	long := tools.Errorf(tools.Conflict, "%s", strings.Repeat("x", 3*tools.MaxErrorText)).WithHint("do something else")
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, fails(long))}}})
	err := r.Run(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: local}).Err
	if n := len(err.Error()); n > tools.MaxErrorText || err.Hint != "do something else" {
		t.Errorf("%d bytes, hint %q", n, err.Hint)
	}
}

// An error says back what a caller sent, and nothing of that deceives who reads it.
func TestErrorIsVisible(t *testing.T) {
	refused := tools.Errorf(tools.NotFound, "no job \x1b[31m\u202e\xff").WithHint("job_list has no \u200b\r")
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, fails(refused))}}})
	err := r.Run(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: local}).Err
	if want := `not_found: no job \u{1b}[31m\u{202e}? (job_list has no \u{200b}\u{d})`; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
