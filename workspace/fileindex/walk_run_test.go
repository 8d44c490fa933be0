package fileindex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

func TestWalkIsDeterministic(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	f := lay(".git/", ".gitignore: *7 | !77")
	for i := range 12 {
		for j := range 10 {
			for k := range 3 {
				f[fmt.Sprintf("d%d/e%d.%d/f%d", i, j, i+j, k*7)] = ""
			}
		}
	}
	f.write(t, dir)
	p := walkStart(t, openWalk(t, false, dir), ".")
	walk := func(workers int) ([]fileindex.Entry, fileindex.WalkStats) {
		entries, stats, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{Workers: workers, Directories: true, Getenv: noEnv})
		if err != nil {
			t.Fatal(err)
		}
		return entries, stats
	}
	want, wantStats := walk(1)
	if len(want) < 300 || !slices.IsSortedFunc(want, func(a, b fileindex.Entry) int { return comparePaths(a.Rel, b.Rel) }) {
		t.Fatalf("%d entries, not in path order", len(want))
	}
	for range 20 {
		got, stats := walk(8)
		if diff := cmp.Diff(listing(want), listing(got)); diff != "" {
			t.Fatalf("8 workers (-one +eight):\n%s", diff)
		}
		if diff := cmp.Diff(wantStats, stats); diff != "" {
			t.Fatalf("8 workers (-one +eight):\n%s", diff)
		}
	}
}

// TestWalkDeep walks a tree in which many more directories wait for a sibling than
// a walk may hold open. It is not parallel because it counts descriptors.
func TestWalkDeep(t *testing.T) {
	const depth, most = 400, 200
	dir := realTempDir(t)
	at := dir
	for range depth {
		lay("a", "b/", "c/g").write(t, at)
		at = filepath.Join(at, "b")
	}
	for _, portable := range []bool{false, true} {
		p := walkStart(t, openWalk(t, portable, dir), ".")
		for _, workers := range []int{1, 4} {
			before := descriptors(t)
			var peak atomic.Int64
			look := func(rel string) bool {
				if strings.HasSuffix(rel, "/b") && len(rel)%16 == 1 {
					peak.Store(max(peak.Load(), int64(descriptors(t)-before)))
				}
				return false
			}
			entries, stats, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{Workers: workers, SkipDir: look, Getenv: noEnv})
			if err != nil {
				t.Fatal(err)
			}
			if len(entries) != 2*depth || stats.Directories != 2*depth+1 || stats.Unreadable != nil {
				t.Errorf("portable=%t: %d entries, %+v", portable, len(entries), stats)
			}
			if n := peak.Load(); n < 10 || n > most {
				t.Errorf("portable=%t: %d descriptors open at once, want 10 to %d", portable, n, most)
			}
			if after := descriptors(t); after != before {
				t.Errorf("portable=%t: %d descriptors before the walk, %d after", portable, before, after)
			}
		}
	}
}

// descriptors counts the open descriptors of the process.
func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs: /proc/self/fd")
	}
	return len(list)
}

func TestWalkIsCancelled(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	f := layout{}
	for i := range 300 {
		f[fmt.Sprintf("d%d/e/f", i)] = ""
	}
	f.write(t, dir)
	p := walkStart(t, openWalk(t, false, dir), ".")
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	release := make(chan struct{})
	defer close(release)
	skip := func(string) bool { // a worker that hangs, as on a dead file system
		cancel(reason)
		<-release
		return false
	}
	begin := time.Now()
	entries, stats, err := fileindex.Walk(ctx, p, fileindex.WalkOptions{SkipDir: skip, Getenv: noEnv})
	if !errors.Is(err, reason) || entries != nil || stats.Directories != 0 {
		t.Errorf("cancelled walk: %d entries, %+v, %v", len(entries), stats, err)
	}
	if took := time.Since(begin); took > 100*time.Millisecond {
		t.Errorf("cancelled walk took %v", took)
	}
	if _, _, err := fileindex.Walk(ctx, p, fileindex.WalkOptions{Getenv: noEnv}); !errors.Is(err, reason) {
		t.Errorf("walk with a context that has ended: %v", err)
	}
}

// TestWalkStaysInside replaces a directory by a link out of the roots after it was
// listed and before it is opened.
func TestWalkStaysInside(t *testing.T) {
	t.Parallel()
	for _, portable := range []bool{false, true} {
		dir := realTempDir(t)
		lay("out/secret", "w/d/f", "w/e/f").write(t, dir)
		swap := func(rel string) bool {
			if rel != "d" {
				return false
			}
			d := filepath.Join(dir, "w/d")
			if err := errors.Join(os.Rename(d, filepath.Join(dir, "gone")), os.Symlink("../out", d)); err != nil {
				t.Error(err)
			}
			return false
		}
		for _, follow := range []bool{false, true} {
			p := walkStart(t, openWalk(t, portable, filepath.Join(dir, "w")), ".")
			entries, stats, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{SkipDir: swap, Getenv: noEnv, FollowLinks: follow})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"e/f"}, listing(entries)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"d"}, stats.Unreadable); diff != "" {
				t.Errorf("unreadable (-want +got):\n%s", diff)
			}
			if err := errors.Join(os.Remove(filepath.Join(dir, "w/d")), os.Rename(filepath.Join(dir, "gone"), filepath.Join(dir, "w/d"))); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWalkUnreadable(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("a/f", "b/c/f", "d").write(t, dir)
	unreadable := filepath.Join(dir, "b/c")
	if err := os.Chmod(unreadable, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Chmod(unreadable, 0o755); err != nil {
			t.Error(err)
		}
	})
	if _, err := os.ReadDir(unreadable); err == nil {
		t.Skip("needs: a user whom permissions bind")
	}
	w := openWalk(t, false, dir)
	entries, stats, err := fileindex.Walk(t.Context(), walkStart(t, w, "."), fileindex.WalkOptions{Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a/f", "d"}, listing(entries)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(fileindex.WalkStats{Directories: 3, Unreadable: []string{"b/c"}}, stats); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	var refused *workspace.Error
	if _, _, err := fileindex.Walk(t.Context(), walkStart(t, w, "b/c"), fileindex.WalkOptions{Getenv: noEnv}); !errors.As(err, &refused) || refused.Rule != workspace.RuleAccess {
		t.Errorf("walk of what cannot be read: %v", err)
	}
}

func TestWalkRefuses(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("o/f", "w/f", "w/out: -> ../o").write(t, dir)
	w := openWalk(t, false, filepath.Join(dir, "w"))
	for start, rule := range map[string]workspace.Rule{"f": workspace.RuleKind, "none": workspace.RuleNotFound, "out": workspace.RuleOutside} {
		var refused *workspace.Error
		if _, _, err := fileindex.Walk(t.Context(), walkStart(t, w, start), fileindex.WalkOptions{Getenv: noEnv}); !errors.As(err, &refused) || refused.Rule != rule {
			t.Errorf("walk of %q: %v, want rule %q", start, err, rule)
		}
	}
}
