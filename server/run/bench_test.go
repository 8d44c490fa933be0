package run_test

import (
	"encoding/json"
	"io"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// BenchmarkCall is a trivial call through the whole pipeline with the audit log on.
func BenchmarkCall(b *testing.B) {
	r := run.New(run.Config{Settings: run.Settings{Tools: []tools.Tool{
		tool("once", tools.Read, tools.None, say("done")),
		tool("joinable", tools.Read, tools.None, say("done"), repeatable),
	}}, Audit: io.Discard})
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
