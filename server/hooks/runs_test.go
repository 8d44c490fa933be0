package hooks_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"toolcrib/server/hooks"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// A hook that looks at commands sees the calls that run one, or may, and is told of all.
func TestRuns(t *testing.T) {
	shell := tools.New(tools.Def[In, Out]{
		Name: "shell", Title: "Shell", Doc: "Does a thing.", Access: tools.Exec, Effects: tools.Process,
		Run: func(_ context.Context, in In) (Out, error) { return Out{in}, nil },
		Plan: func(_ context.Context, in In) (tools.Plan, error) {
			plan := tools.Plan{}
			for _, line := range in.List {
				c := tools.Command{}
				for word := range strings.FieldsSeq(line) {
					c.Words = append(c.Words, tools.Word{Text: word})
				}
				if c.Words[0].Text == "sh" {
					c.Hides = "it reads a script"
				}
				plan.Commands = append(plan.Commands, c)
			}
			return plan, nil
		},
	})
	all := append(catalog(), shell)
	opt := options(slog.New(slog.DiscardHandler), nil)
	opt.Tools = all
	h, err := hooks.New([]hooks.Spec{{Builtin: "confirm", Runs: []string{"git push"}}}, opt)
	if err != nil {
		t.Fatal(err)
	}
	r := run.New(run.Config{Settings: run.Settings{Tools: all, Hooks: h}})
	session := tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Forms: true}}
	for args, asked := range map[string]bool{
		`{"list":["ls","git status"]}`:    false,
		`{"list":["ls","git -C x push"]}`: true,
		`{"list":["sh x"]}`:               true,
		`{}`:                              false,
	} {
		out := r.Run(t.Context(), run.Call{Tool: "shell", Args: json.RawMessage(args), Session: session})
		if (out.Ask != nil) != asked {
			t.Errorf("%s: asked %t (%v)", args, out.Ask != nil, out.Err)
		}
	}
}
