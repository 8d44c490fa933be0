package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

func TestPolicy(t *testing.T) {
	const protectedArgs = `{"path":"sub/.git/hooks/pre-commit"}`
	for _, tc := range []struct {
		rule     string
		access   tools.Access
		effects  tools.Effects
		args     string
		readOnly bool
		open     bool // protected paths may be written
		want     string
	}{
		{rule: "read", access: tools.Read, effects: tools.None, want: "done"},
		{rule: "read", access: tools.Read, effects: tools.None, readOnly: true, want: "done"},
		{rule: "read", access: tools.Read, effects: tools.None, args: protectedArgs, want: "done"},
		{rule: "write", access: tools.Write, effects: tools.Workspace, want: "done"},
		{rule: "write", access: tools.Write, effects: tools.Workspace | tools.Destroys, want: "done"},
		{rule: "write", access: tools.Write, effects: tools.State, want: "done"},
		{rule: "read-only-server", access: tools.Write, effects: tools.Workspace, readOnly: true, want: "denied"},
		{rule: "read-only-server", access: tools.Exec, effects: tools.Process, readOnly: true, want: "denied"},
		{rule: "external", access: tools.External, effects: tools.Network, readOnly: true, want: "done"},
		{rule: "read-only-server", access: tools.External, effects: tools.Network | tools.Workspace, readOnly: true, want: "denied"},
		{rule: "read-only-server", access: tools.External, effects: tools.Network | tools.Destroys, readOnly: true, want: "denied"},
		{rule: "protected-path", access: tools.Write, effects: tools.Workspace, args: protectedArgs, want: "denied"},
		{rule: "write", access: tools.Write, effects: tools.Workspace, args: protectedArgs, open: true, want: "done"},
		{rule: "destroys-without-history", access: tools.Write, effects: tools.State | tools.Destroys, want: "asked"},
		{rule: "exec", access: tools.Exec, effects: tools.Process | tools.Workspace, want: "done"},
		{rule: "exec-with-network", access: tools.Exec, effects: tools.Process | tools.Network, want: "asked"},
		{rule: "leaves-the-roots", access: tools.Exec, effects: tools.Process | tools.Outside, want: "asked"},
		{rule: "leaves-the-roots", access: tools.Write, effects: tools.Outside, want: "asked"},
		{rule: "external", access: tools.External, effects: tools.Network, want: "done"},
		{rule: "external-destroys", access: tools.External, effects: tools.Network | tools.Destroys, want: "asked"},
		{rule: "delegates", access: tools.Delegates, effects: tools.Process | tools.Destroys | tools.Outside, want: "done"},
		{rule: "delegates", access: tools.Delegates, effects: tools.Process, readOnly: true, want: "done"},
	} {
		name := fmt.Sprintf("%s %s read-only=%t %s", tc.access, tc.effects, tc.readOnly, tc.args)
		t.Run(name, func(t *testing.T) {
			var log lines
			r := run.New(run.Config{Settings: run.Settings{ReadOnly: tc.readOnly, AllowProtected: tc.open, Tools: []tools.Tool{tool("it", tc.access, tc.effects, say("done"))}}, Audit: &log})
			if tc.args == "" {
				tc.args = `{}`
			}
			out := r.Run(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(tc.args), Session: askable})
			if got := ending(out); got != tc.want {
				t.Errorf("ended in %s, want %s", got, tc.want)
			}
			if got := log.records(t); !strings.Contains(got[len(got)-1], " "+tc.rule+" ") {
				t.Errorf("judged by %s, want %s", got, tc.rule)
			}
			if out.Err != nil && (out.Err.Hint == "" || !strings.Contains(out.Err.Msg, tc.rule)) {
				t.Errorf("the denial does not name the rule and the way out: %v", out.Err)
			}
		})
	}
}
