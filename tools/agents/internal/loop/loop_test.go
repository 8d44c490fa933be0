package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/agents/internal/loop"
	"toolcrib/tools/agents/internal/model"
)

// journal keeps records in memory. It fails from record number "until" on, as for a process
// that has been killed.
type journal struct {
	records []loop.Record
	until   int           // 0 = never
	slow    time.Duration // how long it takes
	writes  []string      // the kinds of the records of each
}

var errKilled = errors.New("killed")

func (j *journal) Records(context.Context) ([]loop.Record, error) {
	return append([]loop.Record(nil), j.records...), nil
}

func (j *journal) Append(_ context.Context, more ...loop.Record) error {
	if j.until > 0 && len(j.records)+len(more) > j.until {
		return errKilled
	}
	time.Sleep(j.slow)
	j.records = append(j.records, more...)
	var kinds []string
	for _, r := range more {
		kinds = append(kinds, string(r.Kind))
	}
	j.writes = append(j.writes, strings.Join(kinds, " "))
	return nil
}

// script is a model that says these turns, one after the other: a line is a text, a call "ID
// TOOL ARGUMENTS", "!END", or "#N" for a use of N tokens.
type script struct {
	turns    []string
	requests []model.Request
	endless  bool      // the last turn again and again
	dropped  model.Use // of a turn that fails
	price    float64   // of each turn
}

func (s *script) turn(ctx context.Context, r model.Request, on func(model.Event)) (*model.Turn, model.Bill, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, model.Bill{}, err
	}
	s.requests = append(s.requests, r)
	n := len(s.requests) - 1
	if s.endless {
		n = min(n, len(s.turns)-1)
	}
	if n >= len(s.turns) {
		return nil, model.Bill{}, errors.New("the script has ended")
	}
	t := &model.Turn{From: "m", End: model.Stop, Use: model.Use{In: 10, Out: 1}}
	for line := range strings.Lines(s.turns[n]) {
		line = strings.TrimSpace(line)
		switch parts := strings.SplitN(line, " ", 3); {
		case line == "":
		case strings.HasPrefix(line, "?"):
			return nil, model.Bill{Use: s.dropped, Cost: s.price}, &model.Error{Reason: model.Reason(line[1:]), Say: "so it is"}
		case strings.HasPrefix(line, "!"):
			t.End = model.End(line[1:])
		case strings.HasPrefix(line, "#"):
			_, _ = fmt.Sscan(line[1:], &t.Use.In)
		case len(parts) == 3 && (strings.HasPrefix(parts[2], "{") || strings.HasPrefix(parts[2], "~") || strings.HasPrefix(parts[2], "%")):
			c := &model.Call{ID: fmt.Sprintf("%s.%d", parts[0], n), Name: parts[1], Arguments: json.RawMessage(parts[2])}
			switch parts[2][0] {
			case '~':
				c.Arguments, c.Wrong = json.RawMessage("{}"), parts[2]
			case '%':
				c.Arguments, c.Cut = json.RawMessage("{}"), true
			}
			t.Blocks = append(t.Blocks, model.Block{Call: c})
			if t.End == model.Stop {
				t.End = model.Calls
			}
		default:
			on(model.Event{Text: line})
			t.Blocks = append(t.Blocks, model.Block{Text: line})
		}
	}
	return t, model.Bill{Use: t.Use, Cost: s.price}, nil
}

// bench is a loop with two tools: "look" reads, "do" has an effect.
type bench struct {
	loop.Loop
	script  *script
	journal *journal
	mu      sync.Mutex
	calls   []string
}

