package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// LineIn is what the tool of these tests takes: a line for each command, whose words are
// separated by blanks, or ">" for a redirection. "?" is a word that is not known, "*" any number of them; "<path"
// and ">path" are what it opens, "!" says that it hides others, "~" that it is light.
type LineIn struct {
	Line    string `json:"line" jsonschema_description:"commands"`
	Network bool   `json:"network,omitempty" jsonschema_description:"network"`
	Unknown bool   `json:"unknown,omitempty" jsonschema_description:"runs others"`
}

func planner(change ...func(*tools.Def[LineIn, Out])) tools.Tool {
	d := tools.Def[LineIn, Out]{
		Name: "shell", Title: "Run a line", Doc: "Does a thing.", Access: tools.Exec,
		Effects: tools.Process | tools.Workspace | tools.Network | tools.Outside | tools.Destroys,
		Run:     func(context.Context, LineIn) (Out, error) { return Out{"done"}, nil },
		Plan: func(_ context.Context, in LineIn) (tools.Plan, error) {
			plan := tools.Plan{Effects: tools.Process | tools.Workspace, Shows: in.Line}
			if in.Network {
				plan.Effects |= tools.Network
			}
			if in.Unknown {
				plan.Unknown = "nobody knows"
			}
			for line := range strings.Lines(in.Line) {
				if strings.TrimSpace(line) == ">" {
					plan.Writes = true
					continue
				}
				plan.Commands = append(plan.Commands, command(line))
			}
			return plan, nil
		},
	}
	for _, c := range change {
		c(&d)
	}
	return tools.New(d)
}

func command(line string) tools.Command {
	c := tools.Command{Told: true}
	for word := range strings.FieldsSeq(line) {
		switch {
		case word == "?":
			c.Words, c.Told = append(c.Words, tools.Word{Text: "$x", Kind: tools.Some}), false
		case word == "*":
			c.Words, c.Told = append(c.Words, tools.Word{Text: "$x", Kind: tools.Many}), false
		case word == "!":
			c.Hides = "it reads a script"
		case word == "~":
			c.Light = true
		case word[0] == '<' || word[0] == '>':
			c.Touches = append(c.Touches, tools.Touch{Path: word[1:], Write: word[0] == '>'})
		default:
			c.Words = append(c.Words, tools.Word{Text: word})
		}
	}
	return c
}

