package workspace_test

import (
	"errors"
	"testing"

	"toolcrib/workspace"
)

// TestFind tells what exists from what does not, and that from what cannot be told.
func TestFind(t *testing.T) {
	tr := newTree(t)
	backends(t, func(t *testing.T, opt workspace.Options) {
		ws := tr.open(t, opt, "ws")
		find := func(name string) (workspace.Info, bool, error) {
			p, err := ws.Resolve(name)
			if err != nil {
				t.Fatal(err)
			}
			return p.Find(true)
		}
		if info, exists, err := find("f"); err != nil || !exists || info.Kind != workspace.KindFile {
			t.Errorf("a file: %v, %t, %v", info, exists, err)
		}
		for _, name := range []string{"ff", "sub/none", "none/none"} {
			if _, exists, err := find(name); err != nil || exists {
				t.Errorf("%s: %t, %v", name, exists, err)
			}
		}
		_, exists, err := find("f/below")
		if e, ok := errors.AsType[*workspace.Error](err); !ok || exists || e.Rule != workspace.RuleKind {
			t.Errorf("below a file: %t, %v", exists, err)
		}
	})
}
