package fileindex

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolcrib/workspace/internal/fsys"
)

// reading is a directory that must be read anew.
type reading struct {
	dir   *directory
	names map[string]fsys.Event // entries that events name
	files bool                  // look at the files among names and do not list
	all   bool                  // look at all files, here and below
	deep  bool                  // read all below too: the rules have changed
	watch bool                  // watch anew, here and below
}

// list reads directories anew, and those that it finds in them.
func (t *Index) list(ctx context.Context, stack ...reading) error {
	for len(stack) > 0 {
		if err := t.opt.Pause(ctx); err != nil {
			return err
		}
		w := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.dir.gone {
			if h, err := t.open(w.dir); err == nil { // an ignore rule names it now
				t.lookIgnored(w, h, time.Now())
				h.Close()
			}
			continue
		}
		below, err := t.read(w)
		if err != nil {
			return err
		}
		stack = append(stack, below...)
	}
	return t.lookForNames(ctx)
}

// read reads one directory and returns the directories below it that must be read.
func (t *Index) read(w reading) ([]reading, error) {
	d := w.dir
	now := time.Now()
	h, err := t.open(d)
	if err != nil {
		return nil, t.bar(d, err)
	}
	defer h.Close()
	if w.files {
		t.look(w, h, now)
		return nil, nil
	}
	// First the watch: it reports the changes after the listing.
	if w.watch || d.wd == fsys.NoWatch {
		t.addWatch(d, h)
	}
	seen := fsys.StampOf(h, ".", now)
	t.listings++
	list, err := h.Entries(0)
	if err != nil {
		return nil, t.bar(d, err)
	}
	if d.level != nil && (seen.Sign == 0) != (d.sign == 0) {
		// The right to look up names in it has changed, which concerns all below.
		w.deep, w.all = true, true
	}
	d.sign, d.fresh = seen.Sign, seen.Fresh
	if t.enter(w, h, list) || d.level == nil || d.barred != notBarred {
		w.deep = true
	}
	if d.barred != notBarred {
		d.barred = notBarred
		t.changed()
	}
	if w.deep {
		d.level = t.levelOf(d)
	}
	t.lookIgnored(w, h, now)
	return t.merge(w, h, t.filter(d, list), now)
}

// open opens a directory of the index by its path, through no link.
func (t *Index) open(d *directory) (fsys.Dir, error) {
	const most = 4000 // bytes that every system takes in a path
	rel := d.rel()
	if len(rel) <= most {
		return t.base.OpenPlainDir(rel)
	}
	above, err := t.open(d.parent)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	return above.Open(d.name())
}

// bar empties a directory that cannot be read, or returns the error if it may pass without
// a report.
func (t *Index) bar(d *directory, err error) error {
	if d == t.top {
		return errors.Join(ErrLost, err)
	}
	for _, passing := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN} {
		if errors.Is(err, passing) {
			return err
		}
	}
	why := barredBy(err)
	if d.barred != why {
		t.changed()
	}
	d.barred = why
	t.forget(d)
	t.forgetRules(d)
	return nil
}

