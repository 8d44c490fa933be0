package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
)

var empty = json.RawMessage(`{}`)

// stuck ignores its context until the release.
func stuck(release chan struct{}) handler {
	return func(context.Context, In) (Out, error) {
		<-release
		return Out{"late"}, nil
	}
}

func heeds(ctx context.Context, _ In) (Out, error) {
	<-ctx.Done()
	return Out{}, ctx.Err()
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
			tool("heeds", tools.Read, tools.None, heeds, timeout(time.Second)),
			tool("stuck", tools.Read, tools.None, stuck(release), timeout(time.Second)),
			tool("again", tools.Read, tools.None, stuck(release), timeout(time.Second), repeatable),
			tool("own", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
				<-ctx.Done()
				own := tools.Errorf(tools.TooLarge, "read 3 of 9 files")
				own.Err = ctx.Err()
				return Out{}, own
			}, timeout(time.Second)),
		}}})
		for name, want := range map[string]string{"heeds": "timeout", "stuck": "timeout", "again": "timeout", "own": "too_large"} {
			start := time.Now()
			out := r.Run(t.Context(), run.Call{Tool: name, Args: empty, Session: local})
			if got := ending(out); got != want || out.Err.Code == tools.Timeout && out.Err.Hint == "" {
				t.Errorf("%s: ended in %s (%v), want %s", name, got, out.Err, want)
			}
			if d := time.Since(start); d < time.Second || d > 1100*time.Millisecond {
				t.Errorf("%s: took %s", name, d)
			}
		}
		s := r.Stats()
		if a, b := s.Tools["stuck"].Abandoned, s.Tools["heeds"].Abandoned; a != 1 || b != 0 {
			t.Errorf("abandoned: stuck %d, heeds %d; want 1, 0", a, b)
		}
		if n := s.Tools["again"].Retries; n != 0 {
			t.Errorf("retried while a handler still runs: %d", n)
		}
		close(release)
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		stuckHook := func(context.Context, run.View, *tools.Error) { <-release }
		r := run.New(run.Config{
			Settings: run.Settings{Tools: []tools.Tool{
				tool("heeds", tools.Read, tools.None, heeds, repeatable),
				tool("stuck", tools.Read, tools.None, stuck(release)),
				tool("joined", tools.Read, tools.None, stuck(release), repeatable),
				tool("streams", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
					tools.Progress(ctx)(tools.ProgressEvent{Done: 1})
					return Out{}, nil
				}, streams),
				tool("question", tools.Read, tools.None, say("done"), func(d *tools.Def[In, Out]) {
					d.Confirm = func(context.Context, In) (tools.Question, error) { <-release; return tools.Question{}, nil }
				}),
			}, Hooks: run.Hooks{Error: []func(context.Context, run.View, *tools.Error){stuckHook}}},
		})
		for _, name := range []string{"heeds", "stuck", "joined", "streams", "question"} {
			ctx, cancel := context.WithCancel(t.Context())
			var cancelled time.Time
			time.AfterFunc(time.Second, func() { cancelled = time.Now(); cancel() })
			out := r.Run(ctx, run.Call{Tool: name, Args: empty, Session: local, Progress: func(tools.ProgressEvent) { <-release }})
			if got := ending(out); got != "cancelled" {
				t.Errorf("%s: ended in %s, want cancelled", name, got)
			}
			if d := time.Since(cancelled); d > 100*time.Millisecond {
				t.Errorf("%s: returned %s after the cancellation", name, d)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got := ending(r.Run(ctx, run.Call{Tool: "heeds", Args: empty, Session: local})); got != "timeout" {
			t.Errorf("at the caller's deadline: ended in %s, want timeout", got)
		}
		close(release)
	})
}

func TestNothingStartsAfterACancellation(t *testing.T) {
	var caller run.Caller
	ran := 0
	mark := func(context.Context, In) (Out, error) { ran++; return Out{"done"}, nil }
	ctx, cancel := context.WithCancel(t.Context())
	var late error
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
		tool("write", tools.Write, tools.Workspace, mark),
		tool("read", tools.Read, tools.None, mark, repeatable),
		tool("outer", tools.Delegates, tools.State, func(ctx context.Context, _ In) (Out, error) {
			cancel()
			_, late = caller.Call(ctx, "write", empty)
			return Out{}, late
		}),
	}}, Caller: &caller})
	for _, name := range []string{"outer", "write", "read"} { // the first cancels for all
		if got := ending(r.Run(ctx, run.Call{Tool: name, Args: empty, Session: local})); got != "cancelled" || ran != 0 {
			t.Errorf("%s: ended in %s after %d runs, want cancelled after 0", name, got, ran)
		}
	}
	if tools.AsError(late).Code != tools.Cancelled {
		t.Errorf("the inner call ended in %v", late)
	}
}

