package files_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/files"
	"toolcrib/tools/files/internal/view"
	"toolcrib/tools/internal/tooltest"
)

// Callers that edit and append at once lose nothing, though none expects a hash.
func TestWritersConcurrently(t *testing.T) {
	const workers, rounds = 4, 15
	d := files.Deps{Seen: view.NewSeen(1 << 20)}
	var text strings.Builder
	for i := range workers {
		fmt.Fprintf(&text, "counter %d: 0\n", i)
	}
	edit := newWriter(t, d, "edit_file", map[string]string{"f": text.String()})
	add := edit
	add.tool = newWriter(t, d, "write_file", nil).tool
	do := func(c caller, args map[string]any) {
		raw, err := json.Marshal(args)
		if err == nil {
			_, err = tooltest.Call(t.Context(), c.ws, c.tool, raw)
		}
		if err != nil {
			t.Errorf("%v: %s", args, tools.AsError(err))
		}
	}
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for n := range rounds {
				do(edit, map[string]any{"path": "f", "edits": one(fmt.Sprintf("counter %d: %d\n", i, n), fmt.Sprintf("counter %d: %d\n", i, n+1))})
				do(add, map[string]any{"path": "f", "mode": "append", "content": fmt.Sprintf("%d-%d\n", i, n)})
			}
		})
	}
	wg.Wait()
	got := edit.content("f")
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
