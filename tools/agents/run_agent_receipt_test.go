package agents_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/runs"
)

// other goes on as another process with the same database.
func (a *agency) other(t *testing.T) {
	t.Helper()
	caller := new(run.Caller)
	deps := agents.New(caller, a.deps.Database)
	deps.Settings = a.deps.Settings
	a.world = newWorldOf(run.Settings{}, caller, agents.Tools(deps))
	t.Cleanup(func() {
		if err := agents.Close(deps); err != nil {
			t.Error(err)
		}
	})
}

// The receipt has what was done before another process took the run over, with what agents of the
// agent have done: in the result, in the resource and for the user.
func TestReceipt(t *testing.T) {
	a := newAgency(t,
		"edit {\"path\":\"a.txt\"}\nprogram {\"text\":\"x\"}\nrisky {}\nrun_agent {\"task\":\"2\",\"tools\":[\"edit\",\"reach\",\"program\"]}",
		"edit {\"path\":\"b.txt\"}\nreach {\"text\":\"inner.example\"}\nprogram {\"path\":\"sub\"}", "2 is done",
		`ask_user {"questions":[{"question":"Which?"}]}`,
		"parallel_calls {\"calls\":[{\"tool\":\"program\",\"arguments\":{}},{\"tool\":\"reach\",\"arguments\":{\"text\":\"outer.example\"}}]}", "all is done")
	id := handle(t, a.want(t, `{"task":"t","tools":["edit","program","risky","reach","run_agent","ask_user","parallel_calls"]}`, "input_required"))
	a.other(t)
	done := "changed: a.txt, b.txt, sub\nran: program (2 times), program sub\nreached: inner.example, outer.example\ncalled: risky (failed)\n"
	const used = "4 rounds, 660 tokens, "
	a.want(t, fmt.Sprintf(`{"resume":{"run":%q,"answers":["B"]}}`, id), used, "cost 0.0006\n"+done)
	if steps := a.steps(t, id); !strings.Contains(steps, used) || !strings.Contains(steps, done) {
		t.Error(steps)
	}
	a.runs(t, []string{"show", id}, used, "cost 0.0006\n", done)
	a.runs(t, []string{"--json", "show", id}, `"receipt":{"files":["a.txt","b.txt","sub"],"ran":["program (2 times)","program sub"],"hosts":["inner.example","outer.example"],"calls":["risky (failed)"],"spent":{"rounds":4,`)
	total := uint64(0)
	for _, u := range a.runner.Stats().Used {
		total += u.In
	}
	if total != 200 { // of this process
		t.Errorf("the statistics have %d tokens", total)
	}
}

// What a program does after its call has ended is of the next call of the run.
func TestReceiptOfPrograms(t *testing.T) {
	a := newAgency(t, `serve {"text":"late.example","path":"made.txt"}`, `follow {}`, "done")
	id := handle(t, a.want(t, `{"task":"t","tools":["serve","follow"]}`, "changed: made.txt\nran: serve made.txt\nreached: late.example\n"))
	for _, r := range a.records(t, id) {
		if r.Kind == loop.Result && (len(r.Hosts) > 0) != (r.Tool == "follow") {
			t.Errorf("%+v", r)
		}
	}
}

