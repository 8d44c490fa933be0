package fileindex

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"toolcrib/workspace/ignore"
	"toolcrib/workspace/internal/fsys"
)

// directory is a directory of an index.
type directory struct {
	parent *directory // nil for the index's own
	twin   *directory // the next one with the same watch: a bind mount
	// path is that of the directory below the index's, ending in a slash; "" is the
	// index's own.
	path string
	// text holds the paths of the entries below the root of the workspace; they share
	// it to be made without allocation.
	text    string
	lead    int          // bytes of a path before the name
	entries []dirEntry   // sorted by name
	subs    []*directory // in the order of the entries that are directories
	level   *ignore.Level
	rules   *dirRules // nil = the directory has no ignore files
	sign    uint64    // stamp of the directory when its entries were read
	ignored int       // entries left out by rules
	wd      int32     // the watch, or NoWatch
	fresh   bool      // as of a stamp
	barred  barred
	gone    bool // no longer in the index
}

// barred says why a directory has no entries.
type barred uint8

const (
	notBarred  barred = iota
	missing           // it was gone before it could be read
	unreadable        // the system does not permit it
)

func barredBy(err error) barred {
	switch {
	case err == nil:
		return notBarred
	case errors.Is(err, fs.ErrNotExist):
		return missing
	}
	return unreadable
}

// dirEntry is one entry of a directory.
type dirEntry struct {
	inode   uint64
	sign    uint64 // of the stamp when it was last seen
	id      uint32 // of a directory, its position in subs
	version uint32
	at      uint32 // where the name begins in the text of the directory
	size    uint16 // of the name
	mode    uint16 // permission bits when it was last seen
	kind    entryKind
	fresh   bool // as of a stamp
	linked  bool // has had more than one name
}

type entryKind uint8

const (
	entryFile entryKind = iota
	entryDirectory
	entrySymlink
	entryOther
)

var entryKinds = [...]fsys.Kind{fsys.KindFile, fsys.KindDirectory, fsys.KindSymlink, fsys.KindOther}

func entryKindOf(k fsys.Kind) entryKind {
	if i := slices.Index(entryKinds[:], k); i >= 0 {
		return entryKind(i)
	}
	return entryOther
}

// name is that of the directory in its parent.
func (d *directory) name() string {
	p := strings.TrimSuffix(d.path, "/")
	return p[strings.LastIndexByte(p, '/')+1:]
}

// rel is the path for the Root of the index.
func (d *directory) rel() string {
	return cmp.Or(strings.TrimSuffix(d.path, "/"), ".")
}

// nameOf returns the name of an entry.
func (d *directory) nameOf(e *dirEntry) string {
	return d.text[e.at : int(e.at)+int(e.size)]
}

// find returns the position of the entry called name.
func (d *directory) find(name string) (int, bool) {
	return slices.BinarySearchFunc(d.entries, name, func(e dirEntry, name string) int {
		return strings.Compare(d.nameOf(&e), name)
	})
}

// sub returns the directory called name in d, nil if there is none.
func (d *directory) sub(name string) *directory {
	i, ok := d.find(name)
	if !ok || d.entries[i].kind != entryDirectory {
		return nil
	}
	return d.subs[d.entries[i].id]
}

// each calls f for d and all directories below it, in path order.
func (d *directory) each(f func(*directory)) {
	f(d)
	for _, sub := range d.subs {
		sub.each(f)
	}
}

// drop removes d and all below it from the index.
func (t *Index) drop(d *directory) {
	if d.gone {
		return
	}
	d.gone = true
	t.forget(d)
	t.unwatch(d)
	delete(t.dirty, d)
	delete(t.tops, d)
	delete(t.linked, d)
}

// forget removes all below d from the index.
func (t *Index) forget(d *directory) {
	for _, sub := range d.subs {
		t.drop(sub)
	}
	t.count -= len(d.entries)
	t.listings++
	d.entries, d.subs, d.text, d.ignored = nil, nil, "", 0
}
