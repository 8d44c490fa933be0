package fileindex

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// touched is the known changes in a directory since it was read.
type touched struct {
	names map[string]fsys.Event
	list  bool // the listing may have changed
}

// beginWatch leaves t.watch nil if the system cannot watch.
func (t *Index) beginWatch() {
	if w, err := fsys.NewWatcher(t.self); err == nil {
		t.watch = w
	}
}

// endWatch switches to validation.
func (t *Index) endWatch() {
	if t.watch != nil {
		t.watch.Close()
		t.watch = nil
	}
}

// addWatch watches a directory that is open. If that fails, the index is validated from now
// on.
func (t *Index) addWatch(d *directory, h fsys.Dir) {
	if t.watch == nil {
		return
	}
	wd, err := t.watch.Add(h)
	if hook := t.opt.hooks.addWatch; hook != nil && err == nil {
		err = hook()
	}
	if err != nil {
		t.endWatch()
		return
	}
	if d.wd == wd {
		return
	}
	t.unwatch(d)
	d.wd, d.twin = wd, t.watched[wd]
	t.watched[wd] = d
}

// unwatch ends the watch of a directory, unless another one has the same.
func (t *Index) unwatch(d *directory) {
	if d.wd == fsys.NoWatch {
		return
	}
	first := t.watched[d.wd]
	switch {
	case first != d:
		at := first
		for at.twin != d {
			at = at.twin
		}
		at.twin = d.twin
	case d.twin != nil:
		t.watched[d.wd] = d.twin
	default:
		delete(t.watched, d.wd)
		if t.watch != nil {
			t.watch.Remove(d.wd)
		}
	}
	d.wd, d.twin = fsys.NoWatch, nil
}

// note records an event. It ignores one of a watch that has been ended meanwhile.
func (t *Index) note(wd int32, e fsys.Event, name []byte) {
	if t.opt.hooks.event != nil {
		e = t.opt.hooks.event(e)
	}
	t.stale = t.stale || e&fsys.EventLost != 0
	var next *directory
	for d := t.watched[wd]; d != nil; d = next {
		next = d.twin
		if e&fsys.EventUnwatched != 0 {
			delete(t.watched, wd)
			d.wd, d.twin = fsys.NoWatch, nil
		}
		switch {
		case len(name) > 0:
			t.touch(d, name, e)
		case d.parent == nil:
			t.recheck = t.recheck || e&(fsys.EventMoved|fsys.EventUnwatched|fsys.EventStatus) != 0
		case e&fsys.EventUnwatched != 0:
			t.touch(d.parent, []byte(d.name()), fsys.EventListing)
		}
	}
}

// touch records that an event names an entry.
func (t *Index) touch(d *directory, name []byte, e fsys.Event) {
	u := t.touchedOf(d)
	before, ok := u.names[string(name)]
	t.unseen = t.unseen || e&fsys.EventEnded != 0 && t.passed(d, string(name), before, e)
	if !ok || before|e != before {
		u.names[string(name)] = before | e
	}
}

// passed reports whether an entry that is removed now was made since the index was read,
// and data was or may have been stored in it: it may have been another name of a file that
// still exists.
func (t *Index) passed(d *directory, name string, before, e fsys.Event) bool {
	if before&fsys.EventStored == 0 && e&fsys.EventDirectory == 0 || fsys.IsTemp(name) {
		return false
	}
	_, known := d.find(name)
	return !known || before&fsys.EventGone != 0
}

func (t *Index) touchedOf(d *directory) *touched {
	u := t.dirty[d]
	if u == nil {
		u = &touched{names: map[string]fsys.Event{}}
		t.dirty[d] = u
	}
	return u
}

