package tooltest

import (
	"encoding/json"
	"fmt"
	"testing"

	"toolcrib/tools"
)

// dryRun calls a tool with dry_run, if it has that: the examples succeed and change
// nothing.
func dryRun(t *testing.T, tool tools.Tool, calls []tools.Call) {
	in, err := tool.Input()
	must(t, err)
	var doc struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	must(t, json.Unmarshal(in.JSON(), &doc))
	if _, ok := doc.Properties["dry_run"]; !ok {
		return
	}
	for _, c := range calls {
		if err := ranDry(t, tool, c); err != nil {
			t.Error(err)
		}
	}
}

func ranDry(t *testing.T, tool tools.Tool, c tools.Call) error {
	var args map[string]any
	must(t, json.Unmarshal(c.Args, &args))
	args["dry_run"] = true
	raw, err := json.Marshal(args)
	must(t, err)
	ws, dir := scene(t, c)
	start := snapshot(t, dir)
	if _, err := Call(t.Context(), ws, tool, raw); err != nil {
		return fmt.Errorf("%s: %w", raw, err)
	}
	if now := snapshot(t, dir); now != start {
		return fmt.Errorf("%s changed the tree:\nbefore\n%s\nafter\n%s", raw, start, now)
	}
	return nil
}
