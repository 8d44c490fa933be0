package tooltest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// escapes tries every vector in every path argument of the tool, in the same tree each time.
func escapes(t *testing.T, tool tools.Tool, c tools.Call) {
	in, err := tool.Input()
	must(t, err)
	ws, dir := Tree(t, nil)
	surround(t, dir)
	e := escape{t: t, tool: tool, call: c, ws: ws, dir: dir}
	e.plant()
	for _, field := range in.PathFields() {
		t.Logf("%s%s: vectors: %d", tool.Name, field.Pointer, len(e.vectors))
		for i := range e.vectors {
			if e.changed {
				e.plant()
			}
			v := e.vectors[i]
			for _, problem := range e.try(field.Pointer, v) {
				t.Errorf("%s, %s = %q: %s", v.name, field.Pointer, clip(v.path), problem)
			}
		}
	}
	t.Logf("%s: slowest of the vectors: %v", tool.Name, e.slowest)
}

type escape struct {
	t       *testing.T
	tool    tools.Tool
	call    tools.Call
	ws      *workspace.Workspace
	dir     string
	vectors []vector
	changed bool // the tree is no longer the one that was planted
	slowest time.Duration
}

// plant makes the workspace anew.
func (e *escape) plant() {
	entries, err := os.ReadDir(e.dir)
	must(e.t, err)
	for _, entry := range entries {
		must(e.t, os.RemoveAll(filepath.Join(e.dir, entry.Name())))
	}
	fill(e.t, e.dir, e.call.Files)
	before(e.t, e.ws, e.call)
	e.vectors, e.changed = plant(e.t, e.dir), false
}

// try makes the call with one vector and returns the faults of its outcome.
func (e *escape) try(pointer string, v vector) (problems []string) {
	inside, outside := snapshot(e.t, e.dir), snapshot(e.t, filepath.Dir(e.dir), e.dir)
	fail := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	start := time.Now()
	args := set(e.t, e.call.Args, pointer, v.path)
	result, err := Call(e.t.Context(), e.ws, e.tool, args)
	took, reads := time.Since(start), reads(e.t.Context(), e.tool, args)
	e.slowest = max(e.slowest, took)
	if took > refusedWithin*Slowdown && (err != nil || reads) {
		fail("took %v", took)
	}
	said := Text(result) + string(result.Structured)
	if err != nil {
		said += err.Error() + tools.AsError(err).Error()
	}
	if what := leak(said, result.Structured); what != "" {
		fail("shows %s of files outside: %s", what, clip(said))
	}
	if err != nil && tools.AsError(err).Code == tools.Internal {
		fail("no clear refusal: %v", err)
	}
	// A list of paths is answered path by path; a single one is refused.
	if err == nil && !strings.Contains(pointer, "*") && (!v.entry || reads) {
		fail("not refused: %s", clip(said))
	}
	if now := snapshot(e.t, filepath.Dir(e.dir), e.dir); now != outside {
		fail("the tree outside the roots changed:\nbefore\n%s\nafter\n%s", outside, now)
	}
	now := snapshot(e.t, e.dir)
	if e.changed = now != inside; e.changed && (err != nil || reads) {
		fail("refused, and yet the tree changed:\nbefore\n%s\nafter\n%s", inside, now)
	}
	return problems
}

// reads reports whether a call only reads.
func reads(ctx context.Context, tool tools.Tool, args json.RawMessage) bool {
	if tool.Least == tool.Access {
		return tool.Access == tools.Read
	}
	bound, err := tool.Bind(args)
	if err != nil {
		return true // it is not made
	}
	plan, err := tool.Plan(ctx, bound)
	return err != nil || plan.Access == tools.Read
}

// leak names the facts about files outside that a result or an error shows, "" if none.
func leak(said string, structured json.RawMessage) string {
	sum := sha256.Sum256([]byte(sentinel))
	var doc any
	switch {
	case strings.Contains(said, sentinel):
		return "the content or a name"
	case strings.Contains(said, "root:x:0"):
		return "the users"
	case strings.Contains(said, hex.EncodeToString(sum[:])[:workspace.HashDigits]):
		return "the hash"
	case json.Unmarshal(structured, &doc) == nil && describes(doc):
		return "the size"
	}
	return ""
}

// describes reports whether an object in the data says that a path exists with the size of
// the sentinel.
func describes(data any) bool {
	switch v := data.(type) {
	case []any:
		return slices.ContainsFunc(v, describes)
	case map[string]any:
		return v["exists"] == true && v["size"] == float64(len(sentinel)) ||
			slices.ContainsFunc(slices.Collect(maps.Values(v)), describes)
	}
	return false
}

// set returns args with the value at a pointer replaced; "*" in the pointer
// makes a list of one.
func set(t *testing.T, args json.RawMessage, pointer, value string) json.RawMessage {
	t.Helper()
	var doc any
	must(t, json.Unmarshal(args, &doc))
	doc = put(doc, strings.Split(strings.TrimPrefix(pointer, "/"), "/"), value)
	out, err := json.Marshal(doc)
	must(t, err)
	return out
}

func put(doc any, keys []string, value string) any {
	if len(keys) == 0 {
		return value
	}
	if keys[0] == "*" {
		var first any
		if list, ok := doc.([]any); ok && len(list) > 0 {
			first = list[0]
		}
		return []any{put(first, keys[1:], value)}
	}
	m, ok := doc.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	m[keys[0]] = put(m[keys[0]], keys[1:], value)
	return m
}

func clip(s string) string {
	if len(s) > 120 {
		s = s[:120] + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

func itoa(i int) string { return strconv.Itoa(i) }
