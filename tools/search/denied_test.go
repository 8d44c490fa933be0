package search_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// TestDenied finds nothing of what the policy denies, and says how much that is.
func TestDenied(t *testing.T) {
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "needle\n", "b.key": "needle\n", "d/c.key": "needle\n"})
	guarded := ws.Denying(func(p workspace.Path) string {
		if strings.HasSuffix(p.String(), ".key") {
			return "keys"
		}
		return ""
	})
	for name, args := range map[string]map[string]any{
		"grep": {"pattern": "needle"},
		"glob": {"pattern": []string{"**"}},
	} {
		text := call(t, guarded, name, args)
		if !strings.Contains(text, "a.txt") || strings.Contains(text, ".key") || !strings.HasSuffix(text, "left out: 2 paths that the policy denies\n") {
			t.Errorf("%s: %q", name, text)
		}
	}
}
