package agents_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/runs"
)

// run carries out "toolcrib run".
func (a *agency) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := agents.Command(a.deps, tools.WithSession(t.Context(), &a.session), args, nil, &out)
	return out.String(), err
}

func (a *agency) runs(t *testing.T, args []string, parts ...string) string {
	t.Helper()
	out, err := a.run(t, args...)
	if err != nil {
		t.Fatalf("run %s: %v", strings.Join(args, " "), err)
	}
	for _, part := range parts {
		if !strings.Contains(out, part) {
			t.Errorf("run %s: no %q in\n%s", strings.Join(args, " "), part, out)
		}
	}
	return out
}

func TestRunCommand(t *testing.T) {
	a := newAgency(t, "I look.\nlook {\"text\":\"a\"}\nedit {\"path\":\"b.txt\"}", "Done.")
	if out := a.runs(t, []string{"list"}); out != "" {
		t.Errorf("without runs: %s", out)
	}
	id := handle(t, a.want(t, `{"task":"find \u202eit","tools":["look","edit"]}`))
	a.runs(t, []string{"list"}, id+"  completed  ", " ago  2 rounds  220 tokens, cost 0.0002  find \\u{202e}it\n")
	a.runs(t, []string{"show", id[:5]}, "run "+id+": completed; begun ", "model: m at 127.0.0.1", "\nchanged: b.txt\n", "## 1 turn", "look `{\"text\":\"a\"}`", "Done.")
	asked := len(a.model.requests)
	a.runs(t, []string{"replay", id}, "  0 message; 0 rounds, 0 tokens\n    find", "  1 turn; 1 round, 110 tokens\n", "    completed\n")
	if len(a.model.requests) != asked {
		t.Error("a replay has asked the model")
	}
	lines := strings.Split(strings.TrimSpace(a.runs(t, []string{"--json", "replay", id})), "\n")
	for n, line := range lines {
		var step struct {
			N     *int
			Kind  string
			Spent struct{ Rounds int }
		}
		if err := json.Unmarshal([]byte(line), &step); err != nil || step.N == nil || *step.N != n || step.Kind == "" {
			t.Errorf("line %d: %s, %v", n, line, err)
		}
		if n == len(lines)-1 && (step.Kind != "end" || step.Spent.Rounds != 2) {
			t.Errorf("the last line is %s", line)
		}
	}
	var listed struct{ Run, Status, Title string }
	if err := json.Unmarshal([]byte(a.runs(t, []string{"--json", "list"})), &listed); err != nil || listed.Run != id || listed.Status != "completed" {
		t.Errorf("%+v, %v", listed, err)
	}
	a.runs(t, []string{"--json", "show", id}, `"files":["b.txt"]`, `"kind":"turn"`)
	a.runs(t, []string{"stop", id}, "run "+id+" had ended: completed\n")
}

func TestRunCommandErrors(t *testing.T) {
	a := newAgency(t)
	a.model.always = "ok"
	if _, err := a.run(t, "show", "abc"); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("before there is a database: %v", err)
	}
	one := handle(t, a.want(t, `{"task":"t"}`))
	if _, err := a.run(t, "show", "zzzz"); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("a run that does not exist: %v", err)
	}
	for range 40 { // handles begin with one of 32 characters
		a.want(t, `{"task":"t"}`)
	}
	stranger := *a
	stranger.session.Principal = "other"
	if _, err := stranger.run(t, "show", one); tools.AsError(err).Code != tools.NotFound {
		t.Errorf("a run of somebody else: %v", err)
	}
	ambiguous := false
	for _, c := range "abcdefghijklmnopqrstuvwxyz0123456789" {
		_, err := a.run(t, "show", string(c))
		ambiguous = ambiguous || err != nil && strings.Contains(err.Error(), string(c)+" begins several runs: "+string(c))
	}
	if !ambiguous {
		t.Error("no beginning of 41 handles is ambiguous")
	}
	for _, args := range [][]string{{}, {"look"}, {"list", "x"}, {"show"}, {"stop", "a", "b"}} {
		_, err := a.run(t, args...)
		if usage, ok := errors.AsType[*tools.UsageError](err); !ok || usage.Hint == "" {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// How a run stands is told in one way by the commands and the tools for jobs.
func TestRunStanding(t *testing.T) {
	a := newAgency(t)
	ctx := tools.WithSession(t.Context(), &a.session)
	said := loop.Record{Kind: loop.Said, At: time.Now(), Text: "t"}
	for _, c := range []struct {
		id           string
		age          time.Duration
		end          loop.Record
		status, line string
		input        string
	}{
		{"fresh222", 10 * time.Second, loop.Record{}, "running", "running in another process, or about to be taken over; last step 10 s ago", `job_stop first, then run_agent resume: {"run": "fresh222", "message": "..."}`},
		{"left2222", time.Hour, loop.Record{}, "left", "no step for 1h: its process has died, or a call takes long", `run_agent resume: {"run": "left2222", "message": "..."}`},
		{"ended222", time.Hour, loop.Record{Kind: loop.End, Status: loop.Limited, Text: "2 rounds"}, "limit", "limit: 2 rounds", `run_agent resume: {"run": "ended222", "message": "..."}`},
		{"asked222", time.Hour, loop.Record{Kind: loop.End, Status: loop.InputRequired, Output: json.RawMessage(`{"questions":[{"question":"Which?"}]}`)}, "input_required",
			"input_required: 1. Which?\nanswer it by run_agent resume: {\"run\": \"asked222\", \"answers\": [...]}", `run_agent resume: {"run": "asked222", "answers": [...]}`},
	} {
		said.At = time.Now().Add(-c.age)
		records := []loop.Record{said}
		if c.end.Kind != "" {
			records = append(records, c.end)
		}
		if err := a.store(t).Create(ctx, runs.Run{ID: c.id, Principal: tools.Local, Created: said.At, Spec: json.RawMessage(`{"title":"t"}`)}, records); err != nil {
			t.Fatal(err)
		}
		now, cancel := context.WithCancel(ctx)
		cancel()
		w, _, err := a.deps.Follow(now, c.id, 0)
		if err != nil || w.State != c.line || w.Input != c.input || w.Over != (c.end.Kind != "") {
			t.Errorf("%+v, %v", w, err)
		}
		a.runs(t, []string{"list"}, c.id+"  "+c.status+"  ")
		a.runs(t, []string{"--json", "show", c.id}, `"status":"`+c.status+`"`)
	}
}

// A run that is at work is stopped by any process with its database.
func TestRunCommandStop(t *testing.T) {
	a := newAgency(t)
	a.model.always = `look {"text":"a"}`
	began := make(chan struct{})
	a.onBegin = sync.OnceFunc(func() { close(began) })
	ended := make(chan string, 1)
	go func() {
		text, err := a.call(t.Context(), `{"task":"t","max_rounds":100}`)
		if err != nil {
			text = err.Error()
		}
		ended <- text
	}()
	<-began
	id := strings.Fields(a.runs(t, []string{"list"}, "  running  "))[0]
	a.runs(t, []string{"stop", id}, "run "+id+": cancelled; what it has done stays\n")
	if text := <-ended; !strings.Contains(text, "cancelled: the user stopped it; run "+id) {
		t.Error(text)
	}
}
