package fileindex

import (
	"path"
	"slices"
	"strings"

	"toolcrib/workspace"
	"toolcrib/workspace/internal/fsys"
)

// File is a file of an index.
type File struct {
	ID      uint32 // small; stable while the path stays in the index, and never used again
	Version uint32 // grows when the content may have changed
	Path    workspace.Path
	Rel     string // slash-separated, below the directory that was asked for
}

// Knows reports whether the index knows the entries that Walk from start would find. It
// does not know them if start is not in it, or is ignored, if other rules are in force
// there, or for a view with deny rules. start may be of another view of the same workspace.
func (t *Index) Knows(start workspace.Path) bool {
	return t.view(start, func(*view, *directory) {})
}

// Files calls yield with the regular files below start in path order, with paths of the
// view of start, until it returns false. It leaves out files before the path from, below
// start ("" = none), and those for which skip, if it is not nil, returns true by their
// name, ID and version: a call of skip costs a tenth of the time to make a path. It reports
// whether the index knows the files.
//
// The index cannot change until Files returns, and the functions must not call its methods.
func (t *Index) Files(start workspace.Path, from string, skip func(name string, id, version uint32) bool, yield func(File) bool) (known bool) {
	return t.view(start, func(v *view, d *directory) {
		v.from, v.skipFile = from, skip
		v.files(d, yield)
	})
}

// view calls f with the directory of start while nothing changes, if the index knows it.
func (t *Index) view(start workspace.Path, f func(v *view, d *directory)) (known bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	d, cut, ok := t.locate(start)
	if ok {
		f(&view{start: start.Anchor(), cut: cut, skip: len(t.above) + len(d.path)}, d)
	}
	return ok
}

// Stats returns the stats of Walk from start with Hidden; the zero stats if the index does
// not know start.
func (t *Index) Stats(start workspace.Path) WalkStats {
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.making.Lock()
	defer t.making.Unlock()
	if t.stats.start != start || t.stats.listings != t.listings {
		t.stats = cachedStats{start, t.listings, t.statsOf(start)}
	}
	stats := t.stats.WalkStats
	stats.Unreadable = slices.Clone(stats.Unreadable)
	return stats
}

// cachedStats are stats as they were after so many listings.
type cachedStats struct {
	start    workspace.Path
	listings uint64
	WalkStats
}

func (t *Index) statsOf(start workspace.Path) (stats WalkStats) {
	d, cut, ok := t.locate(start)
	if !ok {
		return stats
	}
	shown := func(d *directory, name string) string {
		full := path.Join(t.start.Rel(), d.path, name)
		if len(full) < cut || d.path == "" && full == "." {
			full = "."
		}
		return start.Anchor().At(path.Clean(full[min(cut, len(full)):])).String()
	}
	stats.Unreadable = append(stats.Unreadable, t.outer.unreadable...)
	for above := d.parent; above != nil; above = above.parent {
		if above.rules == nil {
			continue
		}
		for _, name := range above.rules.bad {
			if len(t.above+above.path) < cut {
				stats.Unreadable = append(stats.Unreadable, outsideRules)
			} else {
				stats.Unreadable = append(stats.Unreadable, shown(above, name))
			}
		}
	}
	d.each(func(d *directory) {
		switch d.barred {
		case missing:
			return
		case unreadable:
			stats.Unreadable = append(stats.Unreadable, shown(d, ""))
			return
		}
		stats.Directories++
		stats.Ignored += d.ignored
		if d.rules != nil {
			for _, name := range d.rules.bad {
				stats.Unreadable = append(stats.Unreadable, shown(d, name))
			}
		}
	})
	slices.Sort(stats.Unreadable)
	return stats
}

// Changed returns the files whose content may have changed since a generation, new ones
// among them, and the present generation. If since is too long ago, these are all files. It
// does not name files that have left the index. The paths are those of the index's own
// view.
func (t *Index) Changed(since uint64) (files []File, now uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	ids, ok := t.log.after(since)
	v := &view{start: t.start, skip: len(t.above)}
	if !ok {
		v.files(t.top, func(f File) bool {
			files = append(files, f)
			return true
		})
		return files, t.generation
	}
	for d, of := range ids {
		for i := range d.entries {
			e := &d.entries[i]
			if e.kind != entryFile {
				continue
			}
			if _, ok := of[e.id]; ok {
				files = append(files, v.file(d, e))
			}
		}
	}
	return files, t.generation
}

