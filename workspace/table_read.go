package workspace

import (
	"path"
	"slices"
	"strings"
)

// TableFile is a file of a table.
type TableFile struct {
	ID      uint32 // small; stable while the path stays in the table, and never used again
	Version uint32 // grows when the content may have changed
	Path    Path
	Rel     string // slash-separated, below the directory that was asked for
}

// Knows tells whether the table knows what Walk from start would find. It does not where
// start is not in it, or is ignored, or other rules are in force there, nor for a guarded
// view. start may be of
// another view of the same workspace.
func (t *Table) Knows(start Path) bool {
	return t.view(start, func(*tableView, *tableDir) {})
}

// Files gives yield the regular files below start in path order, with paths of the view
// of start, until it returns false. Those before the path from, below start, are left out;
// "" = none. So are those that skip, where it is not nil, does not want by their name, ID
// and version: to ask it costs a tenth of what it costs to make a path. It reports whether
// the table knows them.
//
// The table cannot change until Files returns, and the functions must call none of its
// methods.
func (t *Table) Files(start Path, from string, skip func(name string, id, version uint32) bool, yield func(TableFile) bool) (known bool) {
	return t.view(start, func(v *tableView, d *tableDir) {
		v.from, v.skipFile = from, skip
		v.files(d, yield)
	})
}

// view calls f with the directory of start while nothing changes, if the table knows it.
func (t *Table) view(start Path, f func(v *tableView, d *tableDir)) (known bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	d, cut, ok := t.locate(start)
	if ok {
		f(&tableView{start: start.Anchor(), cut: cut, skip: len(t.above) + len(d.path)}, d)
	}
	return ok
}

// Stats returns the stats of Walk from start with Hidden; of a start that the table
// does not know, the zero stats.
func (t *Table) Stats(start Path) WalkStats {
	t.mu.RLock()
	defer t.mu.RUnlock()
	t.making.Lock()
	defer t.making.Unlock()
	if t.stats.start != start || t.stats.listings != t.listings {
		t.stats = tableStats{start, t.listings, t.statsOf(start)}
	}
	stats := t.stats.WalkStats
	stats.Unreadable = slices.Clone(stats.Unreadable)
	return stats
}

// tableStats are stats as they were after so many listings.
type tableStats struct {
	start    Path
	listings uint64
	WalkStats
}

func (t *Table) statsOf(start Path) (stats WalkStats) {
	d, cut, ok := t.locate(start)
	if !ok {
		return stats
	}
	shown := func(d *tableDir, name string) string {
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
	d.each(func(d *tableDir) {
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

// Changed returns the files whose content may have changed since a generation, those
// that are new among them, and the generation that this is true of. If since is too long
// ago, these are all files. What has left the table is not told. The paths are those of
// the table's own view.
func (t *Table) Changed(since uint64) (files []TableFile, now uint64) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	ids, ok := t.log.after(since)
	v := &tableView{start: t.start, skip: len(t.above)}
	if !ok {
		v.files(t.top, func(f TableFile) bool {
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

// locate finds the directory that start stands for. cut is how many bytes the paths in
// the table are longer at their front than those of start's view.
func (t *Table) locate(start Path) (d *tableDir, cut int, ok bool) {
	full, cut, ok := t.start.Rebase(start)
	if !ok {
		return nil, 0, false
	}
	rest, ok := below(t.start.Rel(), full)
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

// tableView makes paths of one view.
type tableView struct {
	start Anchor
	cut   int    // bytes at the front of a path that are above the root of the view
	skip  int    // bytes at the front of a path that are above start
	from  string // what comes before it is left out; "" = nothing, or it has been passed

	skipFile func(name string, id, version uint32) bool // nil = none
}

func (v *tableView) file(d *tableDir, e *tableEntry) TableFile {
	full := d.text[int(e.at)-d.lead : int(e.at)+int(e.size)]
	return TableFile{
		ID: e.id, Version: e.version, Rel: full[v.skip:],
		Path: v.start.At(full[v.cut:]),
	}
}

// files yields the files of d and below; false = the caller wants no more.
func (v *tableView) files(d *tableDir, yield func(TableFile) bool) bool {
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
