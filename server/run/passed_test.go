package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// longOut fills what there is room for.
type longOut struct{ n int }

func (o longOut) Text() string            { return strings.Repeat("x", o.n) }
func (o longOut) Trim(budget int) longOut { return longOut{min(o.n, budget)} }

// An inner result leaves room for the notes below it, and its mends are added to those of
// the outer call.
func TestPassedResultFits(t *testing.T) {
	var caller run.Caller
	type longIn struct {
		N int `json:"n,omitempty" jsonschema:"minimum=0,maximum=1000000,default=0" jsonschema_description:"how much"`
	}
	long := tools.New(tools.Def[longIn, longOut]{
		Name: "long", Title: "Long", Doc: "Is long.", Access: tools.Read, Effects: tools.None,
		Run: func(_ context.Context, in longIn) (longOut, error) { return longOut{in.N}, nil },
	})
	pass := tools.New(tools.Def[longIn, tools.Result]{
		Name: "pass", Title: "Pass", Doc: "Passes on.", Access: tools.Delegates, Effects: tools.None,
		Run: func(ctx context.Context, _ longIn) (tools.Result, error) {
			return caller.Call(ctx, "long", json.RawMessage(`{"n":"60000"}`))
		},
	})
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{long, pass}}, Caller: &caller})
	for _, args := range []string{`{}`, `{"n":"7"}`} {
		out := r.Run(t.Context(), run.Call{Tool: "pass", Args: json.RawMessage(args), Session: local})
		if out.Err != nil {
			t.Fatalf("%s: %v", args, out.Err)
		}
		size := 0
		for _, b := range out.Result.Content {
			size += len(b.Text)
		}
		mends, _ := out.Result.Meta["toolcrib/mends"].([]string)
		if want := 1 + strings.Count(args, `"7"`); size != tools.MaxText || len(mends) != want {
			t.Errorf("%s: %d bytes of text, mends %q; want %d, and %d mends", args, size, mends, tools.MaxText, want)
		}
	}
}