// locate finds the directory of start. cut is the number of bytes that the paths in the
// index have more at their front than those of start's view.
func (t *Index) locate(start workspace.Path) (d *directory, cut int, ok bool) {
	full, cut, ok := t.start.Rebase(start)
	if !ok {
		return nil, 0, false
	}
	rest, ok := fsys.Below(t.start.Rel(), full)
	if t.start.Rel() == "." {
		rest, ok = full, true
	}
	if !ok {
		return nil, 0, false
	}
	d = t.top
	top := false
	for name := range strings.SplitSeq(rest, "/") {
		if rest == "." {
			break
		}
		// A view does not see the .ignore files above its roots.
		if len(t.above+d.path) < cut && d.rules != nil && d.rules.files.DotIgnore != nil {
			return nil, 0, false
		}
		if d = d.sub(name); d == nil {
			return nil, 0, false
		}
		top = top || d.rules != nil && d.rules.have.git != ""
	}
	// A walk that begins in a repository does not look above the root.
	if d.barred != notBarred || top && t.outer.dotIgnore {
		return nil, 0, false
	}
	return d, cut, true
}

// view makes paths of one view.
type view struct {
	start workspace.Anchor
	cut   int    // bytes at the front of a path that are above the root of the view
	skip  int    // bytes at the front of a path that are above start
	from  string // entries before it are left out; "" = none, or it has been passed

	skipFile func(name string, id, version uint32) bool // nil = none
}

func (v *view) file(d *directory, e *dirEntry) File {
	full := d.text[int(e.at)-d.lead : int(e.at)+int(e.size)]
	return File{
		ID: e.id, Version: e.version, Rel: full[v.skip:],
		Path: v.start.At(full[v.cut:]),
	}
}

// files yields the files of d and below; false = the caller wants no more.
func (v *view) files(d *directory, yield func(File) bool) bool {
	for i := range d.entries {
		e := &d.entries[i]
		switch e.kind {
		case entryFile:
			if v.from != "" && comparePaths(v.file(d, e).Rel, v.from) < 0 {
				continue
			}
			v.from = ""
			if v.skipFile != nil && v.skipFile(d.nameOf(e), e.id, e.version) {
				continue
			}
			if !yield(v.file(d, e)) {
				return false
			}
		case entryDirectory:
			if v.from != "" && whollyBefore(v.file(d, e).Rel, v.from) {
				continue
			}
			if !v.files(d.subs[e.id], yield) {
				return false
			}
		}
	}
	return true
}

// maxLog limits how many changes an index remembers.
const maxLog = 1 << 16

// changeLog remembers which files have changed in which generation.
type changeLog struct {
	since uint64 // all changes of later generations are there
	list  []logged
	names []named // the last entries that came or went besides new files
	modes []named // the last files that got other permissions
}

type named struct {
	generation uint64
	rel        string // below the index
	mode       uint16 // that a file of modes had before
}

const maxNames = 1024

func (l *changeLog) name(generation uint64, rel string) {
	l.names = appendNamed(l.names, named{generation: generation, rel: rel})
}

func (l *changeLog) mode(generation uint64, rel string, before uint16) {
	l.modes = appendNamed(l.modes, named{generation, rel, before})
}

func appendNamed(list []named, x named) []named {
	if len(list) == maxNames {
		list = slices.Delete(list, 0, maxNames/2)
	}
	return append(list, x)
}

type logged struct {
	generation uint64
	dir        *directory
	id         uint32
}

func (l *changeLog) add(generation uint64, d *directory, id uint32) {
	if len(l.list) >= maxLog {
		half := len(l.list) / 2
		l.since = l.list[half-1].generation
		l.list = append(make([]logged, 0, maxLog), l.list[half:]...)
	}
	l.list = append(l.list, logged{generation, d, id})
}

// after returns the IDs of what has changed since a generation, by directory; ok is
// false if that is too long ago.
func (l *changeLog) after(generation uint64) (ids map[*directory]map[uint32]struct{}, ok bool) {
	if generation < l.since {
		return nil, false
	}
	ids = map[*directory]map[uint32]struct{}{}
	for i := len(l.list) - 1; i >= 0 && l.list[i].generation > generation; i-- {
		at := l.list[i]
		if at.dir.gone {
			continue
		}
		if ids[at.dir] == nil {
			ids[at.dir] = map[uint32]struct{}{}
		}
		ids[at.dir][at.id] = struct{}{}
	}
	return ids, true
}