func newBench(turns ...string) *bench {
	b := &bench{script: &script{turns: turns}, journal: &journal{}}
	b.Loop = loop.Loop{
		Tools:  []loop.Tool{{Tool: model.Tool{Name: "look"}, Reads: true, Repeatable: true}, {Tool: model.Tool{Name: "do"}}, {Tool: model.Tool{Name: "set"}, Repeatable: true}, {Tool: model.Tool{Name: "ask"}}},
		Limits: loop.Limits{Rounds: 15},
		Asks:   "ask", Model: b.script.turn, Journal: b.journal, Now: time.Now, MaxOutput: 100,
		Call: func(ctx context.Context, _ loop.Spent, tool string, args json.RawMessage) (loop.Record, error) {
			b.mu.Lock()
			b.calls = append(b.calls, tool+string(args))
			b.mu.Unlock()
			var in struct {
				Fail string
				Size int
				Wait time.Duration
			}
			_ = json.Unmarshal(args, &in)
			select {
			case <-time.After(in.Wait * time.Millisecond):
			case <-ctx.Done():
				return loop.Record{}, context.Cause(ctx)
			}
			if in.Fail != "" {
				return loop.Record{}, errors.New(in.Fail)
			}
			return loop.Record{Text: tool + " done" + strings.Repeat(".", in.Size)}, nil
		},
	}
	b.journal.records = []loop.Record{{Kind: loop.Said, At: time.Now(), Text: "task"}}
	return b
}

// story tells the records after the task, a line each.
func (b *bench) story() string {
	var s strings.Builder
	for _, r := range b.journal.records[1:] {
		switch r.Kind {
		case loop.Turn:
			s.WriteString("turn")
			for _, block := range r.Blocks {
				if block.Call != nil {
					fmt.Fprintf(&s, " %s", block.Call.ID)
				} else {
					fmt.Fprintf(&s, " %q", block.Text)
				}
			}
		case loop.Result:
			fmt.Fprintf(&s, "result %s %s", r.Call, shortened(r.Text))
		case loop.End:
			fmt.Fprintf(&s, "end %s %s%s", r.Status, r.Text, r.Output)
		case loop.Begin:
			fmt.Fprintf(&s, "begin %s", r.Call)
		default:
			fmt.Fprintf(&s, "%s %s", r.Kind, shortened(r.Text))
		}
		s.WriteByte('\n')
	}
	return s.String()
}

func shortened(text string) string {
	if len(text) > 60 {
		return text[:60] + "..."
	}
	return text
}

