package run_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// answer answers every form of an ask with the same action.
func answer(ask *run.Ask, action tools.Action, values string) *run.Reply {
	reply := &run.Reply{State: ask.State, Answers: map[string]tools.Answer{}}
	for id := range ask.Forms {
		a := tools.Answer{Action: action}
		if values != "" {
			a.Values = map[string]json.RawMessage{"v": json.RawMessage(values)}
		}
		reply.Answers[id] = a
	}
	return reply
}

func TestConsent(t *testing.T) {
	for action, want := range map[tools.Action]string{tools.Accept: "deleted 7", tools.Decline: "declined", tools.Cancel: "declined", "shrug": "declined"} {
		t.Run(string(action), func(t *testing.T) {
			var log lines
			pre, ends, questions := 0, 0, 0
			r := run.New(run.Config{
				Settings: run.Settings{Tools: []tools.Tool{tool("delete", tools.Write, tools.Workspace, func(_ context.Context, in In) (Out, error) {
					return Out{fmt.Sprint("deleted ", in.N)}, nil
				}, func(d *tools.Def[In, Out]) {
					d.Confirm = func(context.Context, In) (tools.Question, error) {
						questions++
						return tools.Question{Message: "delete build/ with 214 files"}, nil
					}
				})}, Hooks: run.Hooks{
					Pre: []func(context.Context, run.View) (run.Decision, error){func(context.Context, run.View) (run.Decision, error) {
						pre++
						return run.Decision{Args: json.RawMessage(`{"n":7}`)}, nil
					}},
					Post:  []func(context.Context, run.View, any){func(context.Context, run.View, any) { ends++ }},
					Error: []func(context.Context, run.View, *tools.Error){func(context.Context, run.View, *tools.Error) { ends++ }},
				}},
				Audit: &log,
			})
			call := run.Call{Tool: "delete", Args: json.RawMessage(`{"n":1}`), Session: askable}
			out := r.Run(t.Context(), call)
			if out.Ask == nil {
				t.Fatalf("not asked: %v", out)
			}
			for _, form := range out.Ask.Forms {
				if form.Message != "delete build/ with 214 files" {
					t.Errorf("asked %q", form.Message)
				}
			}
			if ends != 0 {
				t.Error("a hook fired for an asked call")
			}
			call.Reply = answer(out.Ask, action, "")
			if got := ending(r.Run(t.Context(), call)); got != want {
				t.Errorf("ended in %q, want %q", got, want)
			}
			if pre != 1 || ends != 1 || questions != 1 {
				t.Errorf("pre hook ran %d times, end hooks %d, the question %d; want 1 each", pre, ends, questions)
			}
			if got := log.records(t)[0]; got != "end delete ask tool-asks asked" {
				t.Errorf("first record %q", got)
			}
		})
	}
}

// Nobody is said to have declined who may never have been asked.
func TestWhoDeclined(t *testing.T) {
	const unknown = "it: not confirmed: the client answered without asking its user, or the user declined"
	for _, tc := range []struct {
		name   string
		answer tools.Answer
		want   string
	}{
		{"decline", tools.Answer{Action: tools.Decline}, unknown},
		{"cancel", tools.Answer{Action: tools.Cancel}, unknown},
		{"the choice", tools.Answer{Action: tools.Accept, Values: map[string]json.RawMessage{"allow": json.RawMessage(`"deny"`)}}, "it: the user declined"},
		{"no choice of the form", tools.Answer{Action: tools.Accept, Values: map[string]json.RawMessage{"allow": json.RawMessage(`"never"`)}}, unknown},
	} {
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Exec, tools.Process|tools.Network, say("done"))}}})
		call := run.Call{Tool: "it", Args: empty, Session: askable}
		call.Reply = &run.Reply{State: r.Run(t.Context(), call).Ask.State, Answers: map[string]tools.Answer{"consent": tc.answer}}
		err := r.Run(t.Context(), call).Err
		if err == nil || err.Msg != tc.want || err.Code != tools.Declined {
			t.Errorf("%s: ended in %v, want %q", tc.name, err, tc.want)
		}
		if said := strings.Contains(err.Hint, "a rule of the policy") && strings.Contains(err.Hint, "--confirm client"); said != (tc.want == unknown) {
			t.Errorf("%s: the hint is %q", tc.name, err.Hint)
		}
	}
}

