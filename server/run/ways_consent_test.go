package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// Consent that is given to a call of one way serves the other where it is for the
// session, and this call alone where it is for once.
func TestConsentBothWays(t *testing.T) {
	for _, tc := range []struct {
		choice string
		want   string // whether the calls are asked about, those of the other way last
	}{
		{"once", "asked asked asked"},
		{"session", "asked done done"},
	} {
		for i, first := range ways {
			w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) {
				s.Tools = append(s.Tools, tool("make", tools.Write, tools.Workspace, say("made")))
				ruled(s, rules.Rule{Name: "the-rule", Verdict: "ask", Tool: []string{"make"}})
			})
			values := map[string]json.RawMessage{"allow": json.RawMessage(`"` + tc.choice + `"`)}
			var got []string
			for _, way := range []way{first, first, ways[1-i]} {
				endings := w.do(t, way.call("make", empty), tools.Accept, values)
				if last := endings[len(endings)-1]; !strings.HasPrefix(last, "made") {
					t.Errorf("%s, first %s: ended in %q", tc.choice, first.name, endings)
				}
				if len(endings) == 2 {
					got = append(got, "asked")
				} else {
					got = append(got, "done")
				}
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("%s, first %s: %s, want %s", tc.choice, first.name, s, tc.want)
			}
			ran := 0
			for _, rec := range w.log.of(t, "make") {
				if rec.Event == run.EventBegin {
					ran++
				}
			}
			if ran != 3 {
				t.Errorf("%s, first %s: three calls ran %d times", tc.choice, first.name, ran)
			}
		}
	}
}

// A call that was consented to for the session and then asks by itself goes on with
// each answer, by either way.
func TestConsentAndQuestionBothWays(t *testing.T) {
	for _, way := range ways {
		w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) {
			s.Tools = append(s.Tools, tool("twice", tools.Read, tools.None, twoAsks))
			ruled(s, rules.Rule{Verdict: "ask", Tool: []string{"twice"}})
		})
		got := w.do(t, way.call("twice", empty), tools.Accept, map[string]json.RawMessage{"allow": json.RawMessage(`"session"`)})
		if len(got) != 4 || got[3] != "accept accept" {
			t.Errorf("%s: %q", way.name, got)
		}
	}
}

func TestWrongArgumentBothWays(t *testing.T) {
	for _, way := range ways {
		w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) {
			s.Tools = append(s.Tools, tool("look", tools.Read, tools.None, say("seen")))
		})
		got := w.do(t, way.call("look", json.RawMessage(`{"n":-1}`)), tools.Accept, nil)
		if !strings.HasPrefix(got[0], "invalid_argument: ") || !strings.Contains(got[0], "/n: ") || strings.Contains(got[0], "/arguments") {
			t.Errorf("%s: %q", way.name, got)
		}
	}
}

func TestProgressBothWays(t *testing.T) {
	for _, way := range ways {
		w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) {
			s.Tools = append(s.Tools, tool("steps", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
				for n := range 3 {
					tools.Progress(ctx)(tools.ProgressEvent{Done: float64(n + 1), Total: 3})
				}
				return Out{"done"}, nil
			}, streams))
		})
		var got []float64
		call := way.call("steps", empty)
		call.Session, call.Progress = w.session, func(e tools.ProgressEvent) { got = append(got, e.Done) }
		if out := w.runner.Run(t.Context(), call); text(out) != "done" {
			t.Errorf("%s: %v", way.name, out.Err)
		}
		if diff := cmp.Diff([]float64{1, 2, 3}, got); diff != "" {
			t.Errorf("%s: progress (-want +got):\n%s", way.name, diff)
		}
	}
}

// A result that fills its room has room for the notes about mended arguments, of the
// call and of call_tool.
func TestLongResultOfCallTool(t *testing.T) {
	long := tools.New(tools.Def[In, longOut]{
		Name: "long", Title: "Long", Doc: "Is long.", Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, In) (longOut, error) { return longOut{tools.MaxText}, nil },
	})
	w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) { s.Tools = append(s.Tools, long) })
	for _, args := range []string{
		`{"name":"long","arguments":{}}`,
		`{"name":"long","arguments":{"n":"7"}}`,
		`{"tool":"long","args":{}}`,
		`{"tool":"long","args":"{\"n\":\"7\"}"}`,
	} {
		out := w.runner.Run(t.Context(), run.Call{Tool: "call_tool", Args: json.RawMessage(args), Session: w.session})
		size := 0
		for _, b := range out.Result.Content {
			size += len(b.Text)
		}
		if out.Err != nil || size != tools.MaxText {
			t.Errorf("%s: %d bytes of text, want %d (%v)", args, size, tools.MaxText, out.Err)
		}
	}
}
