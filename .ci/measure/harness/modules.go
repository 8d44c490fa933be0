package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// Modules downloads Go modules, each by its path@version, and returns their directories in the
// same order.
func Modules(ctx context.Context, modules ...string) (dirs []string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"mod", "download", "-json"}, modules...)...)
	cmd.Dir = os.TempDir() // without the go.mod of this project
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", modules, err, out)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var module struct{ Dir string }
		if err := d.Decode(&module); err != nil {
			return nil, err
		}
		dirs = append(dirs, module.Dir)
	}
	if len(dirs) != len(modules) {
		return nil, fmt.Errorf("%s: %d directories", modules, len(dirs))
	}
	return dirs, nil
}
