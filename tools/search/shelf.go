package search

import (
	"context"
	"fmt"
	"strings"

	"toolcrib/tools/search/internal/index"
	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
)

// shelf has the lists and indexes of one root. The mutex of the library protects it. A shelf
// without a file index is being built, or could not be.
type shelf struct {
	root workspace.Path
	stop context.CancelFunc
	holding
}

type holding struct {
	table    *fileindex.Index
	index    *index.Index
	contents *contents // of all shelves
	number   uint64    // of the shelf: no other has or had it
}

// visit is the use of a shelf by one call. The zero visit has no shelf.
type visit struct {
	holding
	fresh fileindex.Freshness
	stamp stamp // of the files
}

// watched is the freshness of an answer that depends only on changes that the generation of
// the workspace counts.
const watched = "watch"

// freshness returns how the answer is known to be up to date: "watch", since the system
// reports every change; "stat", since the size and times of every file were compared; "scan",
// since the files were read.
func (v visit) freshness() string {
	switch v.fresh {
	case fileindex.Watched:
		return watched
	case fileindex.Validated:
		return "stat"
	}
	return "scan"
}

// state returns "ready", "building" or why the index lacks files; "" for no index.
func (v visit) state() string {
	switch {
	case v.index == nil:
		return ""
	case !v.index.Ready():
		return "building"
	}
	if left := v.index.Stats().Left; left > 0 {
		return fmt.Sprintf("%d files left out: no memory", left)
	}
	return "ready"
}

// countLeft counts the entries that the filter leaves out, as a walk does.
func (h holding) countLeft(start workspace.Path, f *filter) {
	if !f.empty() {
		h.entries(start, f, false, func(*fileindex.Entry) {})
	}
}

// entries calls take with the selected entries that Walk from start finds with Hidden, in path
// order. It reports whether they are known.
func (h holding) entries(start workspace.Path, f *filter, directories bool, take func(*fileindex.Entry)) (known bool) {
	f.listed = directories
	if names, ok := f.byName(); ok {
		names.Directories = directories
		left, known := h.table.Entries(start, names, func(e *fileindex.Entry) bool {
			take(e)
			return true
		})
		f.left.Add(int64(left))
		return known
	}
	left := "" // directory that is left out with all in it, ending in a slash
	_, known = h.table.Entries(start, fileindex.NameFilter{Directories: true}, func(e *fileindex.Entry) bool {
		if left != "" && strings.HasPrefix(e.Rel, left) {
			return true
		}
		left = ""
		directory := e.Kind == workspace.KindDirectory
		if directory && f.skips(e.Rel) {
			left = e.Rel + "/"
		}
		switch {
		case directory && !directories:
		case f.wants(e.Rel, directory):
			take(e)
		default:
			f.left.Add(1)
		}
		return true
	})
	return known
}