// filter keeps the entries that the index holds, sorted.
func (t *Index) filter(d *directory, list []fsys.DirEntry) []fsys.DirEntry {
	ignored := 0
	kept := list[:0]
	for _, e := range list {
		switch {
		case e.Name == ".git" || fsys.IsTemp(e.Name):
		case d.level.Ignored(e.Name, e.Kind == fsys.KindDirectory):
			ignored++
		default:
			kept = append(kept, e)
		}
	}
	if d.ignored != ignored {
		t.changed()
	}
	d.ignored = ignored
	slices.SortFunc(kept, func(a, b fsys.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	// A directory that changes meanwhile may give an entry twice.
	return slices.CompactFunc(kept, func(a, b fsys.DirEntry) bool { return a.Name == b.Name })
}

// lookIgnored looks at the new entries that are ignored: one may be another name of a file
// that is not.
func (t *Index) lookIgnored(w reading, h fsys.Dir, now time.Time) {
	for name, e := range w.names {
		if e&fsys.EventListing == 0 || e&fsys.EventDirectory != 0 || !w.dir.gone && !w.dir.level.Ignored(name, false) {
			continue
		}
		if s := fsys.StampOf(h, name, now); s.Links > 1 {
			t.newLinks[s.Inode] = struct{}{}
		}
	}
}

// merge makes a sorted list the entries of a directory; those that it had before keep their
// IDs. It returns the directories that must be read.
func (t *Index) merge(w reading, h fsys.Dir, list []fsys.DirEntry, now time.Time) (below []reading, err error) {
	d := w.dir
	t.count += len(list) - len(d.entries)
	if t.count >= t.opt.MaxEntries {
		return nil, errors.Join(ErrLost, t.start.RefuseMany(t.opt.MaxEntries))
	}
	old := directory{text: d.text, entries: d.entries, subs: d.subs}
	if err := d.setText(t.above+d.path, list); err != nil {
		return nil, err
	}
	at := 0 // in old
	kept := 0
	for i, e := range list {
		for at < len(old.entries) && old.nameOf(&old.entries[at]) < e.Name {
			at++
		}
		entry := &d.entries[i]
		var was *dirEntry
		if at < len(old.entries) && old.nameOf(&old.entries[at]) == e.Name && old.entries[at].kind == entry.kind {
			was = &old.entries[at]
		}
		if e.Kind == fsys.KindDirectory {
			if was != nil && !old.subs[was.id].gone {
				kept++
				sub := old.subs[was.id]
				d.addSub(entry, sub)
				if w.deep || w.watch || w.all {
					below = append(below, reading{dir: sub, all: w.all, deep: w.deep, watch: w.watch})
				}
				continue
			}
			sub := &directory{parent: d, path: d.path + e.Name + "/", wd: fsys.NoWatch}
			d.addSub(entry, sub)
			below = append(below, reading{dir: sub, deep: true})
			t.changed()
			t.log.name(t.generation+1, d.path+e.Name)
			continue
		}
		if was == nil {
			if entry.id, err = t.newID(); err != nil {
				return nil, err
			}
			t.see(d, entry, fsys.StampOf(h, e.Name, now), true)
			continue
		}
		kept++
		entry.inode, entry.sign, entry.id, entry.version, entry.mode, entry.fresh, entry.linked = was.inode, was.sign, was.id, was.version, was.mode, was.fresh, was.linked
		if told := w.names[e.Name] != 0; told || w.all {
			t.see(d, entry, fsys.StampOf(h, e.Name, now), told)
		}
	}
	if kept != len(old.entries) {
		t.changed()
		for i := range old.entries {
			if name := old.nameOf(&old.entries[i]); !d.has(name) {
				t.log.name(t.generation+1, d.path+name)
			}
		}
	}
	for _, sub := range old.subs {
		if i, ok := d.find(sub.name()); !ok || d.entries[i].kind != entryDirectory || d.subs[d.entries[i].id] != sub {
			t.drop(sub)
		}
	}
	return below, nil
}

// setText makes entries of a sorted list, with names alone. prefix is the path of the
// directory below the root of the workspace.
func (d *directory) setText(prefix string, list []fsys.DirEntry) error {
	size := 0
	for _, e := range list {
		size += len(prefix) + len(e.Name)
	}
	if size > math.MaxUint32 {
		return ErrLost
	}
	var text strings.Builder
	text.Grow(size)
	d.entries = make([]dirEntry, len(list))
	for i, e := range list {
		text.WriteString(prefix)
		d.entries[i] = dirEntry{at: uint32(text.Len()), size: uint16(len(e.Name)), kind: entryKindOf(e.Kind)}
		text.WriteString(e.Name)
	}
	d.text, d.lead, d.subs = text.String(), len(prefix), nil
	return nil
}

func (d *directory) has(name string) bool {
	_, ok := d.find(name)
	return ok
}

func (d *directory) addSub(e *dirEntry, sub *directory) {
	e.id = uint32(len(d.subs))
	d.subs = append(d.subs, sub)
}

// look looks at the files of a directory that events name.
func (t *Index) look(w reading, h fsys.Dir, now time.Time) {
	for name, e := range w.names {
		if i, ok := w.dir.find(name); ok && w.dir.entries[i].kind != entryDirectory {
			t.see(w.dir, &w.dir.entries[i], fsys.StampOf(h, name, now), e != 0)
		}
	}
}

// see updates a file by its stamp. The file counts as changed if an event named it, or if
// the stamp says that it may have changed.
func (t *Index) see(d *directory, e *dirEntry, s fsys.Stamp, told bool) {
	if told || s.Sign != e.sign || e.fresh {
		e.version++
		t.changed()
		t.log.add(t.generation+1, d, e.id)
	}
	if e.sign != 0 && s.Sign != 0 && s.Mode != e.mode {
		t.log.mode(t.generation+1, d.path+d.nameOf(e), e.mode)
	}
	e.sign, e.inode, e.mode, e.fresh = s.Sign, s.Inode, s.Mode, s.Fresh
	if s.Links > 1 && !e.linked && e.kind == entryFile {
		e.linked = true
		t.linked[d] = struct{}{}
		t.newLinks[s.Inode] = struct{}{}
	}
}

// lookForNames looks at the files that were found to have another name, for which there was
// no event.
func (t *Index) lookForNames(ctx context.Context) error {
	if len(t.newLinks) == 0 {
		return nil
	}
	inodes := t.newLinks
	t.newLinks = map[uint64]struct{}{}
	var found []reading
	t.top.each(func(d *directory) {
		w := reading{dir: d, files: true}
		for i := range d.entries {
			e := &d.entries[i]
			if _, ok := inodes[e.inode]; ok && !e.linked && e.kind == entryFile {
				if w.names == nil {
					w.names = map[string]fsys.Event{}
				}
				w.names[d.nameOf(e)] = 0
			}
		}
		if w.names != nil {
			found = append(found, w)
		}
	})
	return t.list(ctx, found...)
}
