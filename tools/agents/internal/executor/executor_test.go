package executor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/executor"
	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
)

// journal keeps records in memory.
type journal struct {
	mu   sync.Mutex
	list []loop.Record
}

func (j *journal) Records(context.Context) ([]loop.Record, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]loop.Record(nil), j.list...), nil
}

func (j *journal) Append(_ context.Context, more ...loop.Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, more...)
	return nil
}

// String tells the records in short.
func (j *journal) String() string {
	var parts []string
	for _, r := range j.list {
		part := string(r.Kind)
		switch r.Kind {
		case loop.Turn:
			var blocks []string
			for _, b := range r.Blocks {
				switch {
				case b.Thinking != nil:
					blocks = append(blocks, "("+b.Thinking.Text+")")
				case b.Call != nil:
					blocks = append(blocks, b.Call.Name+string(b.Call.Arguments))
				default:
					blocks = append(blocks, b.Text)
				}
			}
			part = "turn[" + strings.Join(blocks, " ") + "]"
		case loop.Result:
			part = fmt.Sprintf("%s=%.40s", r.Tool, r.Text)
		case loop.Begin:
			part = "begin " + r.Tool
		case loop.End:
			part = string(r.Status)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " | ")
}

// desk is where a fake works.
type desk struct {
	ctx     context.Context
	run     executor.Run
	journal *journal
}

func newDesk(t *testing.T, kind, script string) *desk {
	t.Helper()
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "text of a"})
	engine := sandbox.New()
	engine.Configure(sandbox.Options{Env: []string{"GORACE"}})
	t.Cleanup(func() { _ = engine.Close() })
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
	if level, err := engine.Check(ctx); err != nil || level != sandbox.Full {
		t.Skipf("needs: a full sandbox: level %v, %v", level, err)
	}
	d := &desk{ctx: ctx, journal: &journal{}}
	d.journal.list = []loop.Record{{Kind: loop.Said, At: time.Now(), Text: "the task"}}
	tool := func(name string, reads bool) loop.Tool {
		return loop.Tool{Tool: model.Tool{Name: name, Description: name, Schema: json.RawMessage(`{"type":"object"}`)}, Reads: reads}
	}
	d.run = executor.Run{Name: kind, Sandbox: engine, Executor: executor.Executor{
		Kind: kind, Program: "@@tools@@", Args: []string{"fake", kind, script}, // the binary of the tests
	}, Loop: &loop.Loop{
		System: "be good", Tools: []loop.Tool{tool("look", true), tool("echo", true), tool("edit", false), tool("wait", true), tool("ask_user", true)},
		Journal: d.journal, Now: time.Now, Asks: "ask_user", Limits: loop.Limits{Rounds: 9, Time: time.Minute},
		Call: func(ctx context.Context, _ loop.Spent, name string, args json.RawMessage) (loop.Record, error) {
			switch name {
			case "wait":
				<-ctx.Done()
				return loop.Record{}, errors.New("stopped")
			case "echo":
				return loop.Record{Text: string(args)}, nil
			}
			return loop.Record{Text: "did " + name}, nil
		},
	}}
	return d
}

func (d *desk) do(t *testing.T) loop.Outcome {
	t.Helper()
	out, err := d.run.Do(d.ctx)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var everyKind = []string{"claude", "codex", "gemini", "lines"}

// A good day is the same for all: the turns, the calls, their results, and what was used.
func TestDo(t *testing.T) {
	for _, kind := range everyKind {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, kind, `turn; think I think.; say Let me see.; call look {"n":1}; use; turn; own Bash; use; turn; call edit {}; use; turn; say It is done.; use; done`)
			out := d.do(t)
			think := "(I think.) "
			if kind == "gemini" { // which tells no thoughts
				think = ""
			}
			own := map[string]string{"codex": "command_execution"}[kind]
			if own == "" {
				own = "Bash"
			}
			want := `message | turn[` + think + `Let me see. look{"n":1}] | look=did look | turn[` + own + `{"command":"ls"}] | ` + own + `=a.txt | begin edit | turn[edit{}] | edit=did edit | turn[It is done.] | completed`
			if got := d.journal.String(); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			for _, r := range d.journal.list {
				if r.Kind == loop.Result && r.Tool == own && (len(r.Ran) != 1 || r.Ran[0] != own+" ls") {
					t.Errorf("the program's own command is kept as %q", r.Ran)
				}
			}
			use := out.Spent.Use
			if out.Status != loop.Completed || out.Text != "It is done." || out.Spent.Rounds != 4 || use.Out == 0 || use.Estimated {
				t.Errorf("got %+v", out)
			}
			if wantCost := map[string]float64{"claude": .25, "lines": .25}[kind]; out.Spent.Cost != wantCost {
				t.Errorf("cost %v", out.Spent.Cost)
			}
		})
	}
}