func TestRulesOfCommands(t *testing.T) {
	ws := ground(t)
	const (
		denyRM   = `{"verdict":"deny","command":["rm"]}`
		denyPush = `{"verdict":"deny","command":["git push"]}`
		askForce = `{"verdict":"ask","command":["git push --force"]}`
		denyExec = `{"verdict":"deny","access":["exec"]}`
		askExec  = `{"verdict":"ask","access":["exec"]}`
		allowLS  = `{"verdict":"allow","command":["ls *","git status"]}`
	)
	for _, tc := range []struct{ rules, line, want, by string }{
		{``, "rm -rf /", "done", "exec"},
		{``, "*", "done", "exec"},
		{denyRM, "ls\nrm x", "denied", "policy[1]"},
		{denyRM, "/bin/rm x", "denied", "policy[1]"},
		{denyRM, "../x/RM x", "denied", "policy[1]"},
		{denyRM, "rmdir x", "done", "exec"},
		{denyRM, "rm.exe x", "denied", "policy[1]"},
		{denyRM, "echo rm", "done", "exec"},
		{denyRM, "*", "asked", "policy[1]"},
		{denyRM, "? x", "asked", "policy[1]"},
		{denyRM, "* rm x", "asked", "policy[1]"},
		{denyRM, "make ! x", "asked", "policy[1]"},
		{denyRM, "ls\nmake ~ ! x", "asked", "policy[1]"},
		{denyPush, "git push origin", "denied", "policy[1]"},
		{denyPush, "git -C x push", "denied", "policy[1]"},
		{denyPush, "git -c a=b --no-pager push", "denied", "policy[1]"},
		{denyPush, "git commit -m push", "done", "exec"},
		{denyPush, "git stash push", "done", "exec"},
		{denyPush, "git ? x", "asked", "policy[1]"},
		{denyPush, "git -C * x", "asked", "policy[1]"},
		{denyPush, "git status *", "done", "exec"},
		{denyPush + "," + allowLS, "git status *", "done", "exec"},
		{askForce, "git push origin main --force", "asked", "policy[1]"},
		{askForce, "git push --forc", "asked", "policy[1]"},
		{askForce, "git push --force-with-lease", "done", "exec"},
		{askForce, "git push *", "asked", "policy[1]"},
		{`{"verdict":"deny","command":["rm -rf"]}`, "rm -fr x", "denied", "policy[1]"},
		{`{"verdict":"deny","command":["rm -rf"]}`, "rm -v -r x -f", "denied", "policy[1]"},
		{`{"verdict":"deny","command":["rm -rf"]}`, "rm -r x", "done", "exec"},
		{`{"verdict":"deny","command":["find * -delete"]}`, "find . -name x -delete", "denied", "policy[1]"},
		{`{"verdict":"deny","command":["npm run deploy:*"]}`, "npm run deploy:prod", "denied", "policy[1]"},
		{`{"verdict":"deny","command":["npm run deploy:*"]}`, "npm run test", "done", "exec"},
		{askExec + "," + allowLS, "ls -la", "done", "policy[2]"},
		{askExec + "," + allowLS, "/usr/bin/ls -la", "done", "policy[2]"},
		{askExec + "," + allowLS, "./ls -la", "asked", "policy[1]"},
		{askExec + "," + allowLS, "git status", "done", "policy[2]"},
		{askExec + "," + allowLS, "git status -s", "asked", "policy[1]"},
		{askExec + "," + allowLS, "git -C x status", "asked", "policy[1]"},
		{askExec + "," + allowLS, "ls *", "done", "policy[2]"},
		{askExec + "," + allowLS, "* x", "asked", "policy[1]"},
		{askExec + "," + allowLS, "ls\nrm x", "asked", "policy[1]"},
		{askExec + "," + allowLS, "cd ~ x\nls", "done", "policy[2]"},
		{askExec + "," + allowLS, "cd ~ x", "asked", "policy[1]"},
		{askExec + "," + allowLS, "", "asked", "policy[1]"},
		{denyRM + `,{"verdict":"allow","command":["rm -i *"]}`, "rm -i x", "done", "policy[2]"},
		{denyRM + `,{"verdict":"allow","command":["make *"]}`, "make ! x", "done", "policy[2]"},
		{denyRM + `,{"verdict":"allow","tool":["shell"]}`, "rm x", "denied", "policy[1]"},
		{denyRM + `,{"verdict":"allow","tool":["shell"]}`, "ls", "done", "policy[2]"},
		{`{"verdict":"deny","tool":["shell"]},{"verdict":"allow","tool":["shell"],"command":["ls *"]}`, "ls", "done", "policy[2]"},
		{`{"verdict":"deny","tool":["shell"]},{"verdict":"allow","command":["ls *"]}`, "ls", "denied", "policy[1]"},
		{denyExec + "," + allowLS, "ls\nls -l", "done", "policy[2]"},
		{denyExec + "," + allowLS, "ls\nsh ~ !", "denied", "policy[1]"},
		{denyExec + "," + allowLS, "ls\nsh ~ -c x\nls", "done", "policy[2]"},
		{denyExec + "," + allowLS, "ls\n>", "denied", "policy[1]"},
		{askExec + "," + allowLS, "ls\n>", "asked", "policy[1]"},
		{denyRM, "ls\n>", "done", "exec"},
		{`{"verdict":"ask","command":["git push --force"]},` + denyPush, "git push *", "denied", "policy[2]"},
		{`{"verdict":"deny","path":["secrets"]}`, "cat <secrets/key", "denied", "policy[1]"},
		{`{"verdict":"deny","path":["secrets"]}`, "cat <link", "denied", "policy[1]"},
		{`{"verdict":"deny","path":["secrets"]},` + denyPush, "cat <secrets/key", "denied", "policy[1]"},
		{`{"verdict":"deny","path":["secrets"]}`, "cat <src/a.go", "done", "exec"},
		{`{"verdict":"deny","path":["secrets"],"command":["rm"]}`, "cat <secrets/key", "done", "exec"},
		{`{"verdict":"deny","path":["secrets"],"command":["rm"]}`, "rm >secrets/key", "denied", "policy[1]"},
		{`{"verdict":"deny","path":["secrets"],"command":["rm"]}`, "rm >src/a.go", "done", "exec"},
		{`{"verdict":"deny","path":["secrets"],"command":["rm"]}`, "rm *", "asked", "policy[1]"},
		{`{"verdict":"deny","effect":["network"]}`, "ls", "done", "exec"},
	} {
		var log lines
		set := run.Settings{Tools: append(kinds(), planner())}
		var list []rules.Rule
		if err := json.Unmarshal([]byte("["+tc.rules+"]"), &list); err != nil {
			t.Fatal(err)
		}
		var err error
		if set.Rules, err = rules.New(list, set.Tools); err != nil {
			t.Fatal(err)
		}
		r := run.New(run.Config{Settings: set, Audit: &log})
		session := askable
		session.Workspace = ws
		args, err := json.Marshal(LineIn{Line: tc.line})
		if err != nil {
			t.Fatal(err)
		}
		call := run.Call{Tool: "shell", Args: args, Session: session}
		out := r.Run(t.Context(), call)
		if got := ending(out); got != tc.want {
			t.Errorf("%q under %s ended in %s, want %s (%v)", tc.line, tc.rules, got, tc.want, out.Err)
		}
		if got := log.records(t); !strings.Contains(got[len(got)-1], " "+tc.by+" ") {
			t.Errorf("%q under %s: judged by %s, want %s", tc.line, tc.rules, got, tc.by)
		}
		x, err := r.Explain(t.Context(), call)
		verdict := map[string]string{"done": "allow", "asked": "ask", "denied": "deny"}[tc.want]
		if err != nil || x.Verdict != verdict || x.Rule != tc.by {
			t.Errorf("%q under %s: explained as %s by %s (%v)", tc.line, tc.rules, x.Verdict, x.Rule, err)
		}
	}
}

