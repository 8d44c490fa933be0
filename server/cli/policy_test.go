package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPolicyExplain(t *testing.T) {
	for _, tc := range []struct {
		args string
		code int
		want []string
	}{
		{`policy explain echo {"text":"a"}`, 0, []string{"echo: allow, by the rule read (default table)"}},
		{`policy explain erase {"path":"a"}`, 0, []string{"erase: ask", "tool-asks (the tool itself)", "for this call alone"}},
		{`policy explain erase {"path":".git/config"}`, 0, []string{"erase: deny, by the rule protected-path (always)", "why: the path is protected"}},
		{`policy explain ehco {}`, 2, []string{`did you mean "echo"`}},
		{`policy explain echo {"txt":1}`, 1, []string{"text"}},
		{`policy echo`, 2, []string{"toolcrib policy explain TOOL [JSON"}},
		{`help policy`, 0, []string{"deny wins over ask", "--principal"}},
	} {
		stdout, stderr, code := invocation{args: strings.Fields(tc.args)}.start(t)
		for _, want := range tc.want {
			if code != tc.code || !strings.Contains(stdout+stderr, want) {
				t.Errorf("%s: exit code %d, no %q in\n%s%s", tc.args, code, want, stdout, stderr)
			}
		}
	}
	stdout, _, _ := invocation{args: []string{"policy", "explain", "--json", "echo", `{"text":"a"}`}}.start(t)
	var x struct{ Tool, Verdict, Rule, From string }
	if err := json.Unmarshal([]byte(stdout), &x); err != nil || x.Verdict != "allow" || x.From != "default table" {
		t.Errorf("%s: %v", stdout, err)
	}
}

func TestBadStateKey(t *testing.T) {
	_, stderr, code := invocation{args: []string{"call", "echo", `{"text":"a"}`}, env: []string{"TOOLCRIB_STATE_KEY=tooshort", "PATH=x"}}.start(t)
	if code != 2 || !strings.Contains(stderr, "32 bytes") || strings.Contains(stderr, "tooshort") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
