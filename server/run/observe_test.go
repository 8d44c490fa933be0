package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/counts"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// diary is an Observer that writes down what it is told, with the parts that each
// part is inside of.
type diary struct {
	mu    sync.Mutex
	lines []string
}

type insideKey struct{}

func (d *diary) Begin(ctx context.Context, part run.Part) (context.Context, func(run.Ending)) {
	name := fmt.Sprintf("%s %s", part.Kind, part.Tool)
	if part.Number > 0 {
		name += fmt.Sprintf(" %d", part.Number)
	}
	if part.Trace.Parent != "" {
		name += " of " + part.Trace.Parent
	}
	if outer, ok := ctx.Value(insideKey{}).(string); ok {
		name = outer + "/" + name
	}
	return context.WithValue(ctx, insideKey{}, name), func(e run.Ending) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lines = append(d.lines, strings.TrimSpace(name+": "+e.Code+" "+e.Source))
	}
}

func TestObserve(t *testing.T) {
	caller := new(run.Caller)
	d := new(diary)
	fail := tools.Errorf(tools.Unavailable, "not now")
	r := run.New(run.Config{
		Settings: run.Settings{Tools: []tools.Tool{
			tool("inner", tools.Write, tools.State, fails(fail)),
			tool("outer", tools.Delegates, tools.State, func(ctx context.Context, _ In) (Out, error) {
				if _, err := caller.Preflight(ctx, []tools.CallSpec{{Name: "inner", Args: json.RawMessage(`{}`)}}); err != nil {
					return Out{}, err
				}
				_, err := caller.Call(ctx, "inner", json.RawMessage(`{}`))
				return Out{"inner: " + err.Error()}, nil
			}),
		}, Hooks: run.Hooks{
			Pre:  []func(context.Context, run.View) (run.Decision, error){func(context.Context, run.View) (run.Decision, error) { return run.Decision{}, nil }},
			Post: []func(context.Context, run.View, any){func(context.Context, run.View, any) {}},
		}},
		Observe: d,
		Caller:  caller,
	})
	out := r.Run(t.Context(), run.Call{Tool: "outer", Args: json.RawMessage(`{}`), Session: local, Trace: run.Trace{Parent: "the client"}})
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	r.Run(t.Context(), run.Call{Tool: "made_up", Args: json.RawMessage(`{}`), Session: local})
	call := "call outer of the client"
	attempt := call + "/attempt outer 1"
	want := []string{
		call + "/pre hook outer 1: ok",
		attempt + "/call inner/attempt inner 1: unavailable",
		attempt + "/call inner: unavailable tool",
		attempt + ": ok",
		call + "/post hook outer 1: ok",
		call + ": ok tool",
		"call : not_found tool",
	}
	if diff := cmp.Diff(want, d.lines); diff != "" {
		t.Errorf("observed (-want +got):\n%s", diff)
	}
}

