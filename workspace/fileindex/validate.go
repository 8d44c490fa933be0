package fileindex

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// differing is the differences found in a directory.
type differing struct {
	dir   *directory
	list  bool // the directory itself, or its rules
	files map[int]fsys.Stamp
}

// validate looks at every directory and file.
func (t *Index) validate(ctx context.Context) error {
	if err := t.checkStart(); err != nil {
		return err
	}
	outer := t.outer.changed()
	found, err := t.compareAll(ctx)
	if err != nil {
		return err
	}
	if !t.stale && !outer && len(found) == 0 && len(t.dirty) == 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.publish()
	todo := t.takeDirty()
	if outer {
		t.outer = t.readOuter()
	}
	if outer || t.stale {
		todo = append(todo, reading{dir: t.top, deep: true, all: t.stale})
	}
	for _, f := range found {
		for i, s := range f.files {
			t.see(f.dir, &f.dir.entries[i], s, false)
		}
		if f.list {
			todo = append(todo, reading{dir: f.dir})
		}
	}
	if err := t.list(ctx, todo...); err != nil {
		return err
	}
	clear(t.dirty)
	t.stale = false
	return nil
}

// compareAll looks at all directories and files and changes nothing.
func (t *Index) compareAll(ctx context.Context) ([]differing, error) {
	var dirs []*directory
	t.top.each(func(d *directory) { dirs = append(dirs, d) })
	var (
		next    atomic.Int64
		workers sync.WaitGroup
		mu      sync.Mutex
		found   []differing
	)
	for range min(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(dirs) {
					return
				}
				if f := t.compare(dirs[i]); f.list || f.files != nil {
					mu.Lock()
					found = append(found, f)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return found, context.Cause(ctx)
}

// compare looks at a directory and its files.
func (t *Index) compare(d *directory) differing {
	f := differing{dir: d}
	now := time.Now()
	h, err := t.open(d)
	if err != nil {
		f.list = d.barred != barredBy(err)
		return f
	}
	defer h.Close()
	s := fsys.StampOf(h, ".", now)
	f.list = d.barred != notBarred || d.fresh || s.Sign != d.sign ||
		d.rules != nil && !sameStamps(d.rules.stamps, d.rules.look(h, "", now))
	for i := range d.entries {
		e := &d.entries[i]
		if e.kind == entryDirectory {
			continue
		}
		if s := fsys.StampOf(h, d.nameOf(e), now); s.Sign != e.sign || e.fresh {
			if f.files == nil {
				f.files = map[int]fsys.Stamp{}
			}
			f.files[i] = s
		}
	}
	return f
}
