package search_test

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/tooltest"
)

func TestPagesTogetherAreTheWhole(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/f.txt", i)] = strings.Repeat("some needle here\nnothing\n\n\n\n\n", i%7) + strings.Repeat("x", i*100) + "needle"
	}
	ws, _ := tooltest.Tree(t, files)
	for _, args := range []map[string]any{
		{"context": 0}, {"context": 1}, {"before": 3, "after": 2}, {"max_per_file": 2}, {"mode": "files"}, {"mode": "count"}, {"mode": "files", "sort": "newest"},
	} {
		args["pattern"], args["limit"] = "needle", 1000
		whole := pages(t, ws, "grep", args)
		for _, limit := range []int{1, 3, 7, 50} {
			args["limit"], args["offset"] = limit, 0
			got := pages(t, ws, "grep", args)
			if diff := gocmp.Diff(body(whole), body(got)); diff != "" {
				t.Errorf("limit %d of %v: %s", limit, args, head(diff))
			}
		}
	}
}

// body is the lines without what a page adds: headers that are repeated,
// separators, and how many matches of a file are not shown.
func body(lines []string) []string {
	var got []string
	path := ""
	for _, line := range lines {
		switch {
		case line == "" || line == "--" || strings.HasPrefix(line, "…"):
		case line == path:
		default:
			if !strings.Contains(line, "\t") {
				path = line
			}
			got = append(got, line)
		}
	}
	return got
}

func TestGrepKeptPagesEqualThoseFromTheStart(t *testing.T) {
	keptPages(t, "grep", []map[string]any{
		{"pattern": "a", "limit": 7},
		{"pattern": "a", "limit": 7, "max_per_file": 3},
		{"pattern": "a", "limit": 1, "context": 1},
		{"pattern": "a", "limit": 3, "mode": "files"},
		{"pattern": "a", "limit": 4, "mode": "count"},
		{"pattern": "a", "limit": 4, "mode": "count", "sort": "newest"},
		{"pattern": "^b$", "limit": 5, "glob": []string{"!*-3.txt"}, "path": "b"},
		{"pattern": "line", "limit": 9, "hidden": false, "multiline": true},
	})
}
