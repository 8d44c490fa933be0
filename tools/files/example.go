package files

import (
	"context"

	"toolcrib/tools"
	"toolcrib/tools/files/internal/change"
	"toolcrib/workspace"
)

// exampleEdit changes a file, for examples.
func exampleEdit(ctx context.Context) error {
	path, err := tools.Resolve(ctx, "a.txt")
	if err != nil {
		return err
	}
	_, err = change.Writer{}.Apply(ctx, workspace.Change{Tool: "edit_file", Ops: []workspace.Op{{
		Kind: workspace.OpWrite, Path: path,
		New: func(workspace.Old) ([]byte, error) { return []byte("one\n2, 3\n"), nil },
	}}})
	return err
}
