package run_test

import (
	"encoding/json"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
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
