package catalog_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"toolcrib/tools"
	"toolcrib/tools/catalog"
	"toolcrib/tools/internal/tooltest"
)

// TestCalls runs testdata/calls/<category>/*.txtar. Each file is a tree
// (tree/PATH), calls ({"tool":..., "args":...}) each followed by the wanted
// text or error. Where there is a section after/PATH, the whole tree afterwards is
// that of these sections: a PATH that ends in "/" is an empty directory, the
// section "after/" alone an empty tree. In a wanted text "…" matches any text in a line, a line "..." any lines.
func TestCalls(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/calls/*/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no calls in testdata/calls")
	}
	for _, file := range files {
		name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) { runCalls(t, file) })
	}
}

func runCalls(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(data)
	tree, after := map[string]string{}, map[string]string{}
	for _, f := range archive.Files {
		if name, ok := strings.CutPrefix(f.Name, "tree/"); ok {
			tree[name] = string(f.Data)
		} else if name, ok := strings.CutPrefix(f.Name, "after/"); ok {
			after[name] = string(f.Data)
			if strings.HasPrefix(after[name], "-> ") {
				after[name] = strings.TrimRight(after[name], "\n")
			}
		}
	}
	ws, dir := tooltest.Tree(t, tree)
	var got string
	changed := false
	for i, f := range archive.Files {
		switch f.Name {
		case "call":
			got = call(t, f.Data, func(tool tools.Tool, args json.RawMessage) (tools.Result, error) {
				return tooltest.Call(t.Context(), ws, tool, args)
			})
		case "want":
			diff := tooltest.Match(string(f.Data), got)
			switch {
			case diff == "":
			case *update:
				archive.Files[i].Data, changed = []byte(strings.TrimRight(got, "\n")+"\n"), true
			default:
				t.Errorf("%s\nto accept: go test ./tools/catalog -update", diff)
			}
		}
	}
	if changed {
		if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(after) == 0 {
		return
	}
	delete(after, "")
	if diff := tooltest.Differ(after, tooltest.Contents(t, dir)); diff != "" {
		t.Errorf("the tree afterwards:\n%s", diff)
	}
}

func call(t *testing.T, spec []byte, do func(tools.Tool, json.RawMessage) (tools.Result, error)) string {
	t.Helper()
	var c struct {
		Tool string          `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	dec := json.NewDecoder(bytes.NewReader(spec))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		t.Fatalf("call: %v", err)
	}
	tool, ok := catalog.Find(all(), c.Tool)
	if !ok {
		t.Fatalf("no tool is called %q", c.Tool)
	}
	result, err := do(tool, c.Args)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	return tooltest.Text(result)
}