// follow brings a watched index up to date.
func (t *Index) follow(ctx context.Context) error {
	if err := t.watch.Events(t.note); err != nil {
		t.endWatch()
		return t.validate(ctx)
	}
	if t.watch.MountsChanged(t.self) {
		t.stale = true
	}
	if t.recheck || t.start.Rel() != "." {
		if err := t.checkStart(); err != nil {
			return err
		}
	}
	if t.recheck {
		t.touchedOf(t.top).list = true
		t.recheck = false
	}
	t.checkTops()
	t.checkLinked()
	outer := t.outer.changed()
	if !t.stale && !outer && len(t.dirty) == 0 {
		return nil // nor is anything unseen, which leaves its directory dirty
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.publish()
	if outer {
		t.outer = t.readOuter()
	}
	todo := t.takeDirty()
	if t.stale || outer {
		todo = append([]reading{{dir: t.top, deep: true, all: t.stale, watch: t.stale}}, todo...)
	} else if t.unseen {
		todo = append([]reading{{dir: t.top, all: true}}, todo...) // the last one is taken first
	}
	// An error from here on leaves the index stale.
	if err := t.list(ctx, todo...); err != nil {
		return err
	}
	clear(t.dirty)
	t.stale, t.unseen = false, false
	return nil
}

// takeDirty makes a list of directories to read from the events, upper directories first.
func (t *Index) takeDirty() []reading {
	var todo []reading
	for d, u := range t.dirty {
		if d.gone {
			continue
		}
		list, look := u.list, false
		for name, e := range u.names {
			list = list || e&fsys.EventListing != 0 || ruleName(name)
			sub := d.sub(name)
			switch {
			case sub == nil:
				look = true
			case e&fsys.EventListing != 0:
				// It need not be the same. A moved directory is removed here before it
				// is found elsewhere, or its watch would be removed then.
				t.drop(sub)
				t.changed()
			case e&fsys.EventStatus != 0: // it may be barred now, or no longer
				todo = append(todo, reading{dir: sub})
			}
		}
		if list || look {
			todo = append(todo, reading{dir: d, names: u.names, files: !list})
		}
	}
	slices.SortFunc(todo, func(a, b reading) int { return cmp.Compare(b.dir.path, a.dir.path) })
	return todo
}

// checkStart finds out whether the path of the index still leads to its directory.
func (t *Index) checkStart() error {
	own, err := t.self.Stat(".")
	if err != nil {
		return errors.Join(ErrLost, err)
	}
	now, err := t.start.Path().Stat()
	switch {
	case err != nil:
		return errors.Join(ErrLost, err)
	case now.Device != own.Device || now.Inode != own.Inode:
		return errors.Join(ErrLost, t.start.Refuse(fsys.ErrSwapped))
	case own.Links == 0 && own.Inode != 0:
		return errors.Join(ErrLost, t.start.Refuse(errRemoved))
	}
	if err := t.start.Path().CheckRoot(); err != nil {
		return errors.Join(ErrLost, err)
	}
	return nil
}

// errRemoved says that the directory of an index has been removed.
var errRemoved = errors.New("has been removed")

// checkTops looks at the rules that no watch reports.
func (t *Index) checkTops() {
	for d := range t.tops {
		if !sameStamps(d.rules.stamps, d.rules.look(t.self, d.path, time.Now())) {
			t.touch(d, []byte(".git"), fsys.EventContent)
		}
	}
}

// checkLinked looks at the files that may be written under names without a watch.
func (t *Index) checkLinked() {
	for d := range t.linked {
		for _, name := range t.compareLinked(d) {
			t.touch(d, []byte(name), fsys.EventContent)
		}
	}
}

func (t *Index) compareLinked(d *directory) (changed []string) {
	if len(d.entries) == 0 {
		delete(t.linked, d)
		return nil
	}
	h, err := t.open(d)
	if err != nil {
		t.touchedOf(d).list = true
		return nil
	}
	defer h.Close()
	left := false
	now := time.Now()
	for i := range d.entries {
		e := &d.entries[i]
		if !e.linked {
			continue
		}
		left = true
		name := d.nameOf(e)
		if s := fsys.StampOf(h, name, now); s.Sign != e.sign || e.fresh {
			changed = append(changed, name)
		}
	}
	if !left {
		delete(t.linked, d)
	}
	return changed
}
