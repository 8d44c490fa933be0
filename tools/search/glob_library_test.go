package search_test

import (
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// listed returns what searches until the list of files is kept.
func listed(t *testing.T) func(*workspace.Workspace, tools.Tool) {
	return func(ws *workspace.Workspace, glob tools.Tool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			meta := answer(t, ws, glob, map[string]any{"pattern": []string{"*"}}).Meta
			if meta["toolcrib/freshness"] != "scan" {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("no list after a minute: %v", meta)
			}
		}
	}
}

func TestGlobAnswersAsAScan(t *testing.T) {
	asAScan(t, "glob", listed(t), []map[string]any{
		{"pattern": []string{"*"}}, {"pattern": []string{"*"}, "hidden": true}, {"pattern": []string{"**"}, "kind": "any", "hidden": true},
		{"pattern": []string{"*.zzz"}}, {"pattern": []string{"*.txt"}, "exclude": []string{"b"}}, {"pattern": []string{"*"}, "kind": "directory"},
		{"pattern": []string{"*"}, "path": "a", "limit": 1}, {"pattern": []string{"*.txt"}, "sort": "newest"},
	})
}

func TestGlobPagesOfWhatHasChanged(t *testing.T) { changedPages(t, "glob", listed(t), []string{"*"}) }

func TestGlobFreshReadsTheFiles(t *testing.T) {
	freshness(t, "glob", listed(t), []string{"*"}, "fresh")
}
