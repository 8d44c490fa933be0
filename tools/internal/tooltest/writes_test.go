package tooltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
)

// writer makes a tool of a function that changes what a path names; root is the
// directory of the workspace.
func writer(t *testing.T, access tools.Access, run func(root, path string, dryRun bool) error) tools.Tool {
	t.Helper()
	effects := tools.None
	if access == tools.Write {
		effects = tools.Workspace
	}
	tool, err := tools.Dynamic(tools.DynamicDef{
		Name: "writer", Title: "Writer", Category: "files", Doc: "Writes.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"Path."},"dry_run":{"type":"boolean","description":"Dry."}},"additionalProperties":false}`),
		Access: access, Effects: effects,
		Run: func(ctx context.Context, raw json.RawMessage) (tools.Result, error) {
			var in struct {
				Path   string `json:"path"`
				DryRun bool   `json:"dry_run"`
			}
			if err := json.Unmarshal(raw, &in); err != nil {
				return tools.Result{}, err
			}
			return tools.Result{}, run(tools.Session(ctx).Workspace.Roots()[0], in.Path, in.DryRun)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

// The check of escapes must tell a tool that changes nothing wrong from those that
// do.
func TestTry(t *testing.T) {
	refused := tools.Errorf(tools.Denied, "no")
	write := func(name string) error { return os.WriteFile(name, []byte("x"), 0o644) }
	for _, c := range []struct {
		name, path string
		entry      bool
		access     tools.Access
		run        func(root, path string, dryRun bool) error
		want       string // a part of the one problem, "" = none
	}{
		{"refuses", "../out/secret", false, tools.Write, func(string, string, bool) error { return refused }, ""},
		{"takes it", "../out/secret", false, tools.Write, func(string, string, bool) error { return nil }, "not refused"},
		{"takes an entry", "rel_out", true, tools.Write, func(root, path string, _ bool) error { return os.Remove(filepath.Join(root, path)) }, ""},
		{"reads an entry", "rel_out", true, tools.Read, func(string, string, bool) error { return nil }, "not refused"},
		{"follows a link out", "rel_out", true, tools.Write, func(root, path string, _ bool) error { return write(filepath.Join(root, path)) }, "outside the roots changed"},
		{"changes permissions outside", "rel_out", true, tools.Write, func(root, path string, _ bool) error { return os.Chmod(filepath.Join(root, path), 0o600) }, "outside the roots changed"},
		{"makes a file outside", "../made", false, tools.Write, func(root, path string, _ bool) error {
			return errors.Join(write(filepath.Join(root, path)), refused)
		}, "outside the roots changed"},
		{"leaves a half", "dir_out/x", false, tools.Write, func(root, _ string, _ bool) error {
			return errors.Join(write(filepath.Join(root, "half")), refused)
		}, "refused, and yet the tree changed"},
		{"crashes", "../x", false, tools.Write, func(string, string, bool) error { return errors.New("?") }, "no clear refusal"},
		{"tells a secret", "../out/secret", false, tools.Write, func(string, string, bool) error {
			return tools.Errorf(tools.Denied, "no: %s", tooltest.Sentinel)
		}, "shows the content"},
	} {
		problems := tooltest.Try(t, writer(t, c.access, c.run), c.path, c.entry)
		if ok := len(problems) == 0; ok != (c.want == "") || !ok && (len(problems) > 1 || !strings.Contains(problems[0], c.want)) {
			t.Errorf("%s: %q, want %q", c.name, problems, c.want)
		}
	}
}

func TestRanDry(t *testing.T) {
	for _, c := range []struct {
		name string
		run  func(root, path string, dryRun bool) error
		ok   bool
	}{
		{"heeds it", func(root, path string, dryRun bool) error {
			if dryRun {
				return nil
			}
			return os.Remove(filepath.Join(root, path))
		}, true},
		{"ignores it", func(root, path string, _ bool) error { return os.Remove(filepath.Join(root, path)) }, false},
		{"fails", func(_, _ string, dryRun bool) error { return tools.Errorf(tools.Unsupported, "no dry run") }, false},
	} {
		err := tooltest.RanDry(t, writer(t, tools.Write, c.run), tools.Call{Files: map[string]string{"a": "x"}, Args: json.RawMessage(`{"path":"a"}`)})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestContents(t *testing.T) {
	tree := map[string]string{"a": "x", "d/b": "y\n", "e/": "", "f/g/": "", "l": "-> nowhere"}
	_, dir := tooltest.Tree(t, tree)
	if diff := tooltest.Differ(tree, tooltest.Contents(t, dir)); diff != "" {
		t.Error(diff)
	}
	want := "a: not wanted, \"x\"\nd/b: \"y\\n\", want \"z\"\nnew: missing\n"
	if diff := tooltest.Differ(map[string]string{"d/b": "z", "e/": "", "f/g/": "", "l": "-> nowhere", "new": ""}, tooltest.Contents(t, dir)); diff != want {
		t.Errorf("got %q, want %q", diff, want)
	}
}
