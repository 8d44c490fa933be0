package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
	return tool(b, name, files.Deps{})
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
	return b.changeAs(tools.Local, tool, ops...)
}

// changeAs is change for a principal.
func (b bench) changeAs(principal, tool string, ops ...workspace.Op) string {
	b.Helper()
	receipt, err := b.ws.Apply(context.WithoutCancel(b.Context()), workspace.Change{Tool: tool, Principal: principal, Ops: ops})
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

// move is an operation that moves an entry, over another if there is one.
func (b bench) move(from, to string) workspace.Op {
	b.Helper()
	return workspace.Op{Kind: workspace.OpMove, From: b.path(from), Path: b.path(to), Overwrite: true}
}

// duplicate is an operation that copies an entry, over another if there is one.
func (b bench) duplicate(from, to string) workspace.Op {
	b.Helper()
	return workspace.Op{Kind: workspace.OpCopy, From: b.path(from), Path: b.path(to), Overwrite: true}
}

// directory is an operation that makes a directory.
func (b bench) directory(name string) workspace.Op {
	b.Helper()
	return workspace.Op{Kind: workspace.OpDirectory, Path: b.path(name)}
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

// many is a tree of n small files below a directory.
func many(dir string, n int) map[string]string {
	tree := map[string]string{}
	for i := range n {
		tree[fmt.Sprintf("%s/%d/%d.txt", dir, i%7, i)] = strings.Repeat("x", i%3) + "\n"
	}
	return tree
}

// historyCut is the text of results about a history that cutHistory has cut.
const historyCut = "changes are missing: the log of the history was found cut or removed at …Z, with those made after …Z"

// cutHistory changes a.txt twice and cuts the second change off the log of the history.
func (b bench) cutHistory() {
	b.Helper()
	b.change("write_file", b.write("a.txt", "b\n"))
	b.change("write_file", b.write("a.txt", "c\n"))
	logs, err := filepath.Glob(filepath.Join(b.ws.StateBase(), "*", "history.d", "log"))
	if err != nil || len(logs) != 1 {
		b.Fatalf("logs %q, %v", logs, err)
	}
	text, err := os.ReadFile(logs[0])
	if err == nil {
		err = os.WriteFile(logs[0], text[:bytes.IndexByte(text, '\n')+1], 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// stateless opens the workspace without state, so that no history is kept.
func (b bench) stateless() *workspace.Workspace {
	b.Helper()
	ws, err := workspace.Open([]string{b.dir}, workspace.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = ws.Close() })
	return ws
}

// loss is a call with the questions before it: if a history is kept, which does not take
// big.log, and if none is.
type loss struct {
	args          args
	kept, without string
}

const (
	lostLarge   = "big.log (67 MB); the history does not keep files above 67 MB, so it cannot be undone"
	lostWithout = "; no history is kept, so it cannot be undone"
)

// losing makes a tree with big.log, and checks the questions that a tool asks there before
// what the history does not keep goes.
func losing(t *testing.T, tool string, list []loss) bench {
	t.Helper()
	b := newBench(t, map[string]string{"a.txt": "a\n", "link": "-> a.txt", "empty/": "", "d/x": "1\n"})
	large(t, b.dir, workspace.MaxKept+1) // big.log
	without := b
	without.ws = b.stateless()
	for _, l := range list {
		b.want(l.kept, b.question(tool, l.args))
		b.want(l.without, without.question(tool, l.args))
	}
	return b
}
