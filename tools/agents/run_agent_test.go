package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/internal/database"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// TestRunAgent runs the suite that every tool must pass.
func TestRunAgent(t *testing.T) {
	a := newAgency(t)
	a.model.always = "server/run/pass.go:40: pass"
	caller := &tooltest.Caller{All: []tools.Tool{tools.New(tools.Def[In, Out]{
		Name: "read_files", Title: "Read", Doc: "Reads.", Access: tools.Read, Effects: tools.None,
		Run: func(context.Context, In) (Out, error) { return Out{"text"}, nil },
	})}}
	tooltest.Run(t, a.tool(caller))
}

// fakeModel answers with a turn of its script each time: a text, or calls "TOOL ARGUMENTS", one
// a line.
type fakeModel struct {
	mu       sync.Mutex
	turns    []string
	requests []string
	always   string // in the place of turns
	hangs    chan struct{}
}

// hang is a turn that fakeModel tells on hangs, and that lasts until it is given up.
const hang = "hang"

func (f *fakeModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body json.RawMessage
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, string(body))
	n := len(f.requests) - 1
	if f.always != "" {
		f.turns = append(f.turns, f.always)
	}
	if n >= len(f.turns) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if f.turns[n] == hang {
		f.hangs <- struct{}{}
		<-r.Context().Done()
		return
	}
	var text string
	var calls []map[string]any
	for i, line := range strings.Split(f.turns[n], "\n") {
		if name, args, ok := strings.Cut(line, " {"); ok {
			calls = append(calls, map[string]any{"id": fmt.Sprintf("c%d_%d", n, i), "function": map[string]any{"name": name, "arguments": "{" + args}})
		} else {
			text += line
		}
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"choices": []any{map[string]any{"message": map[string]any{"content": text, "tool_calls": calls}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10},
	})
}

// agency is a server with agents whose model is a fake.
type agency struct {
	*world
	model   *fakeModel
	ws      *workspace.Workspace
	session tools.SessionInfo
	deps    agents.Deps
	sources []tools.Source
	own     string // the user's directory of presets
}

func newAgency(t *testing.T, turns ...string) *agency {
	t.Helper()
	fake := &fakeModel{turns: turns, hangs: make(chan struct{}, len(turns))}
	server := httptest.NewServer(fake)
	t.Cleanup(server.Close)
	ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	source := new(database.Source)
	caller := new(run.Caller)
	deps := agents.New(caller, source)
	t.Cleanup(func() {
		if err := errors.Join(agents.Close(deps), source.Close()); err != nil {
			t.Error(err)
		}
		ws.Close()
	})
	deps.Settings = tools.NewSettings(agents.Settings{Agents: agents.Agents{
		Models:  map[string]model.Endpoint{"main": {URL: server.URL, Model: "m", PriceIn: 1}},
		Presets: map[string]agents.Preset{"brief": {Description: "is brief", System: "Be brief.", MaxRounds: 1, Tools: []string{"look"}}},
	}}, nil)
	own := t.TempDir()
	deps.PresetDirs = []string{own}
	a := &agency{model: fake, ws: ws, deps: deps, own: own, session: tools.SessionInfo{Principal: tools.Local, Workspace: ws}}
	a.world = newWorldOf(run.Settings{}, caller, agents.Tools(deps))
	a.sources = agents.Sources(deps)
	return a
}

// call calls run_agent and returns its text.
func (a *agency) call(ctx context.Context, args string) (string, error) {
	out := a.runner.Run(ctx, run.Call{Tool: "run_agent", Args: json.RawMessage(args), Session: a.session})
	if out.Err != nil {
		return "", out.Err
	}
	var text strings.Builder
	for _, b := range out.Result.Content {
		text.WriteString(b.Text)
	}
	return text.String(), nil
}

// handle returns the run's handle that a result names.
func handle(t *testing.T, text string) string {
	t.Helper()
	_, after, ok := strings.Cut(text, "run ")
	if !ok {
		t.Fatalf("no handle in %s", text)
	}
	return after[:8]
}

