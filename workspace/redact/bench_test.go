package redact_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"toolcrib/workspace/redact"
)

// BenchmarkString looks through text without secrets, in MB/s.
func BenchmarkString(b *testing.B) {
	prose := strings.Repeat("2026-01-02T03:04:05Z level=INFO msg=\"the index is built\" root=/srv/work files=1204 took=31ms\n", 1000)
	source, err := os.ReadFile("assigned.go")
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"log": prose, "source": strings.Repeat(string(source), 20)} {
		for kind, r := range map[string]*redact.Redactor{"looks": nil, "50 known": redact.New(secrets())} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					_ = r.String(text)
				}
			})
		}
	}
}

func BenchmarkJSON(b *testing.B) {
	r := redact.New(secrets())
	raw := json.RawMessage(`{"path":"src/main.go","content":` + escapedJSON(strings.Repeat("func main() { run() }\n", 20)) + `,"n":12}`)
	b.SetBytes(int64(len(raw)))
	for b.Loop() {
		r.JSON(raw)
	}
}