// A denial for want of a form says in one line what the user would have been asked.
func TestDenialTellsTheQuestion(t *testing.T) {
	loses := tool("it", tools.Write, tools.Workspace, say("done"), confirm("delete build/ with 214 files, which no history keeps\nreplace \u202ea.bin"))
	reach := tool("it", tools.Exec, tools.Process|tools.Network, say("done"))
	hook := func(context.Context, run.View) (run.Decision, error) { return run.Decision{Ask: "it is Friday"}, nil }
	for _, tc := range []struct {
		name    string
		tool    tools.Tool
		hooks   []func(context.Context, run.View) (run.Decision, error)
		confirm run.Confirm
		want    string
	}{
		{"a tool's question", loses, nil, run.ConfirmAsk, `it: needs the user's consent (rule tool-asks: delete build/ with 214 files, which no history keeps; replace \u{202e}a.bin), and this client cannot show a form`},
		{"never asks", loses, nil, run.ConfirmDeny, `it: needs the user's consent (rule tool-asks: delete build/ with 214 files, which no history keeps; replace \u{202e}a.bin), and the server never asks`},
		{"a rule", reach, nil, run.ConfirmAsk, "it: needs the user's consent (rule exec-with-network: it runs a program with the network on), and this client cannot show a form"},
		{"a hook", reach, []func(context.Context, run.View) (run.Decision, error){hook}, run.ConfirmAsk, "it: needs the user's consent (rule pre-hook: it is Friday; it runs a program with the network on), and this client cannot show a form"},
	} {
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tc.tool}, Confirm: tc.confirm, Hooks: run.Hooks{Pre: tc.hooks}}})
		err := r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: tools.SessionInfo{Principal: "local"}}).Err
		if err == nil || err.Code != tools.Denied || err.Msg != tc.want {
			t.Errorf("%s: ended in %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestStateIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newRunner := func(key byte) *run.Runner {
			return run.New(run.Config{
				Settings: run.Settings{Tools: []tools.Tool{
					tool("it", tools.Write, tools.Workspace, say("done"), confirm("sure?")),
					tool("other", tools.Write, tools.Workspace, say("done"), confirm("sure?")),
				}},
				Key: []byte(strings.Repeat(string(key), 32)),
			})
		}
		for _, tc := range []struct {
			name   string
			change func(*run.Call)
			wait   time.Duration
			key    byte
			want   string
		}{
			{name: "as it came", want: "done"},
			{name: "arguments worded otherwise", change: func(c *run.Call) { c.Args = json.RawMessage(` {"n": 1 }`) }, want: "done"},
			{name: "in time", wait: 9 * time.Minute, want: "done"},
			{name: "late", wait: 11 * time.Minute, want: "denied"},
			{name: "other arguments", change: func(c *run.Call) { c.Args = json.RawMessage(`{"n":2}`) }, want: "denied"},
			{name: "other tool", change: func(c *run.Call) { c.Tool = "other" }, want: "denied"},
			{name: "other principal", change: func(c *run.Call) { c.Session = stranger }, want: "denied"},
			{name: "other key", key: 'B', want: "denied"},
			{name: "empty", change: func(c *run.Call) { c.Reply.State = "" }, want: "denied"},
			{name: "not base64", change: func(c *run.Call) { c.Reply.State = "*" }, want: "denied"},
			{name: "a bit flipped", change: func(c *run.Call) {
				box, _ := base64.RawURLEncoding.DecodeString(c.Reply.State)
				box[len(box)/2] ^= 1
				c.Reply.State = base64.RawURLEncoding.EncodeToString(box)
			}, want: "denied"},
			{name: "no answer", change: func(c *run.Call) { clear(c.Reply.Answers) }, want: "asked"},
			{name: "an answer too many", change: func(c *run.Call) { c.Reply.Answers["ask_1"] = tools.Answer{Action: tools.Accept} }, want: "done"},
		} {
			call := run.Call{Tool: "it", Args: json.RawMessage(`{"n":1}`), Session: askable}
			first, second := newRunner('A'), newRunner('A')
			if tc.key != 0 {
				second = newRunner(tc.key)
			}
			call.Reply = answer(first.Run(t.Context(), call).Ask, tools.Accept, "")
			time.Sleep(tc.wait)
			if tc.change != nil {
				tc.change(&call)
			}
			if got := ending(second.Run(t.Context(), call)); got != tc.want {
				t.Errorf("%s: ended in %q, want %q", tc.name, got, tc.want)
			}
			if tc.want == "done" {
				if got := ending(second.Run(t.Context(), call)); got != "denied" {
					t.Errorf("%s: replayed: ended in %q, want denied", tc.name, got)
				}
			}
		}
	})
}