func (a *agency) want(t *testing.T, args string, parts ...string) string {
	t.Helper()
	text, err := a.call(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s has no %q", text, part)
		}
	}
	return text
}

func TestRunAgentWork(t *testing.T) {
	a := newAgency(t, "I look.\nlook {\"text\":\"a\"}\nfail {}", "It is done.")
	a.want(t, `{"task":"find it"}`, "completed; run ", ": 2 rounds, 220 tokens, ", "cost 0.0002\n\nIt is done.\n")
	if used := a.runner.Stats().Used; len(used) != 1 || used[0].Turns != 2 || used[0].In != 200 || used[0].Tool != "run_agent" || used[0].Cost != 0.0002 {
		t.Errorf("the statistics have %+v", used)
	}
	for _, part := range []string{`"find it"`, "did a", "error: not_found: nothing there (look elsewhere)", "Nobody reads what you write"} {
		if !strings.Contains(strings.Join(a.model.requests, "\n"), part) {
			t.Errorf("the model was not told %s", part)
		}
	}
	if strings.Contains(a.model.requests[0], `"name":"edit"`) || strings.Contains(a.model.requests[0], `"name":"run_agent"`) {
		t.Errorf("by default an agent may do more than read: %s", a.model.requests[0])
	}
}

// An agent has the tools that it was given, and of those what its caller may call.
func TestRunAgentTools(t *testing.T) {
	a := newAgency(t, "edit {}\nprogram {}\nlook {}\nrisky {\"text\":\"x\"}", "done")
	a.session.May = func(t *tools.Tool) bool { return t.Name != "program" }
	if _, err := a.call(t.Context(), `{"task":"t","tools":["program"]}`); err == nil {
		t.Error("an agent got a tool that its caller must not call")
	}
	a.want(t, `{"task":"t","tools":["edit","risky"]}`, "completed")
	last := a.model.requests[len(a.model.requests)-1]
	for _, part := range []string{"did ", `denied: you have no tool \"program\"`, `denied: you have no tool \"look\"`, "denied: risky: needs the user's consent"} {
		if !strings.Contains(last, part) {
			t.Errorf("%s has no %s", last, part)
		}
	}
	if _, err := a.call(t.Context(), `{"task":"t","tools":["lok"]}`); err == nil || !strings.Contains(err.Error(), "look") {
		t.Errorf("a tool that does not exist: %v", err)
	}
}

// A tool of an agent that calls others reaches only what the agent has, and what its caller may
// call with these arguments.
func TestRunAgentToolsThroughOthers(t *testing.T) {
	a := newAgency(t, `parallel_calls {"calls":[{"tool":"edit"},{"tool":"nothing"}]}`+"\n"+`run_agent {"task":"t","tools":["edit"]}`, "done")
	a.want(t, `{"task":"t","tools":["nothing","parallel_calls","run_agent"]}`, "completed")
	for _, part := range []string{"1 of 2 calls ok, 1 failed", "denied: edit: the agent was not given it", "/tools: edit: the agent was not given it"} {
		if last := a.model.requests[len(a.model.requests)-1]; !strings.Contains(last, part) {
			t.Errorf("%s has no %s", last, part)
		}
	}
	calls := 0
	a = newAgency(t, "edit {}", "done")
	a.session.May = func(t *tools.Tool) bool {
		if t.Name == "edit" {
			calls++
		}
		return t.Name != "edit" || calls < 3 // until the agent has it
	}
	a.want(t, `{"task":"t","tools":["edit"]}`, "completed")
	if last := a.model.requests[len(a.model.requests)-1]; strings.Contains(last, "did ") {
		t.Errorf("an agent made a call that its caller must not make: %s", last)
	}
}

// A preset gives an agent its words, tools and limits, which a call can only narrow.
func TestRunAgentPreset(t *testing.T) {
	a := newAgency(t, "look {}", "half")
	a.want(t, `{"task":"t","agent":"brief","max_rounds":9}`, "limit: 1 rounds; run ", "to go on: resume: ", "half")
	if !strings.Contains(a.model.requests[0], "Be brief.") {
		t.Error(a.model.requests[0])
	}
	if _, err := a.call(t.Context(), `{"task":"t","agent":"long"}`); err == nil || !strings.Contains(err.Error(), "brief: is brief") {
		t.Errorf("a preset that does not exist: %v", err)
	}
}