func TestDays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kinds, script string
		change              func(*desk)
		status              loop.Status
		why, records        string
	}{
		{name: "crash in the middle", script: `turn; say a; call look {}; stderr out of luck; crash`, status: loop.Failed, why: "ended with exit code 3 before it was done; out of luck", records: "turn[a look{}] | look=did look | failed"},
		{name: "no word at all", script: `crash`, status: loop.Failed, why: "exit code 3", records: "message | failed"},
		{name: "an end without a result", script: `turn; say a`, status: loop.Failed, why: "exit code 0 before it was done"},
		{name: "lines that are none", script: `print ]]; print {"type"; turn; say a; use; done`, status: loop.Completed, records: "turn[a] | completed"},
		{name: "nothing but garbage", script: `print hello; print world`, status: loop.Failed, why: `2 of its lines are none that it should print, the first: hello`},
		{name: "says that it failed", script: `turn; say a; use; done failed no credit`, status: loop.Failed, why: "no credit"},
		{name: "does not end when it is done", script: `turn; say a; use; done stays`, status: loop.Completed},
		{name: "leaves a child", script: `child; turn; say a; use; done`, status: loop.Completed},
		{name: "ends after its limit", script: `turn; say a; call look {}; use; turn; call look {}; use; turn; call look {}; use; turn; say b; use; done`, status: loop.Limited, why: "2 rounds",
			change: func(d *desk) { d.run.Loop.Limits.Rounds = 2 }, records: "final | turn[look{}] | look=The limit of 2 rounds is reached: you ca"},
		{name: "obeys its limit", script: `turn; call look {}; use; turn; say all I have; use; done`, status: loop.Limited, why: "1 rounds",
			change: func(d *desk) { d.run.Loop.Limits.Rounds = 1 }, records: "turn[look{}] | look=did look | final | turn[all I have] | limit"},
		{name: "is told of its limit", kinds: "lines", script: `turn; call echo {}; done`, status: loop.Limited,
			change: func(d *desk) { d.run.Loop.Limits.Rounds = 1 }, records: "turn[got {}\n\nThe limit of 1 rounds is reached"},
		{name: "limit of tokens", kinds: "claude", script: `turn; use; call look {}; turn; say b; use; done`, status: loop.Limited, why: "120 tokens",
			change: func(d *desk) { d.run.Loop.Limits.Tokens = 120 }},
		{name: "limit of tokens by estimate", kinds: "codex lines", script: `turn; call look {}; turn; say b; done`, status: loop.Limited, why: "2 tokens",
			change: func(d *desk) { d.run.Loop.Limits.Tokens = 2 }},
		{name: "limit of its own", kinds: "claude", script: `turn; say a; use; done budget`, status: loop.Limited, why: "budget usd"},
		{name: "use absent", kinds: "codex lines", script: `turn; say abcdefgh; done silent`, status: loop.Completed},
		{name: "a tool it was not given", script: `turn; call bash {"command":"id"}; use; turn; say no; use; done`, status: loop.Completed, records: `turn[bash{"command":"id"}] | bash=denied: you have no tool "bash"`},
		{name: "asks the user", script: `turn; say a; begin ask_user {"questions":[]}; use; hang`, status: loop.InputRequired, records: `input_required`},
		{name: "sees files, changes none", kinds: "lines", script: `read a.txt; write a.txt; write b.txt; done`, status: loop.Completed, records: "turn[text of a <nil> false false]"},
		{name: "may change files", kinds: "lines", script: `write b.txt; done`, status: loop.Completed, records: "turn[true]",
			change: func(d *desk) { d.run.Writes = true }},
		{name: "submits", script: `turn; call submit {"n":1}; use; turn; say ok; use; done`, status: loop.Completed,
			change: withSchema, records: `submit{"n":1}] | submit=taken`},
		{name: "submits what does not fit", script: `turn; call submit {"m":1}; use; turn; say ok; use; done`, status: loop.Failed, why: loop.NoOutput, change: withSchema},
		{name: "says its result", script: "turn; say {\"n\":2}; use; done", status: loop.Completed, change: withSchema},
	} {
		kinds := everyKind
		if c.kinds != "" {
			kinds = strings.Fields(c.kinds)
		}
		for _, kind := range kinds {
			t.Run(kind+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t, kind, c.script)
				if c.change != nil {
					c.change(d)
				}
				out := d.do(t)
				if got := d.journal.String(); out.Status != c.status || !strings.Contains(out.Why, c.why) || !strings.Contains(got, c.records) {
					t.Errorf("%s: %s\n%s", out.Status, out.Why, got)
				}
				if c.name == "use absent" && !out.Spent.Use.Estimated {
					t.Errorf("use %+v", out.Spent.Use)
				}
				if strings.HasPrefix(c.name, "s") && c.change != nil && c.status == loop.Completed && len(out.Output) == 0 {
					t.Error("no output")
				}
			})
		}
	}
}

