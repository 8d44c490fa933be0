package fileindex_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// stream takes all of a stream, or the first most entries.
func stream(t *testing.T, p workspace.Path, opt fileindex.WalkOptions, most int) ([]fileindex.Entry, fileindex.WalkStats) {
	t.Helper()
	opt.Getenv = noEnv
	s := fileindex.NewStream(t.Context(), p, opt)
	var got []fileindex.Entry
	for run := range s.Runs() {
		if len(run) == 0 {
			t.Fatal("an empty run")
		}
		if got = append(got, run...); most >= 0 && len(got) >= most {
			break
		}
	}
	stats, err := s.Result()
	if err != nil {
		t.Fatal(err)
	}
	return got, stats
}

// TestStreamRandom walks random trees that are larger than what is read ahead, by
// workers that are delayed at random, before a consumer that is slow at random.
func TestStreamRandom(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		g := rand.New(rand.NewPCG(1, uint64(i)))
		dir := randomTree(t, g, 20+i%3*300)
		p := walkStart(t, openWalk(t, i == 5, dir), ".")
		opt := fileindex.WalkOptions{Hidden: g.IntN(3) > 0, IncludeIgnored: g.IntN(3) == 0, Directories: g.IntN(2) == 0, Getenv: noEnv}
		if g.IntN(4) == 0 {
			opt.MaxDepth = 1 + g.IntN(6)
		}
		if g.IntN(2) == 0 {
			opt.SkipDir = func(rel string) bool { return strings.HasSuffix(rel, "~d") }
		}
		want, wantStats := slowWalk(t, dir, opt)
		skip := opt.SkipDir
		for _, workers := range []int{1, 2, 3, 8, 16} {
			opt.Workers = workers
			opt.SkipDir = func(rel string) bool {
				if rand.IntN(8) == 0 {
					time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
				}
				return skip != nil && skip(rel)
			}
			var got []fileindex.Entry
			s := fileindex.NewStream(t.Context(), p, opt)
			for run := range s.Runs() {
				got = append(got, run...)
				if rand.IntN(20) == 0 {
					time.Sleep(time.Duration(rand.IntN(500)) * time.Microsecond)
				}
			}
			stats, err := s.Result()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, listing(got)) + cmp.Diff(wantStats, stats); diff != "" {
				t.Fatalf("tree %d, %d workers (-want +got):\n%s", i, workers, diff)
			}
		}
	}
}

func TestStreamFrom(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		g := rand.New(rand.NewPCG(2, uint64(i)))
		p := walkStart(t, openWalk(t, i%4 == 3, randomTree(t, g, 25)), ".")
		opt := fileindex.WalkOptions{Hidden: true, Directories: i%2 == 0, FollowLinks: i > 5, Workers: 1 + g.IntN(4)}
		all, whole := stream(t, p, opt, -1)
		var froms []string
		for _, e := range all {
			froms = append(froms, e.Rel, e.Rel+"x", e.Rel+"/b", path.Dir(e.Rel))
		}
		for _, from := range append(froms, "", "0", "\xff") {
			opt.From = from
			rest := slices.DeleteFunc(slices.Clone(all), func(e fileindex.Entry) bool { return from != "" && comparePaths(e.Rel, from) < 0 })
			got, stats := stream(t, p, opt, -1)
			if diff := cmp.Diff(listing(rest), listing(got)); diff != "" {
				t.Fatalf("tree %d from %q (-want +got):\n%s", i, from, diff)
			}
			if from == "\xff" && !opt.FollowLinks && stats.Directories != 1 || stats.Directories > whole.Directories {
				t.Errorf("tree %d from %q: %d directories read", i, from, stats.Directories)
			}
		}
	}
}

// TestStreamFromReads counts which directories are read on the way to From.
func TestStreamFromReads(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	lay("a/a/f", "a/b/f", "a/c/f", "a-b/f", "b/f", "0/f").write(t, dir)
	p := walkStart(t, openWalk(t, false, dir), ".")
	for from, want := range map[string]int{
		"": 8, "a": 7, "a/b": 6, "a/b/f": 6, "a/b/g": 6, "a/bb": 5, "a-b": 3, "a/z": 4, "b/g": 2, "c": 1,
	} {
		if _, stats := stream(t, p, fileindex.WalkOptions{From: from}, -1); stats.Directories != want {
			t.Errorf("from %q: %d directories read, want %d", from, stats.Directories, want)
		}
	}
}

// TestStreamBreak breaks off after each number of entries. It is not parallel because
// it counts descriptors.
func TestStreamBreak(t *testing.T) {
	for i := range 4 {
		g := rand.New(rand.NewPCG(3, uint64(i)))
		p := walkStart(t, openWalk(t, i == 3, randomTree(t, g, 60)), ".")
		opt := fileindex.WalkOptions{Hidden: true, Directories: true, FollowLinks: i == 2, Workers: 1 + i}
		all, _ := stream(t, p, opt, -1)
		before := descriptors(t)
		for most := range all {
			var gone atomic.Bool
			opt.SkipDir = func(rel string) bool {
				if gone.Load() {
					t.Errorf("the walk goes on at %s", rel)
				}
				return false
			}
			got, _ := stream(t, p, opt, most)
			gone.Store(true)
			if diff := cmp.Diff(listing(all[:len(got)]), listing(got)); diff != "" || len(got) < most {
				t.Fatalf("tree %d, %d entries (-want +got):\n%s", i, most, diff)
			}
			if after := descriptors(t); after != before {
				t.Fatalf("tree %d, %d entries: %d descriptors before, %d after", i, most, before, after)
			}
		}
	}
}