func TestRunAgentOutput(t *testing.T) {
	a := newAgency(t, `submit {"n":"x"}`, `submit {"n":1}`)
	a.want(t, `{"task":"t","output_schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}`, "completed", "\n{\"n\":1}\n")
	if !strings.Contains(a.model.requests[1], "/n: type") {
		t.Errorf("the model was not told what was wrong: %s", a.model.requests[1])
	}
	if _, err := a.call(t.Context(), `{"task":"t","output_schema":{"type":7}}`); err == nil || !strings.Contains(err.Error(), "/output_schema") {
		t.Errorf("a wrong schema: %v", err)
	}
}

// A run that has ended can go on, answer its questions, and begin again from a step.
func TestRunAgentResume(t *testing.T) {
	a := newAgency(t, `ask_user {"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]}]}`, "B it is.", "More.", "Again.")
	text := a.want(t, `{"task":"t","tools":["look","ask_user"]}`, "input_required", "1. Which? (A | B)")
	id := handle(t, text)
	if _, err := a.call(t.Context(), fmt.Sprintf(`{"resume":{"run":%q}}`, id)); err == nil || !strings.Contains(err.Error(), "Which?") {
		t.Errorf("without an answer: %v", err)
	}
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q,"answers":["B"]}}`, id), "completed", "B it is.", "2 rounds")
	if !strings.Contains(a.model.requests[1], `"content":"B"`) {
		t.Errorf("the answer has not arrived: %s", a.model.requests[1])
	}
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q,"message":"and C?"}}`, id), "completed", "More.")
	forked := a.want(t, fmt.Sprintf(`{"resume":{"run":%q,"from_step":4,"message":"no"}}`, id), "completed", "Again.")
	if handle(t, forked) == id {
		t.Error("a run that begins again from a step is the old one")
	}
	if last := a.model.requests[3]; strings.Contains(last, "B it is.") || !strings.Contains(last, `"no"`) {
		t.Errorf("the forked run was asked %s", last)
	}
	if _, err := a.call(t.Context(), `{"resume":{"run":"aaaaaaaa"}}`); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("a run that does not exist: %v", err)
	}
	stranger := *a
	stranger.session.Principal = "other"
	if _, err := stranger.call(t.Context(), fmt.Sprintf(`{"resume":{"run":%q}}`, id)); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("a run of somebody else: %v", err)
	}
}

// Steps can be read as a resource, from a number on.
func TestRunAgentSteps(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}", "Done.")
	id := handle(t, a.want(t, `{"task":"the task"}`))
	ctx := tools.WithSession(t.Context(), &a.session)
	source := a.sources[0]
	read := func(uri string) string {
		args, ok := source.Args(uri)
		if !ok {
			t.Fatalf("%s is no run", uri)
		}
		bound, err := source.Read.Bind(args)
		if err != nil {
			t.Fatal(err)
		}
		out, err := source.Read.Run(ctx, bound)
		if err != nil {
			t.Fatal(err)
		}
		return out.(tools.Contenter).Content()[0].Text
	}
	whole := read("toolcrib://run/" + id)
	for _, part := range []string{"# the task", "## 1 turn", "look `{\"text\":\"a\"}`", "did a", "completed"} {
		if !strings.Contains(whole, part) {
			t.Errorf("%s has no %s", whole, part)
		}
	}
	if rest := read("toolcrib://run/" + id + "/3"); strings.Contains(rest, "## 1 turn") || !strings.Contains(rest, "## 3 turn") {
		t.Error(rest)
	}
	list, err := source.List(ctx)
	if err != nil || len(list) != 1 || list[0].Title != "the task" {
		t.Errorf("%v, %v", list, err)
	}
	if values, err := source.Complete(ctx, "handle", id[:2]); err != nil || len(values) != 1 {
		t.Errorf("%v, %v", values, err)
	}
	if version, err := source.Version(ctx, "toolcrib://run/"+id); err != nil || version != "5" {
		t.Errorf("version %s, %v", version, err)
	}
	if _, ok := source.Args("toolcrib://run/"); ok {
		t.Error("no handle is one")
	}
}

