package search_test

import (
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// indexed returns what searches until the index is ready.
func indexed(t *testing.T) func(*workspace.Workspace, tools.Tool) {
	return func(ws *workspace.Workspace, grep tools.Tool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			meta := answer(t, ws, grep, map[string]any{"pattern": "x"}).Meta
			if meta["toolcrib/index"] == "ready" {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("no index after a minute: %v", meta)
			}
		}
	}
}

func TestGrepAnswersAsAScan(t *testing.T) {
	asAScan(t, "grep", indexed(t), []map[string]any{
		{"pattern": "needle"}, {"pattern": "nothing like it"}, {"pattern": "seeking", "case": "insensitive"}, {"pattern": "red|func \\w+", "mode": "files"},
		{"pattern": "needle", "mode": "count", "sort": "newest"}, {"pattern": "needle\\(\\) \\{\n\treturn", "multiline": true}, {"pattern": "e", "limit": 2},
		{"pattern": "needle", "path": "a"}, {"pattern": "needle", "glob": []string{"*.txt"}}, {"pattern": "zzz", "glob": []string{"*.go"}},
		{"pattern": "needle", "exclude": []string{"a"}}, {"pattern": "zzz", "exclude": []string{"b", "*.go"}}, {"pattern": "needle", "hidden": false},
		{"pattern": "needle", "type": []string{"go"}}, {"pattern": "[[:upper:]]\\w{4}"}, {"pattern": `\x{fffd}`}, {"pattern": `\p{So} needle`}, {"pattern": "needle", "path": "out"},
	})
}

func TestGrepPagesOfWhatHasChanged(t *testing.T) { changedPages(t, "grep", indexed(t), "x") }

func TestGrepFreshReadsTheFiles(t *testing.T) {
	freshness(t, "grep", indexed(t), "x", "fresh", "include_ignored")
}
