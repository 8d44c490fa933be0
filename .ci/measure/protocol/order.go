package protocol

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"sync"

	"toolcrib/.ci/measure/harness"
)

// Order makes 10,000 calls with progress in each era, 64 in flight, and counts
// notifications that were lost or came after the answer.
func Order(ctx context.Context, env harness.Environment) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	n := env.Of(10_000, 200)
	fmt.Println("| progress, 5 events a call | calls | events | lost | after the answer |\n|---|---|---|---|---|")
	for _, era := range []string{"2025-06-18", "2026-07-28"} {
		seen := newTally(n)
		c, err := harness.Dial(ctx, seen.see, self, "serve", "progress")
		if err != nil {
			return err
		}
		if era == "2025-06-18" {
			if err := c.Initialize(); err != nil {
				return err
			}
		}
		err = flood(n, func(id int) error {
			meta := map[string]any{"progressToken": id}
			if era == "2026-07-28" {
				meta = harness.Modern(meta)
			}
			_, err := c.Call(id+1, "tools/call", map[string]any{"name": "count_up", "arguments": map[string]any{"steps": 5, "call": id}, "_meta": meta})
			return err
		})
		if err != nil {
			return err
		}
		if err := c.Close(); err != nil {
			return err
		}
		lost := n*5 - seen.events
		fmt.Printf("| %s | %d | %d | %d | %d |\n", era, n, seen.events, lost, seen.late)
		if lost != 0 || seen.late != 0 || seen.unordered != 0 {
			return fmt.Errorf("%s: %d lost, %d late, %d out of order", era, lost, seen.late, seen.unordered)
		}
	}
	return nil
}

// tally counts the progress of each call.
type tally struct {
	mu                      sync.Mutex
	last                    []float64
	closed                  []bool
	events, late, unordered int
}

func newTally(n int) *tally { return &tally{last: make([]float64, n), closed: make([]bool, n)} }

// see takes each message in the order of the lines; the answer to call id+1
// closes id.
func (t *tally) see(m harness.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if m.Method == "" {
		if id, err := strconv.Atoi(string(m.ID)); err == nil && id >= 1 && id <= len(t.closed) {
			t.closed[id-1] = true
		}
		return
	}
	if m.Method != "notifications/progress" {
		return
	}
	var p struct {
		Token    int     `json:"progressToken"`
		Progress float64 `json:"progress"`
	}
	if json.Unmarshal(m.Params, &p) != nil || p.Token >= len(t.last) {
		t.unordered++
		return
	}
	t.events++
	if t.closed[p.Token] {
		t.late++
	}
	if p.Progress <= t.last[p.Token] {
		t.unordered++
	}
	t.last[p.Token] = p.Progress
}
