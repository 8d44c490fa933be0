package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"

	"toolcrib/.ci/measure/harness"
)

// List counts what the presets cost a model that reads all of them.
func List(ctx context.Context, env harness.Environment) error {
	fmt.Println("| tools/list of the preset | tools | tokens |\n|---|---|---|")
	for _, preset := range []string{"default", "companion"} {
		if err := listPreset(ctx, env, preset); err != nil {
			return fmt.Errorf("%s: %w", preset, err)
		}
	}
	return nil
}

func listPreset(ctx context.Context, env harness.Environment, preset string) error {
	out, err := exec.CommandContext(ctx, env.Binary, "list", "--preset", preset, "--format", "mcp").Output()
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
	fmt.Printf("| %s | %d | %d |\n", preset, len(doc.Tools), bytes/4)
	if len(doc.Tools) > 24 || bytes/4 > 8000 {
		return fmt.Errorf("want at most 24 tools, 8,000 tokens")
	}
	return nil
}
