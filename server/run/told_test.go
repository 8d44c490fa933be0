package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// Said is what a tool takes that keeps some of it back.
type Said struct {
	Text string `json:"text" jsonschema_description:"a text"`
	N    int    `json:"n,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"a number"`
}

// hushed is such a tool.
func hushed(name string) tools.Tool {
	return tools.New(tools.Def[Said, Out]{
		Name: name, Title: "Test", Doc: "Does a thing.", Access: tools.Exec, Effects: tools.Process,
		Run: func(context.Context, Said) (Out, error) { return Out{"ok"}, nil },
		Plan: func(context.Context, Said) (tools.Plan, error) {
			return tools.Plan{Private: true, Commands: []tools.Command{{Words: []tools.Word{{Text: "secret"}}}}}, nil
		},
		Redact: func(_ context.Context, in Said) Said {
			switch in.Text {
			case "plain":
				return in
			case "panic-secret":
				panic("no")
			}
			in.Text = "kept back"
			return in
		},
	})
}

// The arguments that a tool keeps back are in no record and no log, however the call ends.
func TestTold(t *testing.T) {
	for _, tt := range []struct{ name, tool, args, want string }{
		{"all of it", "hushed", `{"text":"plain","n":3}`, `{"n":3,"text":"plain"}`},
		{"less", "hushed", `{"text":"secret","n":3}`, `{"text":"kept back","n":3}`},
		{"nobody can say", "hushed", `{"text":"panic-secret"}`, `"23 bytes, not told"`},
		{"not valid", "hushed", `{"text":"secret","n":3000}`, `"26 bytes, not told"`},
		{"refused by a rule", "denied", `{"text":"secret"}`, `{"text":"kept back"}`},
		{"unknown", "Hushed", `{"text":"secret"}`, `"17 bytes, not told"`},
		{"a tool without secrets", "open", `{"n":3000}`, `{"n":3000}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var audit journal
			told := ""
			cfg := run.Config{Audit: &audit}
			cfg.Tools = []tools.Tool{
				hushed("hushed"),
				hushed("denied"),
				tool("open", tools.Exec, tools.Process, say("ok")),
			}
			cfg.Hooks.Pre = append(cfg.Hooks.Pre, func(_ context.Context, v run.View) (run.Decision, error) {
				if told = string(v.Redacted); v.Tool.Name == "denied" {
					return run.Decision{Deny: "no"}, nil
				}
				return run.Decision{}, nil
			})
			run.New(cfg).Run(t.Context(), run.Call{Tool: tt.tool, Args: json.RawMessage(tt.args), Session: local})
			if len(audit.list) == 0 {
				t.Fatal("nothing is on record")
			}
			for _, rec := range audit.list {
				if got := string(rec.Arguments); got != tt.want {
					t.Errorf("%s: got %s, want %s", rec.Event, got, tt.want)
				}
				if whole, err := json.Marshal(rec); err != nil || strings.Contains(string(whole), "secret") {
					t.Errorf("%s: %s, %v", rec.Event, whole, err)
				}
			}
			if told != "" && told != tt.want {
				t.Errorf("a hook is told %s", told)
			}
		})
	}
}