func withSchema(d *desk) {
	d.run.Loop.Output = json.RawMessage(`{"type":"object"}`)
	d.run.Loop.Check = func(result json.RawMessage) error {
		if !strings.Contains(string(result), `"n"`) {
			return errors.New("n is missing")
		}
		return nil
	}
}

// What an agent that was called has used counts against the limits, and what the program changes by
// itself stands in the end.
func TestDone(t *testing.T) {
	d := newDesk(t, "lines", `call edit {}; write b.txt; say half; done`)
	d.run.Writes = true
	d.run.Loop.Limits.Tokens = 1000
	d.run.Loop.Call = func(context.Context, loop.Spent, string, json.RawMessage) (loop.Record, error) {
		return loop.Record{Text: "did", Use: &model.Use{In: 5000}, Cost: 3}, nil
	}
	out := d.do(t)
	end := out.Records[len(out.Records)-1]
	if out.Why != "1000 tokens" || out.Spent.Use.In < 5000 || out.Spent.Cost < 3 || len(end.Files) != 1 || !strings.HasSuffix(end.Files[0], "b.txt") {
		t.Errorf("%+v\n%+v", out.Spent, end)
	}
}

// A cancelled run ends at once, with its program and its calls.
func TestCancel(t *testing.T) {
	for _, script := range []string{`say a; hang`, `say a; begin wait {}; hang`, `say a; flood`} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, "lines", script)
			ctx, cancel := context.WithCancel(d.ctx)
			defer cancel()
			var at time.Time
			d.run.Loop.Watch = func(model.Event) {
				at = time.Now()
				cancel()
			}
			d.ctx = ctx
			out := d.do(t)
			if took := time.Since(at); out.Status != loop.Cancelled || took > 5*time.Second {
				t.Errorf("%s after %v", out.Status, took)
			} else {
				t.Log(took)
			}
		})
	}
}

// At the limit of time, calls end, and the agent has time for a last word.
func TestTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t, "lines", `call wait {}; say what I have; done`)
	d.run.Loop.Limits.Time = 3 * time.Second // which a busy machine needs to begin the call
	out := d.do(t)
	if got := d.journal.String(); out.Status != loop.Limited || out.Text != "what I have" || !strings.Contains(got, "wait=the run's time is up") {
		t.Errorf("%+v\n%s", out, got)
	}
}

// Another executor goes on with a run: it is told what was done, and what is unknown.
func TestResume(t *testing.T) {
	d := newDesk(t, "lines", `input; done`)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d.journal.list = append(d.journal.list,
		loop.Record{Kind: loop.Turn, At: at, Blocks: []model.Block{{Text: "I edit."}, {Call: &model.Call{ID: "1", Name: "look", Arguments: json.RawMessage(`{}`)}}}},
		loop.Record{Kind: loop.Result, At: at, Call: "1", Tool: "look", Text: "seen"},
		loop.Record{Kind: loop.Begin, At: at, Call: "2", Tool: "edit"},
		loop.Record{Kind: loop.End, At: at, Status: loop.Cancelled},
		loop.Record{Kind: loop.Said, At: at, Text: "and now"})
	out := d.do(t)
	for _, want := range []string{"the task", "You said: I edit.", "You called look {}", "look gave: seen", "You called edit at 2026-01-02T03:04:05Z, and its outcome is unknown", "and now"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("no %q in %s", want, out.Text)
		}
	}
}
