package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/workspace"
)

// TestSearchesAreKept asks the same again, with and without a change in between.
func TestSearchesAreKept(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{"d", "out"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.txt": "needle\n", "d/b.txt": "hay\n", ".ignore": "out/\n", "out/c.txt": "needle\n"} {
		write(name, text)
	}
	ws, err := workspace.Open([]string{dir}, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	caller := new(run.Caller)
	categories := catalog.All(&catalog.Services{Caller: caller})
	t.Cleanup(catalog.Start(t.Context(), categories, nil))
	r := run.New(run.Config{Settings: run.Settings{Tools: catalog.Tools(categories)}, Caller: caller})
	call := func(principal, tool, args string) (text string, meta map[string]any) {
		t.Helper()
		out := r.Run(t.Context(), run.Call{Tool: tool, Args: json.RawMessage(args), Session: tools.SessionInfo{Principal: principal, Workspace: ws}})
		if out.Err != nil {
			t.Fatal(out.Err)
		}
		return out.Result.Content[0].Text, out.Result.Meta
	}
	for end := time.Now().Add(time.Minute); ; {
		_, meta := call("warm", "grep", `{"pattern": "needle"}`)
		if how := meta["toolcrib/freshness"]; how == "watch" {
			break
		} else if how == "stat" {
			t.Skip("needs: a system that tells of changes")
		}
		if time.Now().After(end) {
			t.Fatal("no index after a minute")
		}
	}
	for _, tt := range []struct {
		name, tool, args string
		change           func()
		want             string // in the text of the last answer
		kept             bool   // it is an earlier one
	}{
		{"grep", "grep", `{"pattern": "needle"}`, func() {}, "1 match in 1", true},
		{"glob", "glob", `{"pattern": ["*.txt"]}`, func() {}, "2 files", true},
		{"grep after a write", "grep", `{"pattern": "needle", "limit": 9}`, func() { write("d/b.txt", "needle\n") }, "2 matches in 2", false},
		{"glob after a new file", "glob", `{"pattern": ["*.txt"], "limit": 9}`, func() { write("d/new.txt", "") }, "3 files", false},
		{"after a change of the rules", "glob", `{"pattern": ["*.txt"], "limit": 8}`, func() { write(".ignore", "out/\nd/\n") }, "1 file", false},
		{"with what rules ignore", "grep", `{"pattern": "needle", "include_ignored": true}`, func() { write("out/c.txt", "needle\nneedle\n") }, "4 matches in 3", false},
		{"an ignored file by name", "grep", `{"pattern": "needle", "path": "out/c.txt"}`, func() { write("out/c.txt", "needle\n") }, "1 match", false},
		{"an ignored directory", "glob", `{"pattern": ["*.txt"], "path": "out"}`, func() { write("out/d.txt", "") }, "2 files", false},
		{"of another principal", "grep", `{"pattern": "hay"}`, nil, "0 matches", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			second := "me"
			if tt.change == nil {
				second, tt.change = "another", func() {}
			}
			call("me", tt.tool, tt.args)
			tt.change()
			text, meta := call(second, tt.tool, tt.args)
			if _, kept := meta["toolcrib/cached_age"]; kept != tt.kept || !strings.Contains(text, tt.want) {
				t.Errorf("kept: %t, want %t; the answer is %q, want %q in it", kept, tt.kept, text, tt.want)
			}
		})
	}
}
