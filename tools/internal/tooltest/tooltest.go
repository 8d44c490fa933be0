// Package tooltest is the suite that every tool must pass.
//
// Its checks derive from the tool's declaration, so that a test of a tool is one line:
// tooltest.Run(t, tool). Start at [Run]. It imports the contract and the packages below it,
// and must not import a category.
package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolcrib/schema"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// Limits for the end of a refused or cancelled call. The race detector makes everything
// several times slower.
const (
	refusedWithin   = 500 * time.Millisecond // a call that waits never ends
	cancelledWithin = 100 * time.Millisecond
)

// Run checks a tool against its declaration.
func Run(t *testing.T, tool tools.Tool) {
	t.Helper()
	if err := tools.Validate([]tools.Tool{tool}); err != nil {
		t.Fatal(err)
	}
	calls := tool.Examples()
	if len(calls) == 0 {
		t.Fatalf("tool %q has no example", tool.Name)
	}
	t.Run("schema", func(t *testing.T) { portable(t, tool) })
	for _, c := range calls {
		t.Run("example/"+c.Say, func(t *testing.T) { example(t, tool, c) })
	}
	large, dir := largeTree(t, calls)
	t.Run("cancelled", func(t *testing.T) { cancelled(t, tool, calls, large, dir) })
	t.Run("dry run", func(t *testing.T) { dryRun(t, tool, calls) })
	t.Run("escapes", func(t *testing.T) { escapes(t, tool, calls[0]) })
	t.Run("big", func(t *testing.T) { big(t, tool, calls, large) })
}

// Call carries out one call in a workspace, as the pipeline does, without its policy, and
// returns the result.
func Call(ctx context.Context, ws *workspace.Workspace, tool tools.Tool, args json.RawMessage) (tools.Result, error) {
	ctx = session(ctx, ws)
	bound, err := tool.Bind(args)
	if err != nil {
		return tools.Result{}, err
	}
	out, err := tool.Run(ctx, bound)
	if err != nil {
		return tools.Result{}, err
	}
	return tool.Render(out)
}

func session(ctx context.Context, ws *workspace.Workspace) context.Context {
	return tools.WithSession(ctx, &tools.SessionInfo{Principal: tools.Local, Workspace: ws})
}

// Text joins the text of a result's blocks.
func Text(r tools.Result) string {
	var parts []string
	for _, b := range r.Content {
		if b.Kind == tools.TextBlock {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

func portable(t *testing.T, tool tools.Tool) {
	in, err := tool.Input()
	must(t, err)
	for _, err := range schema.Lint(in.JSON()) {
		t.Errorf("arguments: %v", err)
	}
	out, err := tool.Output()
	must(t, err)
	if out == nil {
		return
	}
	for _, err := range schema.Lint(out.JSON()) {
		t.Errorf("result: %v", err)
	}
}

func example(t *testing.T, tool tools.Tool, c tools.Call) {
	ws, dir := scene(t, c)
	before := snapshot(t, dir)
	first, err := Call(t.Context(), ws, tool, c.Args)
	must(t, err)
	if diff := Match(c.Want, Text(first)); diff != "" {
		t.Errorf("%s %s:\n%s", tool.Name, c.Args, diff)
	}
	if tool.Least == tools.Read && c.After == nil {
		if after := snapshot(t, dir); before != after {
			t.Errorf("a tool that only reads changed the tree:\nbefore\n%s\nafter\n%s", before, after)
		}
	}
	if c.After != nil {
		if diff := Differ(c.After, Contents(t, dir)); diff != "" {
			t.Errorf("%s %s: the tree afterwards:\n%s", tool.Name, c.Args, diff)
		}
	}
	if !tool.Repeatable {
		return
	}
	once := snapshot(t, dir)
	second, err := Call(t.Context(), ws, tool, c.Args)
	must(t, err)
	if diff := Match(Text(first), Text(second)); diff != "" && tool.Least == tools.Read {
		t.Errorf("the second call gives another result:\n%s", diff)
	}
	if twice := snapshot(t, dir); once != twice {
		t.Errorf("the second call changed the tree:\nonce\n%s\ntwice\n%s", once, twice)
	}
}

// big runs the examples in the tree of bigTree: the result must stay within the tool's
// limits.
func big(t *testing.T, tool tools.Tool, calls []tools.Call, ws *workspace.Workspace) {
	for _, c := range calls {
		for _, args := range []json.RawMessage{c.Args, widest(t, tool, c.Args)} {
			before(t, ws, c)
			result, err := Call(t.Context(), ws, tool, args)
			if err := within(tool, result, err); err != nil {
				t.Errorf("%s: %v", args, err)
			}
		}
	}
}

// within returns an error if the result is larger than the tool's limits, or if the tool
// gave up because of its size. Any other error of the tool is fine: the pipeline cuts its
// text.
func within(tool tools.Tool, result tools.Result, err error) error {
	switch n := len(Text(result)); {
	case err != nil && tools.AsError(err).Code == tools.TooLarge:
		return fmt.Errorf("ends with %w; the tool must trim its result or page", err)
	case n > tool.Limits.Text:
		return fmt.Errorf("text of %d bytes, the limit is %d", n, tool.Limits.Text)
	}
	return nil
}

// widest sets every number with a maximum in the arguments to its maximum.
func widest(t *testing.T, tool tools.Tool, args json.RawMessage) json.RawMessage {
	in, err := tool.Input()
	must(t, err)
	var values map[string]any
	must(t, json.Unmarshal(args, &values))
	var doc struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	must(t, json.Unmarshal(in.JSON(), &doc))
	for name := range doc.Properties {
		if limit, ok := in.Keyword(name, "maximum"); ok && !strings.Contains(name, "offset") {
			values[name] = limit
		}
	}
	wide, err := json.Marshal(values)
	must(t, err)
	return wide
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
