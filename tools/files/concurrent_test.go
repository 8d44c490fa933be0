package files_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/workspace"
)

// concurrently lets callers edit the file f and append to it at once, and checks that nothing
// is lost. A tool edits or appends: the other is nil, and is done by the workspace.
func concurrently(t *testing.T, tool string, edit, add func(old, text string) args) {
	t.Helper()
	const workers, rounds = 4, 15
	var text strings.Builder
	for i := range workers {
		fmt.Fprintf(&text, "counter %d: 0\n", i)
	}
	b := newBench(t, map[string]string{"f": text.String()})
	used, path := b.tool(tool), b.path("f")
	do := func(a func(old, text string) args, op workspace.Op, old, text string) {
		var err error
		if a != nil {
			_, err = tooltest.Call(t.Context(), b.ws, used, a(old, text).json())
		} else {
			_, err = b.ws.Apply(t.Context(), workspace.Change{Tool: "bash", Principal: tools.Local, Ops: []workspace.Op{op}})
		}
		if err != nil {
			t.Errorf("%q: %s", text, tools.AsError(err))
		}
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for n := range rounds {
				old, now, line := fmt.Sprintf("counter %d: %d\n", i, n), fmt.Sprintf("counter %d: %d\n", i, n+1), fmt.Sprintf("%d-%d\n", i, n)
				do(edit, workspace.Op{Kind: workspace.OpWrite, Path: path, New: func(file workspace.Old) ([]byte, error) {
					return bytes.Replace(file.Data, []byte(old), []byte(now), 1), nil
				}}, old, now)
				do(add, workspace.Op{Kind: workspace.OpAppend, Path: path, Data: []byte(line)}, "", line)
			}
		})
	}
	wg.Wait()
	got := tooltest.Contents(t, b.dir)["f"]
	for i := range workers {
		if line := fmt.Sprintf("counter %d: %d\n", i, rounds); !strings.Contains(got, line) {
			t.Errorf("there is no line %q", line)
		}
		for n := range rounds {
			if line := fmt.Sprintf("\n%d-%d\n", i, n); strings.Count(got, line) != 1 {
				t.Errorf("%q is there %d times", line, strings.Count(got, line))
			}
		}
	}
	if n := strings.Count(got, "\n"); n != workers+workers*rounds {
		t.Errorf("%d lines:\n%s", n, got)
	}
}
