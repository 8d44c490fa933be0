package agents_test

import (
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/agents/internal/executor"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/internal/programs/sandbox"
)

// With an executor, run_agent is there without a model.
func TestExecutorSettings(t *testing.T) {
	main := map[string]model.Endpoint{"main": {URL: "http://localhost/v1", Model: "m"}}
	for _, c := range []struct {
		name string
		set  agents.Agents
		has  bool
		want string // in an error; "" = none
	}{
		{name: "nothing"},
		{name: "an executor", has: true, set: agents.Agents{Executors: map[string]executor.Executor{"c": {Kind: "claude"}}, Presets: map[string]agents.Preset{"p": {Executor: "c"}}}},
		{name: "a preset without its executor", has: true, set: agents.Agents{Models: main, Presets: map[string]agents.Preset{"p": {Executor: "d"}}}, want: `no executor is called "d"`},
		{name: "no kind", has: true, set: agents.Agents{Executors: map[string]executor.Executor{"c": {Kind: "cursor"}}}, want: `kind "cursor" is none of`},
		{name: "no program", has: true, set: agents.Agents{Executors: map[string]executor.Executor{"c": {Kind: "lines"}}}, want: "program is missing"},
		{name: "a wrong variable", has: true, set: agents.Agents{Executors: map[string]executor.Executor{"c": {Kind: "codex", Env: []string{"A"}}}}, want: "is not NAME=VALUE"},
		{name: "a wrong host", has: true, set: agents.Agents{Executors: map[string]executor.Executor{"c": {Kind: "codex", Hosts: []string{"http://a"}}}}, want: "http://a"},
		{name: "a login that is none", has: true, set: agents.Agents{Executors: map[string]executor.Executor{"c": {Kind: "claude", Login: "{}"}}}, want: "give claude a key"},
		{name: "the name of a model", has: true, set: agents.Agents{Models: main, Executors: map[string]executor.Executor{"main": {Kind: "codex"}}}, want: "a model has that name"},
	} {
		set := agents.Settings{Agents: c.set}
		var wrong []string
		for _, e := range set.Check(tools.Host{}) {
			wrong = append(wrong, e.Error())
		}
		if set.Has("agents.models") != c.has || (c.want == "") != (len(wrong) == 0) || !strings.Contains(strings.Join(wrong, "; "), c.want) {
			t.Errorf("%s: %v, %v", c.name, set.Has("agents.models"), wrong)
		}
	}
}

// What an executor cannot hold is refused before anything starts.
func TestExecutorRefuses(t *testing.T) {
	a := newAgency(t)
	set := a.deps.Settings.New().(*agents.Settings)
	set.Agents = a.deps.Settings.Now().Agents
	set.Agents.Executors = map[string]executor.Executor{"codex": {Kind: "codex"}}
	set.Agents.Presets = map[string]agents.Preset{"gone": {Executor: "away"}}
	a.deps.Settings.Apply(set, tools.Setup{})
	for args, want := range map[string]string{
		`{"task":"t","model":"codex","max_cost":1}`:    "does not say what it costs",
		`{"task":"t","model":"codex","temperature":1}`: "takes none",
		`{"task":"t","agent":"gone"}`:                  `no executor is called "away"`,
		`{"task":"t","model":"codex"}`:                 "cannot run executors", // its binary is not that of the server
		`{"task":"t","model":"codec"}`:                 `did you mean "codex"`,
	} {
		if _, err := a.call(t.Context(), args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// Doctor says what keeps the program of an executor from its work.
func TestExecutorDoctor(t *testing.T) {
	for _, c := range []struct {
		program string
		level   sandbox.Level
		state   tools.FindingState
		want    string
	}{
		{"no-such-program", sandbox.None, tools.Broken, "e: its program is not found"},
		{"sh", sandbox.None, tools.Fine, "e: /"},
		{"sh", sandbox.Landlock, tools.Broken, "no network at the level landlock"},
	} {
		t.Run(c.want, func(t *testing.T) {
			a := newAgency(t)
			ctx := tools.WithSession(t.Context(), &a.session)
			a.deps.Sandbox = sandbox.New()
			defer a.deps.Sandbox.Close()
			a.deps.Sandbox.Configure(sandbox.Options{Level: c.level})
			if _, err := a.deps.Sandbox.Check(ctx); err != nil {
				t.Skipf("needs: the level %s of the sandbox: %v", c.level, err)
			}
			a.deps.Settings = tools.NewSettings(agents.Settings{Agents: agents.Agents{
				Executors: map[string]executor.Executor{"e": {Kind: "lines", Program: c.program}},
			}}, nil)
			f := agents.Examine(a.deps, ctx)[0]
			if f.What != "executor" || f.State != c.state || !strings.Contains(f.Say, c.want) {
				t.Errorf("%+v", f)
			}
		})
	}
}
