package workspace_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolcrib/workspace"
)

// TestHistoryGap cuts the log in all ways in which records can go, and in those in
// which a kill or a pruning leaves it.
func TestHistoryGap(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(log string, lines [][]byte) error
		left int  // of five changes; -1: none, and no time is known
		gap  bool // is told
	}{
		{"nothing", func(string, [][]byte) error { return nil }, 5, false},
		{"a torn line follows", func(log string, lines [][]byte) error {
			return os.WriteFile(log, append(bytes.Join(lines, nil), `{"id":"torn`...), 0o600)
		}, 5, false},
		{"a record that was not noted follows", func(log string, lines [][]byte) error {
			return os.WriteFile(log, append(bytes.Join(lines, nil), "{\"id\":\"another\",\"files\":[]}\n"...), 0o600)
		}, 5, false},
		{"cut between two records", func(log string, lines [][]byte) error {
			return os.WriteFile(log, bytes.Join(lines[:3], nil), 0o600)
		}, 3, true},
		{"cut inside of a record", func(log string, lines [][]byte) error {
			return os.WriteFile(log, append(bytes.Join(lines[:3], nil), lines[3][:20]...), 0o600)
		}, 3, true},
		{"emptied", func(log string, _ [][]byte) error { return os.WriteFile(log, nil, 0o600) }, -1, true},
		{"removed", func(log string, _ [][]byte) error { return os.Remove(log) }, -1, true},
		{"the first records are gone", func(log string, lines [][]byte) error {
			return os.WriteFile(log, bytes.Join(lines[2:], nil), 0o600)
		}, 5, true},
		{"the end was torn by a loss of power", func(log string, _ [][]byte) error {
			return os.WriteFile(filepath.Join(filepath.Dir(log), "end"), make([]byte, 256), 0o600)
		}, 5, false},
		{"the end is not known yet", func(log string, _ [][]byte) error {
			return os.Remove(filepath.Join(filepath.Dir(log), "end"))
		}, 5, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := newTree(t)
			w, h := stored(t, tr, workspace.Options{})
			if gap, err := w.Gap(t.Context()); gap != nil || err != nil {
				t.Fatalf("before the first change: %v, %v", gap, err)
			}
			var times []time.Time
			for range 5 {
				times = append(times, record(t, h, "f", "x").Time)
			}
			log := filepath.Join(h.Folder(), "log")
			text, err := os.ReadFile(log)
			check(t, errors.Join(err, tt.do(log, bytes.SplitAfter(text, []byte("\n")))))
			told := func(when string) {
				t.Helper()
				gap, err := w.Gap(t.Context())
				if err != nil || (gap != nil) != tt.gap {
					t.Fatalf("%s: told %v, %v; want %t", when, gap, err, tt.gap)
				}
				if gap == nil {
					return
				}
				want := time.Time{}
				if tt.left > 0 {
					want = times[tt.left-1]
				}
				if !gap.After.Equal(want) || time.Since(gap.Noticed) > time.Minute {
					t.Errorf("%s: told %v, want what came after %v", when, gap, want)
				}
			}
			told("at once")
			record(t, h, "f", "y")
			told("after the next change")
		})
	}
}

// TestHistoryGapByAppend: the next change notices a gap before it would close it.
func TestHistoryGapByAppend(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{})
	for range 5 {
		record(t, h, "f", "x")
	}
	check(t, os.Truncate(filepath.Join(h.Folder(), "log"), 0))
	for range 9 {
		record(t, h, "f", "y")
	}
	if gap, err := w.Gap(t.Context()); gap == nil || err != nil {
		t.Errorf("told %v, %v", gap, err)
	}
}

// TestHistoryGapAndPrune: pruning cuts the log too, and is none, wherever it is killed.
func TestHistoryGapAndPrune(t *testing.T) {
	tr := newTree(t)
	w, h := stored(t, tr, workspace.Options{History: workspace.HistoryBounds{Bytes: 2000}})
	whole := func() {
		t.Helper()
		if gap, err := w.Gap(t.Context()); gap != nil || err != nil {
			t.Errorf("told %v, %v", gap, err)
		}
	}
	for range 20 {
		record(t, h, "f", "x")
	}
	log := filepath.Join(h.Folder(), "log")
	before, err := os.ReadFile(log)
	check(t, err)
	check(t, h.Prune(t.Context(), -time.Hour))
	if after, err := os.Stat(log); err != nil || after.Size() >= int64(len(before)) {
		t.Fatal("nothing was pruned", err)
	}
	whole()
	check(t, os.WriteFile(log, before, 0o600)) // as where the pruning was killed before its rename
	whole()
	record(t, h, "f", "y")
	whole()
}