// store returns that of the runs.
func (a *agency) store(t *testing.T) *runs.Store {
	t.Helper()
	s, err := runs.Open(t.Context(), a.deps.Database, a.ws)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (a *agency) records(t *testing.T, id string) []loop.Record {
	t.Helper()
	list, err := a.store(t).Records(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Where the process was killed in a call of an agent, its part of the receipt is counted by its own
// records, once.
func TestReceiptOfKilledAgents(t *testing.T) {
	a := newAgency(t,
		`run_agent {"task":"2","tools":["edit","reach"]}`, `edit {"path":"b.txt"}`+"\n"+`reach {"text":"inner.example"}`, "2 is done", "all is done", "all is done", "more is done")
	whole := handle(t, a.want(t, `{"task":"t","tools":["run_agent","edit","reach"]}`, "completed"))
	store, ctx := a.store(t), t.Context()
	list, err := store.List(ctx, tools.Local, 10)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	hour := time.Now().Add(-time.Hour)
	for _, run := range list { // again, an hour ago, until the kill
		records := a.records(t, run.ID)
		for i, r := range records {
			records[i].At = hour.Add(time.Duration(i) * time.Second)
			if run.ID != whole {
				records[i].At = records[i].At.Add(time.Minute)
			} else if r.Kind == loop.Begin {
				records = records[:i+1]
				break
			}
		}
		run.Spec = bytes.ReplaceAll(run.Spec, []byte(`"of":"`+whole), []byte(`"of":"killed22`))
		run.ID = map[bool]string{true: "killed22", false: "child222"}[run.ID == whole]
		if err := store.Create(ctx, run, records); err != nil {
			t.Fatal(err)
		}
	}
	const want = "changed: b.txt\nreached: inner.example\ncalled: run_agent (failed)\n"
	a.want(t, `{"resume":{"run":"killed22"}}`, want, "2 rounds, 440 tokens") // 220 by the child
	a.want(t, `{"resume":{"run":"killed22","message":"and?"}}`, want, "3 rounds, 550 tokens")
	a.runs(t, []string{"show", "killed22"}, want, "taken\n\nwhat its agent child222 had done by then counts\n")
}

// Records from before results had what their calls did are still read.
func TestReceiptOfOldRecords(t *testing.T) {
	var records []loop.Record
	if err := json.Unmarshal([]byte(`[
		{"kind":"message","at":"2026-01-02T03:04:05Z","text":"t"},
		{"kind":"turn","at":"2026-01-02T03:04:06Z","blocks":[{"call":{"id":"1","name":"bash","arguments":{"command":"ls"},"from":"m"}},{"call":{"id":"2","name":"edit","arguments":{"path":"a"},"from":"m"}}],"use":{"in":1,"out":1}},
		{"kind":"begin","at":"2026-01-02T03:04:07Z","call":"1","tool":"bash"},
		{"kind":"result","at":"2026-01-02T03:04:08Z","call":"1","tool":"bash","text":"x"},
		{"kind":"begin","at":"2026-01-02T03:04:09Z","call":"2","tool":"edit"}]`), &records); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("called: bash ls, edit a (its outcome is unknown)\n", agents.Done(records)); diff != "" {
		t.Error(diff)
	}
}

// An agent's agents have no more tokens and cost than is left of its own, and use those.
func TestSharedBudget(t *testing.T) {
	for limit, left := range map[string]string{`"max_tokens":400`: "limit: 290 tokens; run", `"max_cost":0.00035`: "limit: a cost of 0.00025; run"} {
		a := newAgency(t, `run_agent {"task":"2"}`, "nothing {}", "nothing {}", "nothing {}", "half", "whole")
		a.want(t, `{"task":"1","tools":["run_agent"],`+limit+`}`, "limit: ", "2 rounds, 660 tokens, ", "cost 0.0006\n", "\nwhole\n")
		if last := a.model.requests[5]; !strings.Contains(last, "half") || !strings.Contains(last, left) {
			t.Errorf("%s: the inner agent handed back %s", limit, last)
		}
	}
}

// Where nothing is left, no agent begins.
func TestSharedBudgetUsedUp(t *testing.T) {
	a := newAgency(t, `run_agent {"task":"2"}`, "half")
	a.want(t, `{"task":"1","tools":["run_agent"],"max_tokens":100}`, "limit: 100 tokens; ", "2 rounds, 220 tokens")
	if !strings.Contains(a.model.requests[1], "denied: nothing is left of the caller's 100 tokens") {
		t.Error(a.model.requests[1])
	}
}

// Agents that are called at once share what is left.
func TestSharedBudgetAtOnce(t *testing.T) {
	turns := []string{`parallel_calls {"calls":[{"tool":"run_agent","arguments":{"task":"2"}},{"tool":"run_agent","arguments":{"task":"3"}}]}`}
	for range 40 {
		turns = append(turns, "nothing {}")
	}
	a := newAgency(t, turns...)
	a.want(t, `{"task":"1","tools":["parallel_calls","run_agent"],"max_tokens":1100}`, "limit: 1100 tokens")
	// 10 turns reach the limit; another may have begun, and each agent has its last one.
	if n := len(a.model.requests); n < 13 || n > 14 {
		t.Errorf("the agents took %d turns", n)
	}
}