func TestRetry(t *testing.T) {
	unavailable := tools.Errorf(tools.Unavailable, "busy")
	for name, tc := range map[string]struct {
		err    error
		change func(*tools.Def[In, Out])
		fails  int // times
		limit  time.Duration
		want   string
		ran    int
	}{
		"second time":    {unavailable, repeatable, 1, 0, "done", 2},
		"third time":     {unavailable, repeatable, 2, 0, "done", 3},
		"never":          {unavailable, repeatable, 9, 0, "unavailable", 3},
		"not repeatable": {unavailable, func(*tools.Def[In, Out]) {}, 9, 0, "unavailable", 1},
		"not retryable":  {tools.Errorf(tools.NotFound, "gone"), repeatable, 9, 0, "not_found", 1},
		"a plain error":  {errors.New("odd"), repeatable, 9, 0, "internal", 1},
		"no time left":   {unavailable, repeatable, 9, 20 * time.Millisecond, "unavailable", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ran := 0
				// A tool that writes does not fly, so it keeps the caller's deadline.
				r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Write, tools.State, func(context.Context, In) (Out, error) {
					if ran++; ran <= tc.fails {
						return Out{}, tc.err
					}
					return Out{"done"}, nil
				}, tc.change)}}})
				ctx, start := t.Context(), time.Now()
				if tc.limit > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, tc.limit)
					defer cancel()
				}
				if got := ending(r.Run(ctx, run.Call{Tool: "it", Args: empty, Session: local})); got != tc.want || ran != tc.ran {
					t.Errorf("ended in %s after %d runs, want %s after %d", got, ran, tc.want, tc.ran)
				}
				if d := time.Since(start); d > 300*time.Millisecond || tc.ran > 1 && d < 50*time.Millisecond {
					t.Errorf("took %s", d)
				}
				if n := r.Stats().Tools["it"].Retries; int(n) != tc.ran-1 {
					t.Errorf("%d retries counted", n)
				}
			})
		})
	}
}

func TestProgress(t *testing.T) {
	var late func(tools.ProgressEvent)
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
		late = tools.Progress(ctx)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					late(tools.ProgressEvent{Done: 1})
				}
			})
		}
		wg.Wait()
		return Out{"done"}, nil
	}, streams, repeatable)}}})
	var heard, at atomic.Int32
	r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local, Progress: func(tools.ProgressEvent) {
		if at.Add(1) != 1 {
			t.Error("two events at a time")
		}
		heard.Add(1)
		at.Add(-1)
	}})
	if n := heard.Load(); n != 800 {
		t.Errorf("heard %d events, want 800", n)
	}
	late(tools.ProgressEvent{Done: 1})
	if n := heard.Load(); n != 800 {
		t.Errorf("heard an event after the end")
	}
}

func TestLateProgressIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var report func(tools.ProgressEvent)
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
			report = tools.Progress(ctx)
			report(tools.ProgressEvent{Done: 1})
			return Out{}, nil
		}, streams)}}})
		release, heard := make(chan struct{}), 0
		running := r.Start(t.Context(), run.Call{Tool: "it", Args: empty, Session: local, Progress: func(tools.ProgressEvent) {
			heard++
			<-release
		}})
		synctest.Wait()
		running.Cancel() // while the listener is stuck, so that the call ends without it
		running.Wait()
		close(release)
		synctest.Wait()
		for range 20 {
			report(tools.ProgressEvent{Done: 2})
		}
		if heard != 1 {
			t.Errorf("heard %d events, want 1", heard)
		}
	})
}

func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran atomic.Int32
		release := make(chan struct{})
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
			tool("it", tools.Read, tools.None, func(ctx context.Context, _ In) (Out, error) {
				ran.Add(1)
				tools.Progress(ctx)(tools.ProgressEvent{Done: 1})
				select {
				case <-release:
				case <-ctx.Done():
					return Out{}, ctx.Err()
				}
				tools.Progress(ctx)(tools.ProgressEvent{Done: 2})
				return Out{"done"}, nil
			}, repeatable, streams),
			tool("write", tools.Write, tools.Workspace, say("written")),
		}}})
		var events atomic.Int32
		call := run.Call{Tool: "it", Args: empty, Session: local, Progress: func(tools.ProgressEvent) { events.Add(1) }}
		start := func(session tools.SessionInfo) *run.Running {
			c := call
			c.Session = session
			running := r.Start(t.Context(), c)
			synctest.Wait()
			return running
		}
		var all []*run.Running
		for range 10 {
			all = append(all, start(local))
		}
		if n := ran.Load(); n != 1 {
			t.Fatalf("10 identical calls ran %d times, want 1", n)
		}
		for _, i := range []int{0, 5} { // the first of all, and one that joined
			all[i].Cancel()
			if got := ending(all[i].Wait()); got != "cancelled" {
				t.Errorf("call %d ended in %s, want cancelled", i, got)
			}
		}
		all = slices.Concat(all[1:5], all[6:])
		other := start(stranger)
		r.Run(t.Context(), run.Call{Tool: "write", Args: empty, Session: local})
		after := start(local)
		if n := ran.Load(); n != 3 {
			t.Errorf("another principal and a call after a write: %d runs, want 3", n)
		}
		close(release)
		for _, running := range append(all, other, after) {
			out := running.Wait()
			if got := ending(out); got != "done" {
				t.Errorf("ended in %s, want done", got)
			}
			if joined := slices.Contains(all, running); out.Result.Meta["toolcrib/joined"] == true != joined {
				t.Errorf("meta %v of a call that joined: %t", out.Result.Meta, joined)
			}
		}
		if n := r.Stats().Tools["it"].Joined; n != 9 {
			t.Errorf("%d joined calls counted, want 9", n)
		}
		if n := events.Load(); n != 1+8+2+2 { // the first hears both events unless cancelled, the others the second
			t.Errorf("heard %d events, want 13", n)
		}
	})
}

func TestFlightEndsWithItsLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := 0
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, func(ctx context.Context, in In) (Out, error) {
			<-ctx.Done()
			ended++
			return heeds(ctx, in)
		}, repeatable)}}})
		a := r.Start(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})
		b := r.Start(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})
		synctest.Wait()
		a.Cancel()
		a.Wait()
		if ended != 0 {
			t.Error("ended while a caller waited")
		}
		b.Cancel()
		b.Wait()
		if ended != 1 {
			t.Errorf("ended %d handlers, want 1", ended)
		}
	})
}
