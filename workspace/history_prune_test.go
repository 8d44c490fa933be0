package workspace_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/workspace"
)

// TestPrune holds to the bounds whatever was kept: what is left is the newest, all
// of it can be read, and it is no less than the bound allows but for a tenth.
func TestPrune(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		bound := int64(5_000 + rnd.IntN(100_000))
		tr := newTree(t)
		_, h := stored(t, tr, workspace.Options{History: workspace.HistoryBounds{Bytes: bound}})
		var ids []string
		largest := 0
		for range 10 + rnd.IntN(100) {
			size := 500 * rnd.IntN(8) // some contents are the same
			largest = max(largest, size+300)
			content := strings.Repeat(fmt.Sprint(rnd.IntN(9)), size)
			ids = append(ids, record(t, h, "f", content).ID)
		}
		before := sizeOf(t, h)
		if err := h.Prune(t.Context(), -time.Hour); err != nil {
			t.Fatal(err)
		}
		records, contents, err := h.Whole(t.Context())
		if err != nil || contents != len(records) {
			t.Fatalf("seed %d: %d records, %d contents, %v", seed, len(records), contents, err)
		}
		after := sizeOf(t, h)
		if after > bound+1 { // the file "pruned" has a byte
			t.Errorf("seed %d: %d bytes of %d, there were %d", seed, after, bound, before)
		}
		if before <= bound && len(records) != len(ids) {
			t.Errorf("seed %d: %d of %d changes are left within the bound", seed, len(records), len(ids))
		}
		if before > bound && after < bound/10*9-int64(largest) {
			t.Errorf("seed %d: only %d bytes are left of %d", seed, after, bound)
		}
		for i, rec := range records {
			if rec.ID != ids[len(ids)-1-i] {
				t.Fatalf("seed %d: record %d is not the newest but %d", seed, i, i)
			}
		}
	}
}

func TestPruneAge(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{History: workspace.HistoryBounds{Age: time.Hour}})
	old := keep(t, h, "old")
	both := keep(t, h, "both")
	for _, at := range []time.Duration{-3 * time.Hour, -2 * time.Hour} {
		rec := workspace.Record{ID: workspace.NewID(), Time: time.Now().Add(at), Files: []workspace.Changed{
			{Path: "f", Before: old, After: both},
		}}
		if err := h.Append(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	young := appendRecord(t, h, workspace.Changed{Path: "f", Before: both})
	if err := h.Prune(t.Context(), workspace.Youth); err != nil {
		t.Fatal(err)
	}
	records, _, err := h.Whole(t.Context())
	if err != nil || len(records) != 1 || records[0].ID != young.ID {
		t.Errorf("left: %v, %v", records, err)
	}
	// A change under way may be about to name it.
	if _, err := kept(w, old.Hash); err != nil {
		t.Errorf("a young content is gone: %v", err)
	}
	if err := h.Prune(t.Context(), -time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := kept(w, old.Hash); ruleOf(t, err) != workspace.RuleNotFound {
		t.Errorf("an old content that nothing names: %v", err)
	}
	if got, err := kept(w, both.Hash); got != "both" || err != nil {
		t.Errorf("a content that is named: %q, %v", got, err)
	}
	// The log that was replaced is appended to.
	last := record(t, h, "f", "x")
	if ok, err := h.Has(last.ID); !ok || err != nil {
		t.Errorf("appended after pruning: %t, %v", ok, err)
	}
}

// TestPruneTogether has two prune all the time while changes go on: none is lost
// but the oldest.
func TestPruneTogether(t *testing.T) {
	tr := newTree(t)
	opt := workspace.Options{History: workspace.HistoryBounds{Bytes: 20_000}}
	_, h := stored(t, tr, opt)
	stop, cancel := context.WithCancel(t.Context())
	var pruners sync.WaitGroup
	for range 2 {
		_, other := stored(t, tr, opt)
		pruners.Go(func() {
			for stop.Err() == nil {
				if err := other.Prune(stop, workspace.Youth); err != nil && stop.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var ids []string
	for n := range 3000 {
		ids = append(ids, appendRecord(t, h, workspace.Changed{Kind: workspace.OpDelete, Path: "f"}).ID)
		if n%50 != 49 {
			continue
		}
		records, _, err := h.Whole(t.Context())
		if err != nil || len(records) < 50 {
			t.Fatalf("after %d changes there are %d, %v", n, len(records), err)
		}
		for i, rec := range records {
			if want := ids[n-i]; rec.ID != want {
				t.Fatalf("record %d from the end is %s, want %s", i, rec.ID, want)
			}
		}
	}
	cancel()
	pruners.Wait()
}

// TestPruneByItself goes on until a process has pruned in the background.
func TestPruneByItself(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{History: workspace.HistoryBounds{Bytes: 20_000}})
	var records []workspace.Record
	const rounds = 20
	for n := 1; ; n++ {
		for range workspace.PruneChanges {
			record(t, h, "f", "x")
		}
		var err error
		if records, _, err = h.Whole(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(records) < n*workspace.PruneChanges {
			break
		}
		if n == rounds {
			t.Fatalf("%d changes are left", len(records))
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
