package server_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server"
	"toolcrib/server/run"
)

// TestTrace has clients say their place in a trace in each of the ways, and counts
// their requests.
func TestTrace(t *testing.T) {
	s := newServer(t)
	var got run.Trace
	s.SetRunner(func(_ context.Context, call run.Call) run.Outcome {
		got = call.Trace
		return run.Outcome{}
	})
	w := serveHTTP(t, s, server.HTTP{Auth: gate(t)})
	session := w.hello(`{}`)
	header := headers{"Traceparent": "of the header", "Tracestate": "a=1"}
	meta := map[string]any{"traceparent": "of the meta", "tracestate": "b=2"}
	for _, era := range eras() {
		h := headers{}
		if !strings.Contains(era.call("1", "echo", `"text":"hi"`, ""), "2026-07-28") {
			h = session
		}
		for _, c := range []struct {
			name string
			h    headers
			meta map[string]any
			want run.Trace
		}{
			{"none", nil, nil, run.Trace{}},
			{"header", header, nil, run.Trace{Parent: "of the header", State: "a=1"}},
			{"meta", nil, meta, run.Trace{Parent: "of the meta", State: "b=2"}},
			{"both", header, meta, run.Trace{Parent: "of the meta", State: "b=2"}},
			{"not text", nil, map[string]any{"traceparent": 7}, run.Trace{}},
		} {
			got = run.Trace{}
			message := withMeta(t, era.call("1", "echo", `"text":"hi"`, ""), c.meta)
			if res, messages := w.post(message, merge(h, c.h)); res.StatusCode != 200 {
				t.Fatalf("%s: %d %q", c.name, res.StatusCode, messages)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", c.name, era, diff)
			}
		}
	}
	w.post(`{}`, headers{"Authorization": ""})
	live, requests := s.Traffic()
	if want := (map[int]uint64{200: uint64(1 + 5*len(eras())), 202: 1, 401: 1}); live != 1 || !cmp.Equal(want, requests) {
		t.Errorf("%d sessions, requests %v, want 1 and %v", live, requests, want)
	}
}

// withMeta adds keys to the _meta of a request.
func withMeta(t *testing.T, message string, more map[string]any) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatal(err)
	}
	params := m["params"].(map[string]any)
	meta, ok := params["_meta"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		params["_meta"] = meta
	}
	maps.Copy(meta, more)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
