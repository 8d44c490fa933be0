package run_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// pair is settings whose parts say which of two they belong to: the tools of 1 say
// 1, 2 is read-only and lacks one of them.
func pair(n int) run.Settings {
	set := run.Settings{ReadOnly: n == 2, Tools: []tools.Tool{
		tool("it", tools.Read, tools.None, say(fmt.Sprint(n))),
		tool("write", tools.Write, tools.Workspace, say(fmt.Sprint(n))),
	}}
	if n == 1 {
		set.Tools = append(set.Tools, tool("first", tools.Read, tools.None, say("1")))
	}
	return set
}

// A call in flight and the calls that its tool makes keep the settings that it began
// with; the next call has the new ones.
func TestReconfigureInFlight(t *testing.T) {
	caller := &run.Caller{}
	entered, leave := make(chan struct{}), make(chan struct{})
	outer := tool("outer", tools.Delegates, tools.None, func(ctx context.Context, _ In) (Out, error) {
		close(entered)
		<-leave
		res, err := caller.Call(ctx, "write", empty)
		if err != nil {
			return Out{}, err
		}
		return Out{res.Content[0].Text}, nil
	})
	one := pair(1)
	one.Tools = append(one.Tools, outer)
	r := run.New(run.Config{Settings: one, Caller: caller})
	running := r.Start(t.Context(), run.Call{Tool: "outer", Args: empty, Session: local})
	<-entered
	if err := r.Reconfigure(pair(2)); err != nil {
		t.Fatal(err)
	}
	close(leave)
	if got := ending(running.Wait()); got != "1" {
		t.Errorf("the call in flight: %s", got)
	}
	for name, want := range map[string]string{"write": "denied", "first": "not_found", "outer": "not_found", "it": "2"} {
		if got := ending(r.Run(t.Context(), run.Call{Tool: name, Args: empty, Session: local})); got != want {
			t.Errorf("%s afterwards: %s, want %s", name, got, want)
		}
	}
	if _, ok := r.Tool("first"); ok {
		t.Error("a tool that is gone is found")
	}
	if calls := r.Stats().Tools["outer"].Calls; calls != 1 {
		t.Errorf("%d calls of a tool that is gone are counted", calls)
	}
}

// While settings change as fast as they can, no call fails for that or sees a part of
// each.
func TestReconfigureMixesNothing(t *testing.T) {
	r := run.New(run.Config{Settings: pair(1)})
	var group sync.WaitGroup
	done := make(chan struct{})
	group.Go(func() {
		for n := 2; ; n = 3 - n {
			select {
			case <-done:
				return
			default:
			}
			if err := r.Reconfigure(pair(n)); err != nil {
				t.Error(err)
			}
		}
	})
	var calls sync.WaitGroup
	for range 4 {
		calls.Go(func() {
			for range 500 {
				out := r.Run(t.Context(), run.Call{Tool: "write", Args: empty, Session: local})
				if got := ending(out); got != "1" && got != "denied" { // all of it 1, all of it 2
					t.Errorf("%s: %v", got, out.Err)
				}
			}
		})
	}
	calls.Wait()
	close(done)
	group.Wait()
}

// A rule that came to deny a call while its user was asked beats the consent.
func TestReconfigureBeatsConsent(t *testing.T) {
	it := tool("it", tools.Write, tools.Workspace, say("done"), confirm("sure?"))
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{it}}})
	call := run.Call{Tool: "it", Args: empty, Session: askable}
	out := r.Run(t.Context(), call)
	if out.Ask == nil {
		t.Fatalf("not asked: %+v", out)
	}
	if err := r.Reconfigure(run.Settings{Tools: []tools.Tool{it}, ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	call.Reply = &run.Reply{State: out.Ask.State, Answers: map[string]tools.Answer{"consent": {Action: tools.Accept}}}
	if got := ending(r.Run(t.Context(), call)); got != "denied" {
		t.Errorf("consented, then read-only: %s", got)
	}
}

func TestReconfigureRefuses(t *testing.T) {
	r := run.New(run.Config{Settings: pair(1)})
	two := pair(2)
	two.Tools = append(two.Tools, two.Tools[0])
	if err := r.Reconfigure(two); err == nil || !strings.Contains(err.Error(), `"it" is taken`) {
		t.Errorf("two tools of one name: %v", err)
	}
	if got := ending(r.Run(t.Context(), run.Call{Tool: "first", Args: empty, Session: local})); got != "1" {
		t.Errorf("the settings from before are gone: %s", got)
	}
}