// What the plan of a call says of its effects decides in place of all that the tool may
// have.
func TestEffectsOfPlan(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{`{"line":"ls"}`, "end shell allow exec ok"},
		{`{"line":"ls","network":true}`, "end shell ask exec-with-network asked"},
	} {
		var log lines
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{planner()}}, Audit: &log})
		r.Run(t.Context(), run.Call{Tool: "shell", Args: json.RawMessage(tc.args), Session: askable})
		if got := log.records(t); got[len(got)-1] != tc.want {
			t.Errorf("%s: %q, want %q", tc.args, got, tc.want)
		}
	}
	wild := planner(func(d *tools.Def[LineIn, Out]) {
		d.Effects = tools.Process
		d.Plan = func(context.Context, LineIn) (tools.Plan, error) { return tools.Plan{Effects: tools.Network}, nil }
	})
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{wild}}})
	if out := r.Run(t.Context(), run.Call{Tool: "shell", Args: json.RawMessage(`{"line":""}`), Session: askable}); out.Err == nil || out.Err.Code != tools.Internal {
		t.Errorf("a plan with an effect that the tool has not: %v", out.Err)
	}
}

// A consent for the session covers the call that was shown and no other.
func TestConsentOfCommands(t *testing.T) {
	set := run.Settings{Tools: []tools.Tool{planner()}}
	var err error
	if set.Rules, err = rules.New([]rules.Rule{{Verdict: "ask", Command: []string{"git"}, Why: "look first"}}, set.Tools); err != nil {
		t.Fatal(err)
	}
	r := run.New(run.Config{Settings: set})
	do := func(args string) run.Outcome {
		return r.Run(t.Context(), run.Call{Tool: "shell", Args: json.RawMessage(args), Session: askable})
	}
	out := do(`{"line":"ls\ngit push"}`)
	if out.Ask == nil {
		t.Fatalf("not asked: %v", out.Err)
	}
	form := out.Ask.Forms["consent"]
	for _, want := range []string{"git push: look first (rule policy[1])", "ls\ngit push"} {
		if !strings.Contains(form.Message, want) {
			t.Errorf("the question is %q, want %q in it", form.Message, want)
		}
	}
	if !strings.Contains(form.Fields[0].Description, "this call again") {
		t.Errorf("the consent covers %s", form.Fields[0].Description)
	}
	out = r.Run(t.Context(), run.Call{
		Tool: "shell", Args: json.RawMessage(`{"line":"ls\ngit push"}`), Session: askable,
		Reply: &run.Reply{State: out.Ask.State, Answers: map[string]tools.Answer{"consent": {
			Action: tools.Accept, Values: map[string]json.RawMessage{"allow": json.RawMessage(`"session"`)},
		}}},
	})
	if ending(out) != "done" {
		t.Fatalf("after the consent: %v", out.Err)
	}
	for _, tc := range []struct{ args, want string }{
		{`{"line":"ls\ngit push"}`, "done"},
		{`{"network":false,"line":"ls\ngit push"}`, "asked"},
		{`{"line":"git push"}`, "asked"},
		{`{"line":"git push --force"}`, "asked"},
		{`{"line":"ls\ngit push","network":true}`, "asked"},
	} {
		if got := ending(do(tc.args)); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.args, got, tc.want)
		}
	}
}

