package search_test

import (
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// denied checks that a search finds nothing of what the policy denies, and says how much that
// is.
func denied(t *testing.T, name string, args map[string]any) {
	t.Helper()
	ws, _ := tooltest.Tree(t, map[string]string{"a.txt": "needle\n", "b.key": "needle\n", "d/c.key": "needle\n"})
	denying := ws.Denying(func(p workspace.Path) string {
		if strings.HasSuffix(p.String(), ".key") {
			return "keys"
		}
		return ""
	})
	text := call(t, denying, name, args)
	if !strings.Contains(text, "a.txt") || strings.Contains(text, ".key") || !strings.HasSuffix(text, "left out: 2 paths that the policy denies\n") {
		t.Errorf("it says %q", text)
	}
}
