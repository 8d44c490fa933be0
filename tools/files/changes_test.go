package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// bench calls the tools in one workspace.
type bench struct {
	testing.TB
	ws  *workspace.Workspace
	dir string
}

func newBench(t testing.TB, tree map[string]string) bench {
	t.Helper()
	ws, dir := tooltest.Tree(t, tree)
	return bench{t, ws, dir}
}

func (b bench) tool(name string) tools.Tool {
	b.Helper()
	for _, tool := range files.Tools(files.Deps{}) {
		if tool.Name == name {
			return tool
		}
	}
	b.Fatalf("no tool is called %q", name)
	return tools.Tool{}
}

// args are the arguments of a call; values alternate with names.
type args map[string]any

func (a args) json() json.RawMessage {
	raw, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	return raw
}

// call makes a call and returns its text, or "error: " and the error.
func (b bench) call(tool string, a args) string {
	b.Helper()
	return b.as(tools.Local, tool, a)
}

// as calls for a principal.
func (b bench) as(principal, name string, a args) string {
	b.Helper()
	return b.run(principal, b.tool(name), a)
}

func (b bench) run(principal string, tool tools.Tool, a args) string {
	b.Helper()
	ctx := tools.WithSession(b.Context(), &tools.SessionInfo{Principal: principal, Workspace: b.ws})
	bound, err := tool.Bind(a.json())
	if err != nil {
		b.Fatal(err)
	}
	out, err := tool.Run(ctx, bound)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	result, err := tool.Render(out)
	if err != nil {
		b.Fatal(err)
	}
	return tooltest.Text(result)
}

// question returns what the user is asked before a call.
func (b bench) question(name string, a args) string {
	b.Helper()
	ctx := tools.WithSession(b.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: b.ws})
	tool := b.tool(name)
	bound, err := tool.Bind(a.json())
	if err != nil {
		b.Fatal(err)
	}
	q, err := tool.Question(ctx, bound)
	if err != nil {
		return "error: " + tools.AsError(err).Error()
	}
	return q.Message
}

// want checks a text as the examples of tools do.
func (b bench) want(want, got string) {
	b.Helper()
	if diff := tooltest.Match(want, got); diff != "" {
		b.Error(diff)
	}
}

// tree checks the files of the workspace.
func (b bench) tree(want map[string]string) {
	b.Helper()
	if diff := tooltest.Differ(want, tooltest.Contents(b, b.dir)); diff != "" {
		b.Errorf("the tree:\n%s", diff)
	}
}

// change carries out operations in the name of a tool and returns its ID.
func (b bench) change(tool string, ops ...workspace.Op) string {
	b.Helper()
	receipt, err := b.ws.Apply(context.WithoutCancel(b.Context()), workspace.Change{Tool: tool, Principal: tools.Local, Ops: ops})
	if err != nil {
		b.Fatal(err)
	}
	if receipt.ID == "" {
		b.Fatalf("no history is kept: %s", receipt.NotKept)
	}
	return receipt.ID
}

func (b bench) path(name string) workspace.Path {
	b.Helper()
	p, err := b.ws.Resolve(name)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// write is an operation that gives a file a content.
func (b bench) write(name, content string) workspace.Op {
	b.Helper()
	return workspace.Op{
		Kind: workspace.OpWrite, Path: b.path(name),
		New: func(workspace.Old) ([]byte, error) { return []byte(content), nil },
	}
}

func (b bench) remove(name string) workspace.Op {
	b.Helper()
	return workspace.Op{Kind: workspace.OpDelete, Path: b.path(name), Recursive: true}
}

// host changes a file as another program would.
func (b bench) host(name, content string) {
	b.Helper()
	host := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
		b.Fatal(err)
	}
}

var changeOf = regexp.MustCompile(`; change ([0-9a-z]{10,})`)

// id takes the ID of a change out of a result.
func (b bench) id(text string) string {
	b.Helper()
	m := changeOf.FindStringSubmatch(text)
	if m == nil {
		b.Fatalf("no change is named: %s", text)
	}
	return m[1]
}

// many is a tree of n small files below a directory.
func many(dir string, n int) map[string]string {
	tree := map[string]string{}
	for i := range n {
		tree[fmt.Sprintf("%s/%d/%d.txt", dir, i%7, i)] = strings.Repeat("x", i%3) + "\n"
	}
	return tree
}