// TestStreamIsBounded takes little of a tree and waits meanwhile: what is read must
// not depend on how large the tree is, nor what is held.
func TestStreamIsBounded(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	f := layout{}
	const dirs = 600
	for i := range dirs {
		f[fmt.Sprintf("%d/%d/f", i%10, i)] = ""
	}
	f.write(t, dir)
	p := walkStart(t, openWalk(t, false, dir), ".")
	opt := fileindex.WalkOptions{Getenv: noEnv, Workers: 4}
	s := fileindex.NewStream(t.Context(), p, opt)
	for range s.Runs() {
		time.Sleep(50 * time.Millisecond) // enough to read all, if nothing held it
		break
	}
	const most = 300
	if stats, err := s.Result(); err != nil || stats.Directories > most {
		t.Errorf("%d directories read for one entry, want at most %d; %v", stats.Directories, most, err)
	}
	var runs []weak.Pointer[fileindex.Entry]
	alive := 0
	for run := range fileindex.NewStream(t.Context(), p, opt).Runs() {
		if runs = append(runs, weak.Make(&run[0])); len(runs) == dirs-20 {
			runtime.GC()
			for _, r := range runs {
				if r.Value() != nil {
					alive++
				}
			}
		}
	}
	if len(runs) != dirs || alive > most {
		t.Errorf("%d runs, of which %d were held", len(runs), alive)
	}
}

// TestStreamHeldBack has a worker read b while another reads a, and end later: what is
// in a must be read first all the same, since there is more in b than is read ahead.
func TestStreamHeldBack(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	f := lay("a/0/x/", "a/1/f")
	for i := range 300 {
		f[fmt.Sprintf("b/%03d/", i)] = ""
	}
	f.write(t, dir)
	inB, behindA, lastB := make(chan struct{}), make(chan struct{}), make(chan struct{})
	opt := fileindex.WalkOptions{Workers: 2, Getenv: noEnv, SkipDir: func(rel string) bool {
		switch rel {
		case "a/0":
			<-inB
		case "b/000":
			close(inB)
			<-behindA
		case "b/299":
			close(lastB)
		case "a/0/x":
			close(behindA)
			<-lastB
			time.Sleep(20 * time.Millisecond) // until b is done; without it the test proves less
		}
		return false
	}}
	got, stats := stream(t, walkStart(t, openWalk(t, false, dir), "."), opt, -1)
	if diff := cmp.Diff([]string{"a/1/f"}, listing(got)); diff != "" || stats.Directories != 306 {
		t.Errorf("%+v, entries (-want +got):\n%s", stats, diff)
	}
}

func TestStreamEnds(t *testing.T) {
	t.Parallel()
	g := rand.New(rand.NewPCG(4, 0))
	p := walkStart(t, openWalk(t, false, randomTree(t, g, 300)), ".")
	reason := errors.New("the reason")

	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s, n := fileindex.NewStream(ctx, p, fileindex.WalkOptions{Getenv: noEnv}), 0
	for range s.Runs() {
		if n++; n == 3 {
			cancel(reason)
		}
	}
	if _, err := s.Result(); !errors.Is(err, reason) || n != 3 {
		t.Errorf("the context ended after 3 runs: %d runs, %v", n, err)
	}

	s, n = fileindex.NewStream(t.Context(), p, fileindex.WalkOptions{Hidden: true, IncludeIgnored: true, Getenv: noEnv, MaxEntries: 300}), 0
	for range s.Runs() {
		n++
	}
	stats, err := s.Result()
	if refused, ok := errors.AsType[*workspace.Error](err); !ok || refused.Rule != workspace.RuleInvalid || stats.Directories == 0 {
		t.Errorf("more than MaxEntries: %d runs, %+v, %v", n, stats, err)
	}

	s = fileindex.NewStream(t.Context(), p, fileindex.WalkOptions{Getenv: noEnv, Workers: 4})
	func() {
		defer func() {
			if value := recover(); value != any(reason) {
				t.Errorf("a panic of the consumer came back as %v", value)
			}
		}()
		for range s.Runs() {
			panic(reason)
		}
	}()
	if _, err := s.Result(); err != nil {
		t.Errorf("after a panic of the consumer: %v", err)
	}

	n = 0
	s = fileindex.NewStream(t.Context(), p, fileindex.WalkOptions{Getenv: noEnv, SkipDir: func(string) bool { panic(reason) }})
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, reason) {
				t.Errorf("a panic of SkipDir came back as %v", err)
			}
		}()
		for range s.Runs() {
			n++
		}
	}()
	if n > 0 {
		t.Errorf("%d runs of a start that could not be read", n)
	}
}