// A hidden or over-long part of what the user is asked about is seen.
func TestQuestionShowsAll(t *testing.T) {
	set := run.Settings{Tools: []tools.Tool{planner()}}
	r := run.New(run.Config{Settings: set})
	ask := func(line string) string {
		args, err := json.Marshal(LineIn{Line: line, Network: true})
		if err != nil {
			t.Fatal(err)
		}
		out := r.Run(t.Context(), run.Call{Tool: "shell", Args: args, Session: askable})
		return out.Ask.Forms["consent"].Message
	}
	if got := ask("ls \u202e\x1b[2Jx"); !strings.Contains(got, `ls \u{202e}\u{1b}[2Jx`) {
		t.Errorf("%q", got)
	}
	if got := ask("ls " + strings.Repeat("x", 3000) + "\nevil y"); !strings.Contains(got, "3010 bytes in all; it runs ls, evil") {
		t.Errorf("%q", got)
	}
}

// A tool's own question does not hide the call that a rule asks about.
func TestOwnQuestionWithRule(t *testing.T) {
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{planner(func(d *tools.Def[LineIn, Out]) {
		d.Confirm = func(context.Context, LineIn) (tools.Question, error) {
			return tools.Question{Message: "delete big"}, nil
		}
	})}}})
	for args, want := range map[string]string{
		`{"line":"rm big"}`:                "delete big",
		`{"line":"rm big","network":true}`: "delete big\nRun a line: it runs a program with the network on (rule exec-with-network).\nrm big",
	} {
		out := r.Run(t.Context(), run.Call{Tool: "shell", Args: json.RawMessage(args), Session: askable})
		if out.Ask == nil || out.Ask.Forms["consent"].Message != want {
			t.Errorf("%s: asks %+v, want %q", args, out.Ask, want)
		}
	}
}

func TestCommandPatternErrors(t *testing.T) {
	for _, tc := range []struct{ rule, want string }{
		{`{"verdict":"deny","command":[]}`, "policy[1]: command: the list names nothing; leave it out to fit every call"},
		{`{"verdict":"deny","command":[" "]}`, "policy[1]: command: it names no program"},
		{`{"verdict":"deny","command":["git ??"]}`, "policy[1]: command: ??: it fits any word; write *"},
		{`{"verdict":"deny","command":["git 'push'"]}`, "policy[1]: command: 'push': a pattern is a program and words, as they are after the shell has read them, without quotes, variables or operators"},
		{`{"verdict":"deny","command":["git"],"tool":["read_file"]}`, "policy[1]: command: none of the tools of the rule runs commands"},
	} {
		var r rules.Rule
		if err := json.Unmarshal([]byte(tc.rule), &r); err != nil {
			t.Fatal(err)
		}
		if _, err := rules.New([]rules.Rule{r}, append(kinds(), planner())); err == nil || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", tc.rule, err, tc.want)
		}
	}
}

// What runs perhaps is never denied for certain, nor does it make a call asked about that
// no rule names.
func TestRulesOfWhatRunsPerhaps(t *testing.T) {
	x, err := rules.ParseCommandPattern("git push")
	if err != nil {
		t.Fatal(err)
	}
	c := command("~ git push origin")
	if c.Perhaps = true; !x.Matches(&c) {
		t.Error("a pattern does not cover what runs perhaps")
	}
	for _, tc := range []struct{ rules, want string }{
		{`{"verdict":"deny","command":["git push"]}`, "ask"},
		{`{"verdict":"ask","command":["git push"]}`, "ask"},
		{`{"verdict":"deny","command":["git pull"]}`, "allow"},
		{`{"verdict":"ask","access":["exec"]},{"verdict":"allow","command":["x *"]}`, "allow"},
	} {
		tool := planner(func(d *tools.Def[LineIn, Out]) {
			d.Plan = func(context.Context, LineIn) (tools.Plan, error) {
				return tools.Plan{Effects: tools.Process, Commands: []tools.Command{command("x git push origin"), c}}, nil
			}
		})
		var list []rules.Rule
		if err := json.Unmarshal([]byte("["+tc.rules+"]"), &list); err != nil {
			t.Fatal(err)
		}
		rules, err := rules.New(list, []tools.Tool{tool})
		if err != nil {
			t.Fatal(err)
		}
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool}, Rules: rules}})
		e, err := r.Explain(t.Context(), run.Call{Tool: "shell", Args: []byte(`{"line":"x"}`), Session: tools.SessionInfo{Principal: tools.Local, Client: tools.Client{Forms: true}, Workspace: ground(t)}})
		if err != nil || e.Verdict != tc.want || len(e.Commands) != 1 {
			t.Errorf("%s: %s, %d commands, %v; want %s", tc.rules, e.Verdict, len(e.Commands), err, tc.want)
		}
	}
}
