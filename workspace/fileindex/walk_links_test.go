package fileindex_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// TestWalkFollowsOnce walks hidden directories each of which has two links to the
// next, which makes 2^15 paths of them, with many links in from outside. It is not
// parallel because it counts descriptors.
func TestWalkFollowsOnce(t *testing.T) {
	const levels = 16
	dir := realTempDir(t)
	f := lay("x/y/z/in: -> ../../../.h/0", "w/in: -> ../.h/3", "w/x/in: -> ../../.h/9")
	for i := range levels {
		f[fmt.Sprintf(".h/%d/f", i)] = ""
		f[fmt.Sprintf("v/%d/in", i)] = fmt.Sprintf("-> ../../.h/%d", levels-1-i)
		if i+1 < levels {
			f[fmt.Sprintf(".h/%d/a", i)] = fmt.Sprintf("-> ../%d", i+1)
			f[fmt.Sprintf(".h/%d/b", i)] = fmt.Sprintf("-> ../../.h/%d", i+1)
		}
	}
	f.write(t, dir)
	for _, portable := range []bool{false, true} {
		p := walkStart(t, openWalk(t, portable, dir), ".")
		opt := fileindex.WalkOptions{FollowLinks: true, Getenv: noEnv, Workers: 1}
		walk := func(opt fileindex.WalkOptions) ([]string, fileindex.WalkStats) {
			entries, stats, err := fileindex.Walk(t.Context(), p, opt)
			if err != nil {
				t.Fatal(err)
			}
			return listing(entries), stats
		}
		want, wantStats := walk(opt)
		files := 0
		for _, line := range want {
			if strings.HasSuffix(line, "/f") {
				files++
			}
		}
		if files != levels || wantStats.Directories != 2*levels+7 {
			t.Fatalf("%d files, %+v:\n%s", files, wantStats, strings.Join(want, "\n"))
		}
		before := descriptors(t)
		opt.Workers = 8
		for range 20 {
			for _, opt := range []fileindex.WalkOptions{opt, fileindex.ByPath(opt)} {
				got, stats := walk(opt)
				if diff := cmp.Diff(want, got) + cmp.Diff(wantStats, stats); diff != "" {
					t.Fatalf("8 workers (-one +eight):\n%s", diff)
				}
			}
		}
		if after := descriptors(t); after != before {
			t.Errorf("portable=%t: %d descriptors before the walks, %d after", portable, before, after)
		}
	}
}

func TestWalkMaxEntries(t *testing.T) {
	t.Parallel()
	dir := realTempDir(t)
	f := layout{}
	for i := range 40 {
		f[fmt.Sprintf("d%d/f", i)] = ""
	}
	f.write(t, dir)
	p := walkStart(t, openWalk(t, false, dir), ".")
	const found = 40 + 41 // files, directories
	if entries, _, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{MaxEntries: found, Getenv: noEnv}); len(entries) != 40 || err != nil {
		t.Errorf("%d entries, %v", len(entries), err)
	}
	entries, _, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{MaxEntries: found - 1, Getenv: noEnv})
	var refused *workspace.Error
	if !errors.As(err, &refused) || refused.Rule != workspace.RuleInvalid || refused.Hint == "" || entries != nil {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}