// twoAsks asks twice and says what it was told.
func twoAsks(ctx context.Context, _ In) (Out, error) {
	var told []string
	for _, q := range []string{"first?", "second?"} {
		a, err := tools.Ask(ctx, tools.Form{Message: q})
		if err != nil {
			return Out{}, err
		}
		told = append(told, string(a.Action)+string(a.Values["v"]))
	}
	return Out{strings.Join(told, " ")}, nil
}

func TestTwoAsksInOneHandler(t *testing.T) {
	for _, consent := range []bool{false, true} {
		change := func(*tools.Def[In, Out]) {}
		if consent {
			change = confirm("may it ask?")
		}
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, twoAsks, repeatable, change)}}})
		call := run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: askable}
		var asked []string
		out := r.Run(t.Context(), call)
		for n := 0; out.Ask != nil && n < 5; n++ {
			for id, form := range out.Ask.Forms {
				asked = append(asked, id+" "+form.Message)
			}
			action := tools.Accept
			if n == 2 {
				action = "shrug"
			}
			values := fmt.Sprint(n)
			if consent && n == 0 {
				values = "" // the form has no fields
			}
			call.Reply = answer(out.Ask, action, values)
			out = r.Run(t.Context(), call)
		}
		want, told := []string{"ask_1 first?", "ask_2 second?"}, "accept0 accept1"
		if consent {
			want, told = []string{"consent may it ask?", "ask_1 first?", "ask_2 second?"}, "accept1 cancel2"
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
		if got := ending(out); got != told {
			t.Errorf("ended in %q, want %q", got, told)
		}
	}
}

func TestRetryAsksFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Write, tools.State, func(ctx context.Context, in In) (Out, error) {
			out, err := twoAsks(ctx, in)
			if ran++; err == nil && ran == 3 {
				err = tools.Errorf(tools.Unavailable, "busy")
			}
			return out, err
		}, repeatable)}}})
		running := r.Start(t.Context(), run.Call{Tool: "it", Args: empty, Session: askable})
		for range 2 {
			if err := running.Answer(answer(running.Wait().Ask, tools.Accept, "").Answers); err != nil {
				t.Fatal(err)
			}
		}
		if got := ending(running.Wait()); got != "accept accept" || ran != 4 {
			t.Errorf("ended in %q after %d runs", got, ran)
		}
		running.Cancel()
	})
}

func TestAnswerStaysWithItsForm(t *testing.T) {
	n := 0
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
		n++
		_, err := tools.Ask(ctx, tools.Form{Message: fmt.Sprint("delete ", n, " files?")})
		return Out{"done"}, err
	})}}})
	call := run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: askable}
	call.Reply = answer(r.Run(t.Context(), call).Ask, tools.Accept, "")
	if got := ending(r.Run(t.Context(), call)); got != "conflict" {
		t.Errorf("ended in %q, want conflict", got)
	}
}