func TestStats(t *testing.T) {
	now := time.Unix(0, 0)
	r := run.New(run.Config{
		Settings: run.Settings{Tools: []tools.Tool{
			tool("works", tools.Write, tools.State, func(_ context.Context, in In) (Out, error) {
				now = now.Add(time.Duration(in.N) * time.Millisecond)
				return Out{"twelve bytes"}, nil
			}),
			tool("fails", tools.Write, tools.State, fails(tools.Errorf(tools.Conflict, "no").WithHint("go"))),
		}},
		Now: func() time.Time { return now },
	})
	for _, args := range []string{`{"n":0}`, `{"n":3}`, `{"n":600}`} {
		r.Run(t.Context(), run.Call{Tool: "works", Args: json.RawMessage(args), Session: local})
	}
	r.Run(t.Context(), run.Call{Tool: "fails", Args: json.RawMessage(`{}`), Session: local})
	for _, name := range []string{"a", "b"} { // share the counters of unknown names
		r.Run(t.Context(), run.Call{Tool: name, Args: json.RawMessage(`{}`), Session: local})
	}
	stats := r.Stats()
	latency := func(counts map[time.Duration]uint64) []uint64 {
		var list []uint64
		for _, bound := range stats.Bounds {
			list = append(list, counts[bound])
		}
		return append(list, 0)
	}
	none := latency(nil)
	want := map[string]counts.ToolStats{
		"works": {
			Calls: 3, Errors: map[tools.Code]uint64{}, In: 7 + 7 + 9, Text: 36, Took: 603 * time.Millisecond,
			Latency: latency(map[time.Duration]uint64{100 * time.Microsecond: 1, 5 * time.Millisecond: 1, time.Second: 1}),
		},
		"fails": {Calls: 1, Errors: map[tools.Code]uint64{tools.Conflict: 1}, In: 2, Text: 4, Latency: latency(map[time.Duration]uint64{100 * time.Microsecond: 1})},
		counts.UnknownTool: {
			Calls: 2, Errors: map[tools.Code]uint64{tools.NotFound: 2}, In: 4, Text: stats.Tools[counts.UnknownTool].Text,
			Latency: latency(map[time.Duration]uint64{100 * time.Microsecond: 2}),
		},
		counts.SourceReads: {Errors: map[tools.Code]uint64{}, Latency: none},
	}
	if diff := cmp.Diff(want, stats.Tools); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	in, out := stats.Tools["works"].Tokens()
	if in != 5 || out != 9 {
		t.Errorf("tokens: %d in, %d out, want 5 and 9", in, out)
	}
}

func TestQuantile(t *testing.T) {
	bounds := run.New(run.Config{}).Stats().Bounds
	t1 := counts.ToolStats{Latency: make([]uint64, len(bounds)+1)}
	if got := t1.Quantile(0.5); got != 0 {
		t.Errorf("of no calls: %v", got)
	}
	t1.Latency[3], t1.Latency[len(bounds)] = 98, 2 // from 0.5 to 1 ms, and over a minute
	for q, want := range map[float64]time.Duration{0.5: 755 * time.Microsecond, 0.98: time.Millisecond, 0.99: time.Minute, 1: time.Minute} {
		if got := t1.Quantile(q).Round(time.Microsecond); got != want {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
	both := t1.Plus(counts.ToolStats{Calls: 3, Errors: map[tools.Code]uint64{tools.Denied: 2}, Latency: []uint64{3}})
	if diff := cmp.Diff(t1.Plus(counts.ToolStats{}), both.Minus(counts.ToolStats{Calls: 3, Errors: map[tools.Code]uint64{tools.Denied: 2}, Latency: []uint64{3}})); diff != "" {
		t.Errorf("plus and minus (-want +got):\n%s", diff)
	}
}

// The record of a call has what it has used of each model; that of the call around it does not.
func TestUsage(t *testing.T) {
	var log lines
	var caller run.Caller
	r := run.New(run.Config{Audit: &log, Caller: &caller, Settings: run.Settings{Tools: []tools.Tool{
		tool("thinks", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
			tools.Used(ctx, tools.Usage{Model: "m", In: 3, Out: 4})
			tools.Used(ctx, tools.Usage{Model: "m", In: 5})
			return Out{}, nil
		}),
		tool("outer", tools.Delegates, tools.None, func(ctx context.Context, _ In) (Out, error) {
			_, err := caller.Call(ctx, "thinks", empty)
			return Out{}, err
		}),
	}}})
	r.Run(t.Context(), run.Call{Tool: "outer", Args: empty, Session: local})
	got := map[string][]tools.Usage{}
	for line := range strings.Lines(log.buf.String()) {
		var rec run.Record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatal(err)
		}
		got[rec.Tool] = rec.Used
	}
	want := map[string][]tools.Usage{"outer": nil, "thinks": {{Model: "m", Turns: 2, In: 8, Out: 4}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if used := r.Stats().Used; len(used) != 1 || used[0].Tool != "thinks" || used[0].Principal != tools.Local || used[0].In != 8 {
		t.Errorf("counted %+v", used)
	}
}
