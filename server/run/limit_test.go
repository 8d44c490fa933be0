package run_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// full is a limit that is always reached.
type full time.Duration

func (f full) Enter(string, string, bool) (func(), time.Duration) { return nil, time.Duration(f) }

// What a model reads and what a program reads is the same wait, and no shorter than the
// limit's.
func TestLimitSaysOneWait(t *testing.T) {
	for wait, want := range map[time.Duration]time.Duration{
		0:                        time.Millisecond,
		20 * time.Microsecond:    time.Millisecond,
		19*time.Millisecond + 1:  20 * time.Millisecond,
		999*time.Millisecond + 1: time.Second,
		time.Second:              time.Second,
		1200 * time.Millisecond:  2 * time.Second,
		time.Minute:              time.Minute,
	} {
		r := run.New(run.Config{
			Settings: run.Settings{Tools: []tools.Tool{tool("it", tools.Read, tools.None, say("done"))}},
			Limits:   full(wait),
		})
		out := r.Run(t.Context(), run.Call{Tool: "it", Args: empty, Session: local})
		if out.Err == nil {
			t.Fatal("the limit is reached, and the call went on")
		}
		e, ok := errors.AsType[*run.LimitError](out.Err)
		if !ok || e.Wait != want || !strings.HasPrefix(out.Err.Hint, "wait "+want.String()+" and ") {
			t.Errorf("%s: %+v, hint %q, want %s", wait, e, out.Err.Hint, want)
		}
	}
}