func TestAskWhereNobodyCanBeAsked(t *testing.T) {
	for name, c := range map[string]struct {
		session tools.SessionInfo
		confirm run.Confirm
	}{"no forms": {local, run.ConfirmAsk}, "trusted": {askable, run.ConfirmClient}, "never": {askable, run.ConfirmDeny}} {
		r := run.New(run.Config{Settings: run.Settings{Confirm: c.confirm, Tools: []tools.Tool{tool("it", tools.Read, tools.None, twoAsks)}}})
		out := r.Run(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: c.session})
		if got := ending(out); got != "unavailable" {
			t.Errorf("%s: ended in %q, want unavailable", name, got)
		}
	}
}

func TestRunningIsAnswered(t *testing.T) {
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, twoAsks)}}})
	running := r.Start(t.Context(), run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: askable})
	for range 2 {
		ask := running.Wait().Ask
		if ask == nil {
			t.Fatal("does not ask")
		}
		if err := running.Answer(answer(ask, tools.Accept, "").Answers); err != nil {
			t.Fatal(err)
		}
	}
	if got := ending(running.Wait()); got != "accept accept" {
		t.Errorf("ended in %q", got)
	}
	if err := running.Answer(nil); tools.AsError(err).Code != tools.Conflict {
		t.Errorf("an answer after the end: %v", err)
	}
}

func TestUsedStatesAreForgottenInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Write, tools.Workspace, say("done"), confirm("sure?"))}}})
		call := run.Call{Tool: "it", Args: json.RawMessage(`{}`), Session: askable}
		once := func() string {
			c := call
			c.Reply = answer(r.Run(t.Context(), c).Ask, tools.Accept, "")
			return ending(r.Run(t.Context(), c))
		}
		for range 3 {
			if got := once(); got != "done" {
				t.Fatalf("ended in %q", got)
			}
		}
		r.FillUsed()
		if got := once(); got != "unavailable" {
			t.Errorf("with too many states in use: ended in %q, want unavailable", got)
		}
		time.Sleep(11 * time.Minute)
		if got := once(); got != "done" {
			t.Errorf("later: ended in %q, want done", got)
		}
		if n := r.Used(); n != 1 {
			t.Errorf("%d states are remembered, want 1", n)
		}
	})
}

// An answer may take as long as its form says, and tells how long it took.
func TestAnswerTakes(t *testing.T) {
	for _, tc := range []struct {
		wait, takes time.Duration
		want        string
	}{
		{0, 9 * time.Minute, "accept after 9m0s"},
		{0, 11 * time.Minute, "denied"},
		{time.Minute, 9 * time.Minute, "accept after 9m0s"},
		{20 * time.Minute, 19 * time.Minute, "accept after 19m0s"},
		{20 * time.Minute, 21 * time.Minute, "denied"},
	} {
		now := time.Now()
		r := run.New(run.Config{Now: func() time.Time { return now }, Settings: run.Settings{Tools: []tools.Tool{
			tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
				a, err := tools.Ask(ctx, tools.Form{Message: "well?", Wait: tc.wait})
				return Out{fmt.Sprintf("%s after %s", a.Action, a.After)}, err
			}),
		}}})
		call := run.Call{Tool: "it", Args: empty, Session: askable}
		out := r.Run(t.Context(), call)
		if out.Ask == nil {
			t.Fatalf("not asked: %+v", out)
		}
		now = now.Add(tc.takes)
		call.Reply = answer(out.Ask, tools.Accept, "")
		if got := ending(r.Run(t.Context(), call)); got != tc.want {
			t.Errorf("wait %s, answer after %s: got %q, want %q", tc.wait, tc.takes, got, tc.want)
		}
	}
}