func (b *bench) want(t *testing.T, story string) {
	t.Helper()
	if _, err := b.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(story), strings.TrimSpace(strings.ReplaceAll(b.story(), " \n", "\n"))); diff != "" {
		t.Error(diff)
	}
	replays(t, b.journal.records)
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []string
		alter func(*bench)
		story string
	}{
		{"an answer at once", []string{"hi"}, nil, "turn \"hi\"\nend completed"},
		{"calls, then an answer", []string{"a look {}\nb do {}", "hi"}, nil,
			"turn a.0 b.0\nresult a.0 look done\nbegin b.0\nresult b.0 do done\nturn \"hi\"\nend completed"},
		{"an error of a tool", []string{`a do {"fail":"no such file"}`, "hi"}, nil,
			"turn a.0\nbegin a.0\nresult a.0 no such file\nturn \"hi\"\nend completed"},
		{"a tool that it has not", []string{"a rm {}", "hi"}, nil,
			"turn a.0\nresult a.0 denied: you have no tool \"rm\"\nturn \"hi\"\nend completed"},
		{"wrong arguments, and a call that was cut", []string{"a do ~x\nb do %", "hi"}, nil,
			"turn a.0 b.0\nresult a.0 not carried out: the arguments are not a JSON object: ~x\nresult b.0 not carried out: your answer was cut at the limit of its tok...\nturn \"hi\"\nend completed"},
		{"the limit of rounds", []string{"a look {}", "b look {}", "half"}, func(b *bench) { b.Limits.Rounds = 2 },
			"turn a.0\nresult a.0 look done\nturn b.1\nresult b.1 look done\nfinal The limit of 2 rounds is reached: you cannot call tools any ...\nturn \"half\"\nend limit 2 rounds"},
		{"the limit of tokens, and the hint before", []string{"#90\na look {}", "#20\nb look {}", "half"}, func(b *bench) { b.Limits.Tokens = 100 },
			"turn a.0\nresult a.0 look done\nhint Nine tenths of the limit of 100 tokens are used. Finish with...\nturn b.1\nresult b.1 look done\nfinal The limit of 100 tokens is reached: you cannot call tools an...\nturn \"half\"\nend limit 100 tokens"},
		{"the limit of time in parallel calls", []string{`a look {"wait":5000}` + "\n" + `b look {"wait":1}`, "half"}, func(b *bench) { b.Limits.Time = time.Second },
			"turn a.0 b.0\nresult a.0 the run's time is up; what the call had done by then stays: ...\nresult b.0 look done\nfinal The limit of 1s is reached: you cannot call tools any more. ...\nturn \"half\"\nend limit 1s"},
		{"a model that fails", []string{"a look {}", "?quota"}, nil, "turn a.0\nresult a.0 look done\nend failed : quota: so it is"},
		{"a model that fails at the limit", []string{"a look {}", "?quota"}, func(b *bench) { b.Limits.Rounds = 1 },
			"turn a.0\nresult a.0 look done\nfinal The limit of 1 rounds is reached: you cannot call tools any ...\nend limit 1 rounds; the agent had no last word: : quota: so it is"},
		{"a refusal", []string{"no\n!refused"}, nil, "turn \"no\"\nend failed the model refused"},
		{"a pause", []string{"hm\n!pause", "hi"}, nil, "turn \"hm\"\nturn \"hi\"\nend completed"},
		{"an answer that is cut, once and twice", []string{"ha\n!length", "lf\n!length"}, nil,
			"turn \"ha\"\nhint Your answer was cut at the limit of its tokens. Go on where ...\nturn \"lf\"\nend limit the answer was cut twice at the limit of its tokens"},
		{"a question to the user", []string{"a do {}\nb ask {\"q\":1}"}, nil, "turn a.0 b.0\nend input_required {\"q\":1}"},
		{"a result with a schema", []string{"a submit {\"n\":1}"}, schema, "turn a.0\nresult a.0 taken\nend completed {\"n\":1}"},
		{"a result after calls of the same turn", []string{"a submit {\"n\":1}\nb do {}"}, schema, "turn a.0 b.0\nbegin b.0\nresult b.0 do done\nresult a.0 taken\nend completed {\"n\":1}"},
		{"a result that does not fit, none, and one that fits", []string{"a submit {}", "hi", "b submit {\"n\":1}"}, schema,
			"turn a.0\nresult a.0 the result does not fit: n is missing\nturn \"hi\"\nhint You have not given your result: call submit.\nturn b.2\nresult b.2 taken\nend completed {\"n\":1}"},
		{"results that never fit", []string{"a submit {}", "b submit {}", "c submit {}"}, schema,
			"turn a.0\nresult a.0 the result does not fit: n is missing\nturn b.1\nresult b.1 the result does not fit: n is missing\nturn c.2\nresult c.2 the result does not fit: n is missing\nend failed the agent gave no result that fits the schema"},
		{"a result at the limit", []string{"a look {}", "b submit {\"n\":1}"}, func(b *bench) { schema(b); b.Limits.Rounds = 1 },
			"turn a.0\nresult a.0 look done\nfinal The limit of 1 rounds is reached: you cannot call tools any ...\nturn b.1\nend limit 1 rounds{\"n\":1}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(c.turns...)
				if c.alter != nil {
					c.alter(b)
				}
				b.want(t, c.story)
			})
		})
	}
}

// A turn is kept with the beginning of its call, or while calls run that only read: nothing waits
// for the journal twice. One is kept also where another process is to go on.
func TestKeptTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a do {}", `b look {"wait":1000}`, "hi")
		b.journal.slow = time.Second
		begin := time.Now()
		b.want(t, "turn a.0\nbegin a.0\nresult a.0 do done\nturn b.1\nresult b.1 look done\nturn \"hi\"\nend completed")
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
		if diff := cmp.Diff([]string{"turn begin", "result", "turn", "result", "turn end"}, b.journal.writes); diff != "" {
			t.Error(diff)
		}
	})
	ctx, leave := context.WithCancelCause(t.Context())
	b := newBench("a do {}")
	turn := b.Model
	b.Model = func(ctx context.Context, r model.Request, on func(model.Event)) (*model.Turn, model.Bill, error) {
		defer leave(loop.ErrLeft)
		return turn(ctx, r, on)
	}
	if _, err := b.Run(ctx); !errors.Is(err, loop.ErrLeft) || b.story() != "turn a.0\n" || len(b.calls) > 0 {
		t.Errorf("%v, %s, %q", err, b.story(), b.calls)
	}
}

