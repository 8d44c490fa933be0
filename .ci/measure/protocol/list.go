package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"

	"toolcrib/.ci/measure/harness"
)

// List counts what the default preset costs a model.
func List(ctx context.Context, env harness.Environment) error {
	out, err := exec.CommandContext(ctx, env.Binary, "list", "--format", "mcp").Output()
	if err != nil {
		return err
	}
	var doc struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(out, &doc); err != nil {
		return err
	}
	bytes := 0
	for _, tool := range doc.Tools {
		compact, err := json.Marshal(tool)
		if err != nil {
			return err
		}
		bytes += len(compact)
	}
	fmt.Printf("| tools/list of the default preset | %d tools | %d tokens |\n|---|---|---|\n", len(doc.Tools), bytes/4)
	if len(doc.Tools) > 24 || bytes/4 > 8000 {
		return fmt.Errorf("want at most 24 tools, 8,000 tokens")
	}
	return nil
}
