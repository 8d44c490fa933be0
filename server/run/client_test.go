package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// The tool of a source is called like any other, and by no name.
func TestRead(t *testing.T) {
	read := tool("read_it", tools.Read, tools.None, func(ctx context.Context, in In) (Out, error) {
		if in.N == 7 {
			panic("seven")
		}
		return Out{tools.Session(ctx).Principal + " read " + in.Path}, nil
	}, repeatable)
	var audit lines
	var denied bool
	caller := &run.Caller{}
	r := run.New(run.Config{
		Settings: run.Settings{Tools: []tools.Tool{tool("outer", tools.Delegates, tools.None, func(ctx context.Context, _ In) (Out, error) {
			_, err := caller.Call(ctx, "read_it", empty)
			return Out{}, err
		})}, Hooks: run.Hooks{Pre: []func(context.Context, run.View) (run.Decision, error){
			func(_ context.Context, v run.View) (run.Decision, error) {
				if denied {
					return run.Decision{Deny: "not " + v.Tool.Name}, nil
				}
				return run.Decision{}, nil
			},
		}}},
		Audit:  &audit,
		Caller: caller,
	})
	call := func(name, args string, read *tools.Tool) string {
		return ending(r.Run(t.Context(), run.Call{Tool: name, Read: read, Args: json.RawMessage(args), Session: local}))
	}
	for _, tt := range []struct{ name, got, want string }{
		{"read", call("", `{"path":"a"}`, &read), "local read a"},
		{"the name is not looked at", call("outer", `{"path":"b"}`, &read), "local read b"},
		{"wrong arguments", call("", `{"n":"x"}`, &read), "invalid_argument"},
		{"a panic", call("", `{"n":7}`, &read), "internal"},
		{"by its name", call("read_it", `{}`, nil), "not_found"},
		{"by its name, from inside a call", call("outer", `{}`, nil), "not_found"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
	denied = true
	if got := call("", `{"path":"a"}`, &read); got != "denied" {
		t.Errorf("past the hooks: %s", got)
	}
	want := []string{
		"end read_it allow read ok", "end read_it allow read ok", "end read_it invalid_argument", "end read_it allow read internal",
		"end read_it not_found", "end read_it not_found", "end outer allow delegates not_found", "end read_it deny pre-hook denied",
	}
	if got := audit.records(t); !slices.Equal(got, want) {
		t.Errorf("audit:\n%s", strings.Join(got, "\n"))
	}
	if n := r.Stats().Tools["resources/read"].Calls; n != 5 {
		t.Errorf("%d reads are counted, want 5", n)
	}
}

// A tool that needs an ability of the client runs for those that have it.
func TestAbility(t *testing.T) {
	needs := func(all ...tools.Ability) func(*tools.Def[In, Out]) {
		return func(d *tools.Def[In, Out]) {
			for _, a := range all {
				d.Needs = append(d.Needs, tools.Need{Client: a, How: "another client"})
			}
		}
	}
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
		tool("sampler", tools.Read, tools.None, say("sampled"), needs(tools.Sampling)),
		tool("both", tools.Read, tools.None, say("did both"), needs(tools.Sampling, tools.Elicitation, tools.Sampling)),
	}}})
	for _, tt := range []struct {
		tool    string
		client  tools.Client
		want    string
		lacking []tools.Ability
	}{
		{"sampler", tools.Client{}, "unsupported", []tools.Ability{tools.Sampling}},
		{"sampler", tools.Client{Forms: true}, "unsupported", []tools.Ability{tools.Sampling}},
		{"sampler", tools.Client{Sampling: true}, "sampled", nil},
		{"both", tools.Client{}, "unsupported", []tools.Ability{tools.Sampling, tools.Elicitation}},
		{"both", tools.Client{Sampling: true}, "unsupported", []tools.Ability{tools.Elicitation}},
		{"both", tools.Client{Sampling: true, Forms: true}, "did both", nil},
	} {
		out := r.Run(t.Context(), run.Call{Tool: tt.tool, Args: empty, Session: tools.SessionInfo{Client: tt.client}})
		if got := ending(out); got != tt.want {
			t.Errorf("%s for %+v: %s, want %s", tt.tool, tt.client, got, tt.want)
		}
		var lacking []tools.Ability
		if out.Err != nil {
			if e, ok := errors.AsType[*tools.AbilityError](out.Err); ok {
				lacking = e.Lacking
			}
		}
		if !slices.Equal(lacking, tt.lacking) {
			t.Errorf("%s for %+v: lacks %q, want %q", tt.tool, tt.client, lacking, tt.lacking)
		}
	}
}

// records is a handler that remembers what it gets.
type records struct {
	mu      sync.Mutex
	got     []string
	prefix  string
	waiting chan struct{} // nil: nobody waits
	owner   *records
}

func (h *records) Enabled(context.Context, slog.Level) bool { return true }
func (h *records) WithGroup(name string) slog.Handler {
	return &records{prefix: h.prefix + name + ".", owner: h.root()}
}

func (h *records) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &records{prefix: h.prefix + attrs[0].Key + " ", owner: h.root()}
}

func (h *records) root() *records {
	if h.owner != nil {
		return h.owner
	}
	return h
}

func (h *records) Handle(_ context.Context, r slog.Record) error {
	to := h.root()
	to.mu.Lock()
	to.got = append(to.got, h.prefix+r.Message)
	to.mu.Unlock()
	if to.waiting != nil {
		<-to.waiting
	}
	return nil
}

// What a call logs comes before it returns, and nothing afterwards.
func TestLog(t *testing.T) {
	var late *slog.Logger
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
		log := tools.Log(ctx)
		log.Info("one")
		log.With("k", 1).WithGroup("g").Info("two")
		late = log.With("late", 1)
		return Out{"done"}, nil
	})}}})
	var heard records
	if got := ending(r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local, Log: slog.New(&heard)})); got != "done" {
		t.Fatal(got)
	}
	late.Info("three")
	if want := []string{"one", "k g.two"}; !slices.Equal(heard.got, want) {
		t.Errorf("heard %q, want %q", heard.got, want)
	}
	if got := ending(r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})); got != "done" {
		t.Errorf("where nobody listens: %s", got)
	}
}

// A cancelled call ends though its client does not take what it logs.
func TestLogIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
			log := tools.Log(ctx)
			log.Info("one")
			log.Info("two")
			return Out{}, nil
		})}}})
		heard := records{waiting: make(chan struct{})}
		running := r.Start(t.Context(), run.Call{Tool: "it", Args: empty, Session: local, Log: slog.New(&heard)})
		synctest.Wait()
		running.Cancel()
		running.Wait()
		close(heard.waiting)
		synctest.Wait()
		if want := []string{"one"}; !slices.Equal(heard.got, want) {
			t.Errorf("heard %q, want %q", heard.got, want)
		}
	})
}
