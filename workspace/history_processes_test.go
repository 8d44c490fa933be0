package workspace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"toolcrib/workspace"
)

// In these tests the bound is small, so that pruning has work all the time.
const (
	historyBytes = 1 << 20
	historyYouth = 3 * time.Second
	pruneEvery   = 30 // changes of a process
)

// keepChange keeps one content out of a few and appends a record that names it.
func keepChange(ctx context.Context, h workspace.TestHistory) (id string, err error) {
	size := 100 + rand.IntN(8000)
	if rand.IntN(50) == 0 {
		size = 1<<20 + 1 // goes by way of a file
	}
	content := bytes.Repeat([]byte{byte(rand.IntN(4))}, size/100*100)
	hash, n, err := h.Keep(ctx, bytes.NewReader(content), 1<<21)
	if err != nil {
		return "", fmt.Errorf("keep: %w", err)
	}
	rec := workspace.Record{ID: workspace.NewID(), Time: time.Now(), Files: []workspace.Changed{{
		Kind: workspace.OpWrite, Path: "f",
		Before: &workspace.Version{Kind: workspace.KindFile, Size: n, Hash: hash, Kept: true},
	}}}
	if err := h.Append(ctx, rec); err != nil {
		return "", fmt.Errorf("append: %w", err)
	}
	return rec.ID, nil
}

// keepForever prints the ID of each change once it has happened.
func keepForever(base, root string) error {
	_, h, err := openHistory(base, root)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		id, err := keepChange(context.Background(), h)
		if err != nil {
			return err
		}
		fmt.Println(id)
		if n%pruneEvery == 0 {
			if err := h.Prune(context.Background(), historyYouth); err != nil {
				return fmt.Errorf("prune: %w", err)
			}
		}
	}
}

func keepSome(base, root string, n int) error {
	w, h, err := openHistory(base, root)
	if err != nil {
		return err
	}
	for range n {
		id, err := keepChange(context.Background(), h)
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
	return w.Close()
}

// TestHistoryOfProcesses has two processes keep and append while a third prunes
// nothing away but contents that no record names.
func TestHistoryOfProcesses(t *testing.T) {
	tr := newTree(t)
	base, root := tr.path("state"), tr.path("ws")
	var prints []*printed
	var wg sync.WaitGroup
	for range 2 {
		cmd := process(t, "keep some", base, root)
		out := collect(t, cmd)
		prints = append(prints, out)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			out.wait.Wait()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	w := tr.open(t, workspace.Options{StateBase: base}, "ws")
	h, err := workspace.HistoryOf(w)
	if err != nil {
		t.Fatal(err)
	}
	stop, cancel := context.WithCancel(t.Context())
	var pruning sync.WaitGroup
	pruning.Go(func() {
		for stop.Err() == nil {
			if err := h.Prune(stop, workspace.Youth); err != nil && stop.Err() == nil {
				t.Error(err)
				return
			}
		}
	})
	wg.Wait()
	cancel()
	pruning.Wait()
	var want []string
	for _, p := range prints {
		want = append(want, p.all()...)
	}
	records, contents, err := h.Whole(t.Context())
	if err != nil || len(records) != 600 || contents != 600 {
		t.Fatalf("%d records of 600, %d contents, %v", len(records), contents, err)
	}
	for _, id := range want {
		if ok, err := h.Has(id); !ok || err != nil {
			t.Errorf("the change %s is missing: %v", id, err)
		}
	}
}

// TestHistoryKilled kills processes while they keep, append and prune. The log
// stays readable, what was told to have happened is in it, and every content that
// it names is there.
func TestHistoryKilled(t *testing.T) {
	rounds := 50 // of two processes
	if testing.Short() {
		rounds = 5
	}
	tr := newTree(t)
	base, root := tr.path("state"), tr.path("ws")
	w, h, err := openHistory(base, root)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	seen, pruned := 0, false
	for round := range rounds {
		var cmds []*exec.Cmd
		var prints []*printed
		for range 2 {
			cmd := process(t, "keep", base, root)
			prints = append(prints, collect(t, cmd))
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
		}
		// Some are killed while they start, most while they change, some when they prune.
		switch round % 5 {
		case 0:
			time.Sleep(30 * time.Millisecond)
		case 4:
			prints[0].reach(pruneEvery)
		default:
			prints[0].reach(1)
			prints[1].reach(1)
		}
		time.Sleep(rand.N(100 * time.Millisecond))
		for _, cmd := range cmds {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal("it ended by itself: ", err)
			}
		}
		for i, cmd := range cmds {
			prints[i].wait.Wait()
			if err := cmd.Wait(); cmd.ProcessState.Exited() {
				t.Fatalf("it ended by itself: %v", err)
			}
		}
		records, contents, err := h.Whole(t.Context())
		if err != nil || len(records) != contents {
			t.Fatalf("after round %d: %d records, %d contents, %v", round, len(records), contents, err)
		}
		there := map[string]bool{}
		for _, rec := range records {
			there[rec.ID] = true
		}
		for _, p := range prints {
			ids := p.all()
			seen += len(ids)
			// Of each process the oldest changes are forgotten first.
			first := slices.IndexFunc(ids, func(id string) bool { return there[id] })
			if first > 0 || first < 0 && len(ids) > 0 {
				pruned = true
			}
			if first < 0 {
				continue
			}
			for _, id := range ids[first:] {
				if !there[id] {
					t.Fatalf("after round %d: the change %s is missing", round, id)
				}
			}
		}
	}
	if seen < rounds || !pruned {
		t.Errorf("%d changes in %d rounds, pruned %t", seen, rounds, pruned)
	}
	if err := h.Prune(t.Context(), -time.Hour); err != nil {
		t.Fatal(err)
	}
	if n := sizeOf(t, h); n > historyBytes {
		t.Errorf("%d bytes after pruning", n)
	}
	if left, err := os.ReadDir(filepath.Join(h.Folder(), "incoming")); len(left) > 0 || err != nil {
		t.Errorf("killed processes left %v, %v", left, err)
	}
	t.Logf("%d changes", seen)
}

// sizeOf returns the size of a history on disk in bytes.
func sizeOf(t *testing.T, h workspace.TestHistory) (total int64) {
	t.Helper()
	err := filepath.WalkDir(h.Folder(), func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		total += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}
