package tooltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// probe makes a tool of a function.
func probe(t *testing.T, run func(context.Context) error) tools.Tool {
	t.Helper()
	tool, err := tools.Dynamic(tools.DynamicDef{
		Name: "probe", Title: "Probe", Category: "files", Doc: "Probes.",
		Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`),
		Access: tools.Read, Effects: tools.None,
		Run: func(ctx context.Context, _ json.RawMessage) (tools.Result, error) { return tools.Result{}, run(ctx) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// The check of cancellation must tell a tool that heeds its context from those
// that do not.
func TestCancelled(t *testing.T) {
	steps := func(after func(ctx context.Context, i int) error) func(context.Context) error {
		return func(ctx context.Context) error {
			for i := range 10 {
				if err := after(ctx, i); err != nil {
					return err
				}
			}
			return nil
		}
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		name         string
		run          func(context.Context) error
		before, amid bool // it passes
	}{
		{"heeds it", steps(func(ctx context.Context, _ int) error { return ctx.Err() }), true, true},
		{"waits", steps(func(ctx context.Context, _ int) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			default:
				return nil
			}
		}), true, true},
		{"ignores it", func(context.Context) error { return nil }, false, false},
		{"asks and goes on", steps(func(ctx context.Context, _ int) error { _ = ctx.Err(); return nil }), false, false},
		{"asks only at the start", steps(func(ctx context.Context, i int) error {
			err := ctx.Err()
			if i > 0 {
				return nil
			}
			return err
		}), true, false},
		{"has another error", steps(func(ctx context.Context, _ int) error {
			if ctx.Err() != nil {
				return broken
			}
			return nil
		}), false, false},
	} {
		ws, _ := tooltest.Tree(t, nil)
		tool := probe(t, c.run)
		if err := tooltest.CancelledBefore(t.Context(), ws, tool, json.RawMessage(`{}`)); (err == nil) != c.before {
			t.Errorf("%s, before: %v", c.name, err)
		}
		if err := tooltest.CancelledAmid(t.Context(), ws, ws, tool, json.RawMessage(`{}`)); (err == nil) != c.amid {
			t.Errorf("%s, amid: %v", c.name, err)
		}
	}
}

func TestWithin(t *testing.T) {
	tool := tools.Tool{Limits: tools.Limits{Text: 10}}
	fits := tools.Result{Content: []tools.Block{tools.Text("0123456789")}}
	over := tools.Result{Content: []tools.Block{tools.Text("0123456789+")}}
	for _, c := range []struct {
		result tools.Result
		err    error
		ok     bool
	}{
		{fits, nil, true},
		{over, nil, false},
		{tools.Result{}, tools.Errorf(tools.NotFound, "x"), true},
		{tools.Result{}, tools.Errorf(tools.TooLarge, "x"), false},
	} {
		if err := tooltest.Within(tool, c.result, c.err); (err == nil) != c.ok {
			t.Errorf("%v, %v: %v", c.result, c.err, err)
		}
	}
}

func TestLeak(t *testing.T) {
	const hash = "2844950d4a7c22f3eb52607adcddb4d4e7793fc245acd504b5221b0e17952276"
	for _, c := range []struct{ said, structured, want string }{
		{"denied: ../out/secret is outside", "", ""},
		{"listing\n" + tooltest.Sentinel + ".txt", "", "the content or a name"},
		{"root:x:0:0", "", "the users"},
		{"hash " + hash, "", "the hash"},
		{"", `{"files":[{"path":"x","exists":true,"size":21}]}`, "the size"},
		{"", `{"files":[{"path":"x","exists":true,"size":22}]}`, ""},
		{"", `{"files":[{"path":"x","exists":false,"size":21}]}`, ""},
	} {
		if got := tooltest.Leak(c.said, json.RawMessage(c.structured)); got != c.want {
			t.Errorf("%s%s: %q, want %q", c.said, c.structured, got, c.want)
		}
	}
}
