package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

func TestKeptResults(t *testing.T) {
	ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	session := local
	session.Workspace = ws

	synctest.Test(t, func(t *testing.T) {
		ran, generation, exact := 0, uint64(1), true
		during := func() {}
		r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
			tool("it", tools.Read, tools.None, func(_ context.Context, in In) (Out, error) {
				ran++
				during()
				return Out{strings.Repeat("x", in.N)}, nil
			}, repeatable, func(d *tools.Def[In, Out]) { d.Cache = time.Minute }),
			tool("write", tools.Write, tools.State, say("written")),
		}}})
		r.SetGeneration(func() (uint64, bool) { return generation, exact })
		call := func(tool string, n int) run.Outcome {
			return r.Run(t.Context(), run.Call{Tool: tool, Args: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Session: session})
		}
		step := func(what string, want int) run.Outcome {
			t.Helper()
			out := call("it", 3)
			if got := ending(out); got != "xxx" || ran != want {
				t.Errorf("%s: ended in %q after %d runs, want xxx after %d", what, got, ran, want)
			}
			return out
		}
		step("first", 1)
		time.Sleep(30 * time.Second)
		if age := step("again", 1).Result.Meta["toolcrib/cached_age"]; age != "30s" {
			t.Errorf("age %v, want 30s", age)
		}
		time.Sleep(31 * time.Second)
		step("after the time to live", 2)
		generation++
		step("after a change of the workspace", 3)
		step("and again", 3)
		call("write", 0)
		step("after a call with effects", 4)
		exact = false
		step("not exact", 5)
		step("still not exact", 6)
		exact = true
		step("exact again", 7)
		generation++
		during = func() { generation++ }
		step("a change meanwhile", 8)
		during = func() {}
		step("so it was not kept", 9)
		if n := r.Stats().Tools["it"].Cached; n != 2 {
			t.Errorf("%d cached calls counted, want 2", n)
		}
		for n := range 600 {
			call("it", n)
		}
		if n := r.Kept(); n != 512 {
			t.Errorf("%d results are kept, want 512", n)
		}
	})
}
