package fileindex_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/internal/fsys"
)

// tableProbe compares an index with walks of the same directory.
type tableProbe struct {
	view  *workspace.Workspace
	table *fileindex.Index
	start workspace.Path
	root  string // of the workspace, on the host

	sums       map[uint32]tableSeen // by ID
	generation uint64
}

type tableSeen struct {
	version uint32
	sum     [sha256.Size]byte
	rel     string
}

func newTableProbe(t *testing.T, opt fileindex.Options, root, start string, portable bool) *tableProbe {
	t.Helper()
	view := openWalk(t, portable, root)
	p := walkStart(t, view, start)
	table, err := fileindex.New(t.Context(), p, opt.Getenv(noEnv))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return &tableProbe{view: view, table: table, start: p, root: root, sums: map[uint32]tableSeen{}}
}

// check syncs and compares everything. what names what was done before.
func (p *tableProbe) check(t *testing.T, what string) {
	t.Helper()
	if _, err := p.table.Sync(t.Context()); err != nil {
		t.Fatalf("sync after %s: %v", what, err)
	}
	p.compare(t, p.start, what)
	p.compareContent(t, what)
}

// dyingContext ends after it was asked some times.
type dyingContext struct {
	context.Context
	left atomic.Int64
}

func (c *dyingContext) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// interrupt ends a sync before it is through, if it does more than a little.
func (p *tableProbe) interrupt(t *testing.T, after int) {
	t.Helper()
	ctx := &dyingContext{Context: context.Background()}
	ctx.left.Store(int64(after))
	if _, err := p.table.Sync(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// compare compares the entries and stats below start with a walk.
func (p *tableProbe) compare(t *testing.T, start workspace.Path, what string) {
	t.Helper()
	opt := fileindex.WalkOptions{Hidden: true, Directories: true, Getenv: noEnv}
	want, stats, err := fileindex.Walk(t.Context(), start, opt)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := tableEntries(p.table, start)
	if !ok {
		t.Fatalf("%q is not in the table after %s", start, what)
	}
	for _, e := range got {
		if e.Path.String() != walkPath(t, start, e.Rel).String() {
			t.Errorf("entry %q has the path %q", e.Rel, e.Path)
		}
	}
	if diff := cmp.Diff(listing(want), listing(got)); diff != "" {
		t.Fatalf("entries after %s (-walk +table):\n%s", what, diff)
	}
	if diff := cmp.Diff(stats, p.table.Stats(start)); diff != "" {
		t.Fatalf("stats after %s (-walk +table):\n%s", what, diff)
	}
	for size := 1; size < 7 && len(want) > 0; size++ {
		name := path.Base(want[size%len(want)].Rel)
		p.compareNamed(t, start, want, name[max(0, len(name)-size):], what)
	}
}

// compareNamed compares the files whose names end with a suffix with those of a walk.
func (p *tableProbe) compareNamed(t *testing.T, start workspace.Path, walked []fileindex.Entry, suffix, what string) {
	t.Helper()
	matches := func(name string) bool { return strings.HasSuffix(name, suffix) }
	var want, got []string
	wantLeft := 0
	for _, e := range walked {
		switch {
		case e.Kind == fsys.KindDirectory:
		case matches(path.Base(e.Rel)):
			want = append(want, e.Rel)
		default:
			wantLeft++
		}
	}
	names := fileindex.NameFilter{Match: matches, Suffixes: []string{"none of these ends so", suffix}}
	left, _ := p.table.Entries(start, names, func(e *fileindex.Entry) bool {
		got = append(got, e.Rel)
		return true
	})
	if diff := cmp.Diff(want, got); diff != "" || left != wantLeft {
		t.Fatalf("entries with %q after %s (-walk +table):\n%s%d are left out, want %d", suffix, what, diff, left, wantLeft)
	}
}

func tableEntries(table *fileindex.Index, start workspace.Path) (list []fileindex.Entry, known bool) {
	_, known = table.Entries(start, fileindex.NameFilter{Directories: true}, func(e *fileindex.Entry) bool {
		list = append(list, *e)
		return true
	})
	return list, known
}

func tableFiles(table *fileindex.Index, start workspace.Path) (list []fileindex.File) {
	table.Files(start, "", nil, func(f fileindex.File) bool {
		list = append(list, f)
		return true
	})
	return list
}

func walkPath(t *testing.T, start workspace.Path, rel string) workspace.Path {
	t.Helper()
	p, err := start.Join(rel)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// compareContent wants of each file whose content has changed that its version has, and
// that Changed returns it.
func (p *tableProbe) compareContent(t *testing.T, what string) {
	t.Helper()
	changed := map[uint32]uint32{}
	files, generation := p.table.Changed(p.generation)
	for _, f := range files {
		changed[f.ID] = f.Version
	}
	if generation != p.table.Generation() || generation < p.generation {
		t.Fatalf("generation %d after %d", generation, p.generation)
	}
	sums := map[uint32]tableSeen{}
	for _, f := range tableFiles(p.table, p.start) {
		text, err := os.ReadFile(f.Path.Host())
		if err != nil && !errors.Is(err, os.ErrPermission) {
			t.Fatal(err)
		}
		now := tableSeen{version: f.Version, sum: sha256.Sum256(text), rel: f.Rel}
		before, known := p.sums[f.ID]
		if known && before.rel != f.Rel {
			t.Fatalf("%s has the ID of %s after %s", f.Rel, before.rel, what)
		}
		if known && before.sum != now.sum && before.version == now.version {
			t.Fatalf("%s has changed and its version has not, after %s", f.Rel, what)
		}
		if version, ok := changed[f.ID]; ok && version != f.Version {
			t.Fatalf("%s changed to version %d, is %d", f.Rel, version, f.Version)
		} else if !ok && (!known || before.version != now.version) {
			t.Fatalf("%s is not among the changed after %s", f.Rel, what)
		}
		if _, twice := sums[f.ID]; twice {
			t.Fatalf("ID %d is there twice after %s", f.ID, what)
		}
		sums[f.ID] = now
	}
	p.sums, p.generation = sums, generation
}

// eachMode runs a test with an index that watches, one that does not, and one on os.Root.
func eachMode(t *testing.T, test func(t *testing.T, opt fileindex.Options, portable bool)) {
	t.Helper()
	eachModeNamed(t, "", test)
}

func eachModeNamed(t *testing.T, name string, test func(t *testing.T, opt fileindex.Options, portable bool)) {
	t.Helper()
	for _, mode := range []struct{ stat, portable bool }{{false, false}, {true, false}, {true, true}} {
		t.Run(fmt.Sprintf("%s/stat=%t,portable=%t", name, mode.stat, mode.portable), func(t *testing.T) {
			t.Parallel()
			test(t, fileindex.Options{Stat: mode.stat}, mode.portable)
		})
	}
}

func host(root string, rel string) string { return filepath.Join(root, filepath.FromSlash(rel)) }
