package search

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"toolcrib/tools/search/internal/index"
	"toolcrib/workspace"
)

// shelf is what a library knows of one root. What it holds is guarded by the library; a
// shelf without a table is in the making, or could not be made.
type shelf struct {
	root workspace.Path
	stop context.CancelFunc
	holding
}

type holding struct {
	table *workspace.Table
	index *index.Index
}

// visit is the use of a shelf by one call. The zero visit is that of none.
type visit struct {
	holding
	fresh workspace.Freshness
	stamp stamp // of the files
	leave func()
}

// end ends the visit.
func (v visit) end() {
	if v.leave != nil {
		v.leave()
	}
}

// freshness says how it is known that the answer is up to date: "watch", since the
// system tells of every change; "stat", since every file was looked at; "scan", since
// the files were read.
func (v visit) freshness() string {
	switch v.fresh {
	case workspace.Watched:
		return "watch"
	case workspace.Validated:
		return "stat"
	}
	return "scan"
}

// state says what the index covers: "ready", "building" or why not all; "" for none.
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

// countLeft counts what the filter leaves out as a walk does.
func (h holding) countLeft(start workspace.Path, f *filter) {
	if f.include.Empty() && f.types.Empty() && f.exclude.Empty() {
		return
	}
	if entries, ok := h.entries(start, f, false); ok {
		for range entries { // the filter counts
		}
	}
}

// entries yields what the filter wants of what Walk from start finds with Hidden, in
// path order.
func (h holding) entries(start workspace.Path, f *filter, directories bool) (entries iter.Seq[workspace.Entry], ok bool) {
	all, ok := h.table.Entries(start)
	if !ok {
		return nil, false
	}
	f.listed = directories
	return func(yield func(workspace.Entry) bool) {
		left := "" // directory that is left out with all in it, ending in a slash
		for e := range all {
			if left != "" && strings.HasPrefix(e.Rel, left) {
				continue
			}
			left = ""
			directory := e.Kind == workspace.KindDirectory
			if directory && f.skips(e.Rel) {
				left = e.Rel + "/"
			}
			if directory && !directories {
				continue
			}
			if !f.wants(e) {
				f.left.Add(1)
			} else if !yield(e) {
				return
			}
		}
	}, true
}