// Equal calls of one turn that only read run once, and each has the result.
func TestEqualCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a look {}\nb look {}\nc look {\"x\":1}", "hi")
		b.want(t, "turn a.0 b.0 c.0\nresult a.0 look done\nresult b.0 look done\nresult c.0 look done\nturn \"hi\"\nend completed")
		if len(b.calls) != 2 {
			t.Errorf("the tools were called as %q", b.calls)
		}
	})
}

// What a call has done is in its result, also of a call that failed, and what it has used counts as
// the run's. Equal calls that ran once have done it once.
func TestDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a look {}\nb look {}", `c do {"n":1}`, "hi")
		var before []int
		b.Call = func(_ context.Context, spent loop.Spent, tool string, _ json.RawMessage) (loop.Record, error) {
			before = append(before, spent.Use.Total())
			return loop.Record{Files: []string{tool}, Ran: []string{"ls"}, Hosts: []string{"h"}, Use: &model.Use{In: 100}, Cost: 2}, errors.New("no")
		}
		out, err := b.Run(t.Context())
		if err != nil || out.Spent.Use.Total() != 3*11+200 || out.Spent.Cost != 4 {
			t.Errorf("%+v, %v", out.Spent, err)
		}
		if diff := cmp.Diff([]int{11, 122}, before); diff != "" {
			t.Error(diff)
		}
		var done []string
		for _, r := range out.Records {
			if r.Kind == loop.Result {
				done = append(done, fmt.Sprint(r.Call, r.Files, r.Ran, r.Hosts, r.Text))
			}
		}
		if diff := cmp.Diff([]string{"a.0[look] [ls] [h]no", "b.0[] [] []no", "c.1[do] [ls] [h]no"}, done); diff != "" {
			t.Error(diff)
		}
	})
}

// What was used by turns that gave nothing counts, in tokens and in cost: at the end of a run and
// where a summary was wanted.
func TestDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a look {}", "?quota")
		b.script.dropped, b.script.price = model.Use{In: 30}, .5
		if out, err := b.Run(t.Context()); err != nil || out.Spent.Use.In != 40 || out.Spent.Cost != 1 {
			t.Errorf("%+v, %v", out.Spent, err)
		}
		b = newBench("#10\na look {\"size\":300}", "#1000\nb look {\"size\":300}", "?quota")
		b.Window = 1000
		b.script.dropped, b.script.price = model.Use{In: 30}, .5
		if out, err := b.Run(t.Context()); err != nil || out.Status != loop.Failed || out.Spent.Use.In != 1040 || out.Spent.Cost != 1.5 {
			t.Errorf("%+v, %v, %s", out.Spent, err, b.story())
		}
	})
}

// A run ends at a limit of those in whose name it works.
func TestAbove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a look {}", "half")
		b.Above = func() string {
			if len(b.calls) > 0 {
				return "the caller's 9 tokens"
			}
			return ""
		}
		b.want(t, "turn a.0\nresult a.0 look done\nfinal The limit of the caller's 9 tokens is reached: you cannot ca...\nturn \"half\"\nend limit the caller's 9 tokens")
	})
}

// A long result keeps its beginning and its end, and no half character.
func TestLongResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, long := range []string{strings.Repeat("x", 10<<20), strings.Repeat("語", 40_000), "a" + strings.Repeat("é", 40_000)} {
			b := newBench("a look {}", "hi")
			b.Call = func(context.Context, loop.Spent, string, json.RawMessage) (loop.Record, error) {
				return loop.Record{Text: long}, nil
			}
			if out, err := b.Run(t.Context()); err != nil || out.Status != loop.Completed {
				t.Fatalf("%+v, %v", out, err)
			}
			text := b.journal.records[2].Text
			if n := len(text); n < 49_900 || n > 50_100 || !utf8.ValidString(text) || !strings.Contains(text, "bytes left out") || text[:9] != long[:9] || !strings.HasSuffix(text, long[len(long)-9:]) {
				t.Errorf("the result has %d bytes: %.30q", n, text)
			}
		}
	})
}

