package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"toolcrib/server"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// outcome serves one call of a client of the given revision by a runner that
// ends it with out, and returns the line of the answer.
func outcome(t *testing.T, revision string, out func(context.Context, run.Call) run.Outcome) (line string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.SetRunner(out)
		c := connect(t, s)
		c.send(strings.Replace(initialize, "2025-11-25", revision, 1))
		synctest.Wait()
		c.take()
		c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`)
		synctest.Wait()
		lines := c.take()
		if len(lines) != 1 {
			t.Fatalf("answered by %q", lines)
		}
		line = lines[0]
	})
	return line
}

func TestOutcomes(t *testing.T) {
	blocks := run.Outcome{Result: tools.Result{Content: []tools.Block{
		tools.Text("text"),
		{Kind: tools.ImageBlock, Data: []byte("hi"), MIME: "image/png"},
		{Kind: tools.AudioBlock, Data: []byte("hi"), MIME: "audio/wav"},
		{Kind: tools.LinkBlock, URI: "toolcrib://job/1", Name: "job", MIME: "text/plain"},
	}}}
	const text, image = `{"type":"text","text":"text"},`, `{"type":"image","data":"aGk=","mimeType":"image/png"},`
	const audio = `{"type":"audio","data":"aGk=","mimeType":"audio/wav"},`
	tests := []struct {
		name, revision string
		out            run.Outcome
		want           string
	}{
		{"blocks", "2025-11-25", blocks, text + image + audio + `{"type":"resource_link","uri":"toolcrib://job/1","name":"job","description":"","mimeType":"text/plain"}`},
		{"blocks of 2025-03-26", "2025-03-26", blocks, text + image + audio + `{"type":"text","text":"job toolcrib://job/1"}`},
		{"blocks of 2024-11-05", "2024-11-05", blocks, text + image + `{"type":"text","text":"[audio/wav, 2 bytes: this client takes no audio]"},`},
		{"structured on one line", "2025-11-25", run.Outcome{Result: tools.Result{Structured: json.RawMessage("{\n \"a\": \"<\xff>\"}")}}, `"structuredContent":{"a":"<` + "\uFFFD" + `>"}`},
		{"structured that is not JSON", "2025-11-25", run.Outcome{Result: tools.Result{Structured: json.RawMessage("{")}}, `the result of echo is not JSON`},
		{"meta", "2025-11-25", run.Outcome{Result: tools.Result{Meta: map[string]any{"toolcrib/mends": []string{"x"}}}}, `"_meta":{"toolcrib/mends":["x"]}`},
		{"meta that JSON has no words for", "2025-11-25", run.Outcome{Result: tools.Result{Meta: map[string]any{"f": func() {}}}}, `"error":{"code":-32603`},
		{"an ask that cannot be asked", "2025-11-25", run.Outcome{Ask: &run.Ask{}}, `"toolcrib/code":"unavailable"`},
		{"a long error", "2025-11-25", run.Outcome{Err: tools.Errorf(tools.Internal, "%s", strings.Repeat("x", 20_000))}, `[cut: the message is longer]"}],"isError":true`},
		{"nothing", "2025-11-25", run.Outcome{}, `"result":{"content":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := outcome(t, tt.revision, func(context.Context, run.Call) run.Outcome { return tt.out })
			if !strings.Contains(got, tt.want) || !json.Valid([]byte(got)) {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestMetaIsNotShared: what mcp-go adds to a result stays out of an outcome
// that other calls may get too.
func TestMetaIsNotShared(t *testing.T) {
	shared := map[string]any{"toolcrib/x": 1}
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.SetRunner(func(context.Context, run.Call) run.Outcome {
			return run.Outcome{Result: tools.Result{Meta: shared}}
		})
		c := connect(t, s)
		for i := range 8 {
			c.send(eras()[1].call(fmt.Sprint(i), "echo", "", ""))
		}
		synctest.Wait()
	})
	if len(shared) != 1 {
		t.Errorf("the outcome became %v", shared)
	}
}

// TestPanic: a panic below mcp-go is answered, and serving goes on.
func TestPanic(t *testing.T) {
	got := outcome(t, "2025-11-25", func(context.Context, run.Call) run.Outcome { panic("boom") })
	want := regexp.MustCompile(`^{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error [A-Z0-9]{8}; the log of the server has the details"}}$`)
	if !want.MatchString(got) {
		t.Errorf("got %s", got)
	}
}

// TestArguments: the arguments reach the runner as they were written, and no
// arguments as an empty object.
func TestArguments(t *testing.T) {
	for params, want := range map[string]string{
		``: `{}`,
		`,"arguments":{"n":9007199254740993.50,"t":"<"}`: `{"n":9007199254740993.50,"t":"<"}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			var got []string
			s := newServer(t)
			s.SetRunner(func(_ context.Context, call run.Call) run.Outcome {
				got = append(got, call.Tool+string(call.Args))
				return run.Outcome{}
			})
			c := connect(t, s)
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say"` + params + `}}`)
			synctest.Wait()
			if !slices.Equal(got, []string{"say" + want}) {
				t.Errorf("the runner got %q", got)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	listed, hidden := toys()
	runner := run.New(run.Config{})
	for name, tt := range map[string]struct {
		opt  server.Options
		want string
	}{
		"no runner":  {server.Options{Tools: listed}, "without a runner"},
		"name twice": {server.Options{Tools: listed, Hidden: append(hidden, listed[0]), Runner: runner}, `name "echo" is taken`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := server.New(tt.opt); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v, want %s", err, tt.want)
			}
		})
	}
}
