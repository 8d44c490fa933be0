package tooltest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// cancelled calls the tool with a context that has ended before the start, and with one
// that ends in the middle of the work, in a large tree. A call that changes files must then
// have made all of its changes or none.
func cancelled(t *testing.T, tool tools.Tool, calls []tools.Call, large *workspace.Workspace, dir string) {
	small, smallDir := scene(t, calls[0])
	start := snapshot(t, smallDir)
	if err := cancelledBefore(t.Context(), small, tool, calls[0].Args); err != nil {
		t.Error(err)
	}
	if now := snapshot(t, smallDir); now != start {
		t.Errorf("a call cancelled before the start changed the tree:\nbefore\n%s\nafter\n%s", start, now)
	}
	whole, wholeDir, half, halfDir := large, dir, large, dir
	if tool.Access != tools.Read { // a call changes its tree
		const few = 8
		whole, wholeDir = bigTree(t, calls, few)
		half, halfDir = bigTree(t, calls, few)
	}
	before(t, whole, calls[0])
	before(t, half, calls[0])
	start = snapshot(t, halfDir)
	if err := cancelledAmid(t.Context(), whole, half, tool, calls[0].Args); err != nil {
		t.Error(err)
	}
	if now := snapshot(t, halfDir); now != start && now != snapshot(t, wholeDir) {
		t.Errorf("a call cancelled in the middle left neither the old tree nor the new one:\n%s", Differ(Contents(t, wholeDir), Contents(t, halfDir)))
	}
}

func cancelledBefore(ctx context.Context, ws *workspace.Workspace, tool tools.Tool, args json.RawMessage) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	start := time.Now()
	_, err := Call(ctx, ws, tool, args)
	return judgeCancelled(err, time.Since(start), "before the start")
}

// cancelledAmid counts how often a whole call asks its context whether it has ended, and
// cancels another call, in an equal tree, at half of that.
func cancelledAmid(ctx context.Context, first, second *workspace.Workspace, tool tools.Tool, args json.RawMessage) error {
	whole := newCountdown(ctx, 0)
	defer whole.cancel()
	_, err := Call(whole, first, tool, args) // an error is an answer too
	whole.mu.Lock()
	asked := whole.asked
	whole.mu.Unlock()
	if asked == 0 {
		return fmt.Errorf("a call never asks whether it is cancelled; it ends with %v", err)
	}
	half := newCountdown(ctx, (asked+1)/2)
	defer half.cancel()
	_, err = Call(half, second, tool, args)
	took := half.since()
	if half.Context.Err() == nil {
		return nil // this time the work took fewer steps
	}
	return judgeCancelled(err, took, "in the middle")
}

func judgeCancelled(err error, took time.Duration, when string) error {
	switch {
	case err == nil:
		return fmt.Errorf("a call cancelled %s ended without an error", when)
	case tools.AsError(err).Code != tools.Cancelled:
		return fmt.Errorf("a call cancelled %s ended with %w", when, err)
	case took > cancelledWithin*Slowdown:
		return fmt.Errorf("a call cancelled %s took %v more", when, took)
	}
	return nil
}

// countdown is a context that is cancelled after a number of calls of Err and Done. It
// makes "in the middle" independent of time.
type countdown struct {
	context.Context
	cancel context.CancelFunc
	limit  int // 0 = never

	mu    sync.Mutex
	asked int
	at    time.Time
}

func newCountdown(ctx context.Context, limit int) *countdown {
	c := &countdown{limit: limit}
	c.Context, c.cancel = context.WithCancel(ctx)
	return c
}

func (c *countdown) ask() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked++; c.asked == c.limit {
		c.at = time.Now()
		c.cancel()
	}
}

func (c *countdown) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.at)
}

// Err is called between the steps of the work.
func (c *countdown) Err() error {
	c.ask()
	return c.Context.Err()
}

// Done is called where the work waits.
func (c *countdown) Done() <-chan struct{} {
	c.ask()
	return c.Context.Done()
}