// After an answer that was cut the next one may be twice as long, as far as the window has room.
func TestLongerAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for window, want := range map[int]int{10_000: 200, 300: 150, 100: 100} {
			b := newBench("ha\n!length", "lf")
			b.Window = window
			b.Tools = nil
			if out, err := b.Run(t.Context()); err != nil || out.Status != loop.Completed {
				t.Fatalf("%+v, %v", out, err)
			}
			if got := b.script.requests[1].MaxOutput; got != want {
				t.Errorf("window %d: an answer of %d tokens, want %d", window, got, want)
			}
		}
	})
}

func schema(b *bench) {
	b.Output = json.RawMessage(`{"type":"object"}`)
	b.Check = func(data json.RawMessage) error {
		if string(data) == "{}" {
			return errors.New("n is missing")
		}
		return nil
	}
}

// What was begun by a process that is killed, at whatever record, is done once or has an unknown
// outcome; the run ends in another process.
func TestKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := []string{"a look {}\nb do {\"n\":1}\nc set {\"n\":2}", "d do {\"n\":3}\ne do {\"n\":4}", "hi"}
		whole := newBench(turns...)
		if _, err := whole.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for until := 1; until < len(whole.journal.records); until++ {
			b := newBench(turns...)
			b.journal.until = until
			if _, err := b.Run(t.Context()); !errors.Is(err, errKilled) {
				t.Fatalf("killed at %d: %v", until, err)
			}
			b.journal.until = 0
			asked := 0
			for _, r := range b.journal.records {
				if r.Kind == loop.Turn {
					asked++
				}
			}
			b.script.requests = b.script.requests[:asked] // an answer that was not kept is asked for again
			out, err := b.Run(t.Context())
			if err != nil || out.Status != loop.Completed {
				t.Fatalf("killed at %d: %+v, %v\n%s", until, out, err, b.story())
			}
			unknown := strings.Count(b.story(), "outcome unknown")
			for _, effect := range []string{`do{"n":1}`, `do{"n":3}`, `do{"n":4}`} {
				times := strings.Count(strings.Join(b.calls, ""), effect)
				if times > 1 || times+unknown < 1 {
					t.Errorf("killed at %d: %s was done %d times, %d outcomes unknown\n%s", until, effect, times, unknown, b.story())
				}
			}
			replays(t, b.journal.records)
		}
	})
}

// A cancelled run ends at once, with results for its calls and what it has so far.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("half\na look {\"wait\":60000}\nb look {\"wait\":1,\"x\":1}")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		out, err := b.Run(ctx)
		if err != nil || out.Status != loop.Cancelled || out.Text != "half" || time.Since(begin) != time.Second {
			t.Errorf("%+v, %v after %s", out, err, time.Since(begin))
		}
		if story := b.story(); !strings.Contains(story, "result b.0 look done") || !strings.Contains(story, "result a.0 the run was stopped") {
			t.Error(story)
		}
	})
}

// The limit of time in the middle of parallel calls keeps the results that there are, and those
// that do not come say why; the agent hands them back in its last turn.
func TestTimeLimitInCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a look {\"wait\":1}\nb look {\"wait\":60000}\nc look {\"wait\":2}", "what I have")
		b.Limits.Time = time.Second
		begin := time.Now()
		b.want(t, "turn a.0 b.0 c.0\nresult a.0 look done\nresult b.0 the run's time is up; what the call had done by then stays: ...\nresult c.0 look done\n"+
			"final The limit of 1s is reached: you cannot call tools any more. ...\nturn \"what I have\"\nend limit 1s")
		if took := time.Since(begin); took != time.Second {
			t.Errorf("it took %s", took)
		}
		last := b.script.requests[1]
		if results := last.Messages[2].Blocks; !last.Last || len(results) != 4 || results[0].Result.Text != "look done" || results[2].Result.Text != "look done" {
			t.Errorf("the last turn was asked with %+v", last.Messages)
		}
	})
}

