package run_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/server/workers"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

// discard is the least that a Recorder can do.
type discard struct{}

func (discard) Record(run.Record) error { return nil }

// BenchmarkCall is a trivial call through the whole pipeline with the audit log on.
func BenchmarkCall(b *testing.B) {
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
		tool("once", tools.Read, tools.None, say("done")),
		tool("joinable", tools.Read, tools.None, say("done"), repeatable),
	}}, Audit: discard{}})
	for _, name := range []string{"once", "joinable"} {
		b.Run(name, func(b *testing.B) {
			call := run.Call{Tool: name, Args: json.RawMessage(`{"path":"a/b.go","n":20}`), Session: local}
			b.ReportAllocs()
			for b.Loop() {
				if out := r.Run(b.Context(), call); out.Err != nil {
					b.Fatal(out.Err)
				}
			}
		})
	}
}

// BenchmarkBatch is a call of parallel_calls with 16 calculations.
func BenchmarkBatch(b *testing.B) {
	caller := new(run.Caller)
	all := catalog.Tools(catalog.All(&catalog.Services{Caller: caller, Restarts: true}))
	pool := workers.New()
	defer pool.Close()
	r := run.New(run.Config{Settings: run.Settings{Tools: all}, Caller: caller, Audit: discard{}, Go: pool.Go})
	ws, err := workspace.Open([]string{b.TempDir()}, workspace.Options{StateBase: b.TempDir(), NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	defer ws.Close()
	session := local
	session.Workspace = ws
	var calls []string
	for i := range 16 {
		calls = append(calls, fmt.Sprintf(`{"tool":"calculator","arguments":{"expression":"%d+1"}}`, i))
	}
	call := run.Call{Tool: "parallel_calls", Args: json.RawMessage(`{"calls":[` + strings.Join(calls, ",") + `]}`), Session: session}
	b.ReportAllocs()
	for b.Loop() {
		if out := r.Run(b.Context(), call); out.Err != nil {
			b.Fatal(out.Err)
		}
	}
}