// A run that is cancelled keeps its steps, and can go on.
func TestRunAgentCancelled(t *testing.T) {
	a := newAgency(t, "look {\"text\":\"a\"}\nlook {\"text\":\"b\"}", "Done.")
	ctx, cancel := context.WithCancel(t.Context())
	a.onBegin = cancel
	switch text, err := a.call(ctx, `{"task":"t"}`); {
	case err == nil && strings.Contains(text, "cancelled"): // on a busy machine the tool returns before it is let go
	case err == nil || !errors.Is(err, context.Canceled) && tools.AsError(err).Code != tools.Cancelled:
		t.Fatalf("%s, %v", text, err)
	}
	list, err := a.sources[0].List(tools.WithSession(t.Context(), &a.session))
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	again := fmt.Sprintf(`{"resume":{"run":%q}}`, strings.TrimPrefix(list[0].URI, "toolcrib://run/"))
	text, err := a.call(t.Context(), again)
	for err != nil && tools.AsError(err).Code == tools.Conflict && t.Context().Err() == nil { // the tool has not returned yet
		text, err = a.call(t.Context(), again)
	}
	if err != nil || !strings.Contains(text, "completed") || !strings.Contains(text, "Done.") {
		t.Errorf("%s, %v", text, err)
	}
}

// Agents call agents, but not without end.
func TestRunAgentDepth(t *testing.T) {
	a := newAgency(t, `run_agent {"task":"2","tools":["run_agent"]}`, `run_agent {"task":"3","tools":["run_agent"]}`, "inner", "outer")
	a.want(t, `{"task":"1","tools":["run_agent"]}`, "completed", "outer")
	if !strings.Contains(a.model.requests[2], "agents call agents at most 2 deep") {
		t.Errorf("the third agent was begun: %s", a.model.requests[2])
	}
}

func TestAgentSettings(t *testing.T) {
	set := agents.Settings{Agents: agents.Agents{
		Models:  map[string]model.Endpoint{"main": {Provider: "openai", Model: "m"}, "bad": {Model: "m"}},
		Default: []string{"mian"}, Presets: map[string]agents.Preset{"p": {Models: []string{"none"}, Timeout: time.Minute}},
	}}
	var got []string
	for _, wrong := range set.Check(tools.Host{}) {
		got = append(got, wrong.Error())
	}
	want := "agents.models.bad: url is missing: the address of the service, such as http://localhost:11434/v1\n" +
		"agents.default: no model is called \"mian\"; did you mean \"main\"\n" +
		"agents.presets.p.models: no model is called \"none\"; there are [bad main]"
	if text := strings.Join(got, "\n"); text != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if !set.Has("agents.models") || (&agents.Settings{}).Has("agents.models") {
		t.Error("whether there is a model is wrong")
	}
}

// What an agent says and does is reported while it works, a line each.
func TestRunAgentProgress(t *testing.T) {
	a := newAgency(t, "I look.\nlook {\"text\":\"a\"}\nfail {}", "It is done.")
	var seen []string
	ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) { seen = append(seen, e.Message) })
	if _, err := tooltest.Call(ctx, a.ws, a.tool(&tooltest.Caller{}), json.RawMessage(`{"task":"find it"}`)); err != nil {
		t.Fatal(err)
	}
	want := []string{"I look.", `look {"text":"a"}; fail {}`, `look: denied: you have no tool "look"`, `fail: denied: you have no tool "fail"`, "It is done."}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Error(diff)
	}
}

// tool returns run_agent with another caller.
func (a *agency) tool(caller tools.Caller) tools.Tool {
	deps := a.deps
	deps.Caller = caller
	list := agents.Tools(deps)
	return list[slices.IndexFunc(list, func(t tools.Tool) bool { return t.Name == "run_agent" })]
}