// What a killed process did not keep a result of is asked for once, when another one takes over.
func TestLostParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a look {}\nb do {}", "hi")
		var asked []string
		b.Lost = func(_ context.Context, begun []loop.Record) (loop.Record, error) {
			for _, r := range begun {
				asked = append(asked, r.Call)
			}
			return loop.Record{Files: []string{"x"}, Use: &model.Use{In: 100}}, nil
		}
		b.journal.until = 4 // task, turn, result a, begin b
		if _, err := b.Run(t.Context()); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		b.journal.until = 5 // killed again as soon as it has taken over
		if _, err := b.Run(t.Context()); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		b.journal.until = 0
		out, err := b.Run(t.Context())
		if err != nil || out.Status != loop.Completed {
			t.Fatalf("%+v, %v", out, err)
		}
		if len(asked) != 1 || asked[0] != "b.0" || out.Spent.Use.In != 120 {
			t.Errorf("asked for %v, spent %+v\n%s", asked, out.Spent, b.story())
		}
		replays(t, b.journal.records)
	})
}

// A run that is left to another process gets no end and no results of calls that have not begun.
func TestLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a do {\"wait\":60000}\nb do {}", "c look {\"wait\":60000}", "hi")
		for range 2 {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(loop.ErrLeft) })
			if out, err := b.Run(ctx); !errors.Is(err, loop.ErrLeft) {
				t.Fatalf("%+v, %v", out, err)
			}
		}
		b.want(t, "turn a.0 b.0\nbegin a.0\nresult a.0 another process goes on with the run; what the call had done...\ntaken\nbegin b.0\nresult b.0 do done\nturn c.1\ntaken\nresult c.1 look done\nturn \"hi\"\nend completed")
	})
}

// Eight calls that read run at once, and no more.
func TestParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turn strings.Builder
		for i := range 16 {
			fmt.Fprintf(&turn, "c%d look {\"wait\":100,\"n\":%d}\n", i, i)
		}
		b := newBench(turn.String(), "hi")
		begin := time.Now()
		if _, err := b.Run(t.Context()); err != nil || time.Since(begin) != 200*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// A run that is resumed goes on with what it knew.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench("a ask {\"q\":1}", "thanks", "more")
		if out, err := b.Run(t.Context()); err != nil || out.Status != loop.InputRequired {
			t.Fatalf("%+v, %v", out, err)
		}
		b.journal.records = append(b.journal.records, loop.Record{Kind: loop.Result, Call: "a.0", Text: "yes"})
		if out, err := b.Run(t.Context()); err != nil || out.Status != loop.Completed || out.Text != "thanks" {
			t.Fatalf("%+v, %v", out, err)
		}
		b.journal.records = append(b.journal.records, loop.Record{Kind: loop.Said, Text: "and now?"})
		if out, err := b.Run(t.Context()); err != nil || out.Text != "more" {
			t.Fatalf("%+v, %v", out, err)
		}
		last := b.script.requests[2].Messages
		if n := len(last); n != 5 || last[2].Blocks[0].Result.Text != "yes" || last[4].Blocks[0].Text != "and now?" {
			t.Errorf("%+v", last)
		}
		replays(t, b.journal.records)
	})
}

// Older results give way before the window is full, then all but the task and the last turn.
func TestCompaction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(`a look {"size":4000}`, `b look {"size":4000,"n":1}`, `c look {"size":4000,"n":2}`, "SUMMARY", "hi")
		b.Window, b.Tools = 3400, b.Tools[:1]
		b.script.turns[2] = "#2600\n" + `c look {"size":8000,"n":2}`
		out, err := b.Run(t.Context())
		if err != nil || out.Status != loop.Completed || out.Text != "hi" {
			t.Fatalf("%+v, %v\n%s", out, err, b.story())
		}
		last := b.script.requests[len(b.script.requests)-1].Messages
		if first := last[0].Blocks; len(first) != 2 || first[0].Text != "task" || !strings.Contains(first[1].Text, "SUMMARY") {
			t.Errorf("%+v", last)
		}
		if n := len(last); n != 3 || len(last[2].Blocks[0].Result.Text) < 8000 {
			t.Errorf("%d messages, %s", n, b.story())
		}
		again := &bench{Loop: b.Loop}
		if out, err := again.Run(t.Context()); err != nil || out.Text != "hi" {
			t.Errorf("read again: %+v, %v", out, err)
		}
	})
}
