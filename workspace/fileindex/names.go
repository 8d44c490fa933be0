package fileindex

import (
	"strings"

	"toolcrib/workspace"
)

// NameFilter chooses entries by their names.
type NameFilter struct {
	Directories bool                   // directories too
	Match       func(name string) bool // nil = all are wanted
	Suffixes    []string               // all that Match accepts end with one of them; nil = any
}

// Entries calls yield with the entries that Walk from start finds with Hidden and
// Directories and that names accepts; see Files. The entry is valid until yield returns.
// left is how many were left out by their names, without directories if names accepts none.
func (t *Index) Entries(start workspace.Path, names NameFilter, yield func(*Entry) bool) (left int, known bool) {
	known = t.view(start, func(v *view, d *directory) {
		left = v.entries(t.nameList(), d, names, yield)
	})
	return left, known
}

// nameList is all entries of an index in path order. It is in one piece: to go from
// directory to directory costs a wait for the memory of each.
type nameList struct {
	listings uint64 // of the index
	endings  []ending
	kinds    []entryKind
	paths    []string // below the root of the workspace
	spans    map[*directory]span
}

// span is the range of a nameList with all below a directory.
type span struct {
	from, to    int
	directories int
}

// nameList returns the present entries. The caller holds the index for reading.
func (t *Index) nameList() nameList {
	t.making.Lock()
	defer t.making.Unlock()
	if l := &t.names; l.spans == nil || l.listings != t.listings {
		*l = nameList{
			listings: t.listings, spans: map[*directory]span{},
			endings: make([]ending, 0, t.count), kinds: make([]entryKind, 0, t.count), paths: make([]string, 0, t.count),
		}
		l.add(t.top)
	}
	return t.names
}

// add adds all below d, and returns how many directories that is.
func (l *nameList) add(d *directory) (directories int) {
	from := len(l.kinds)
	for i := range d.entries {
		e := &d.entries[i]
		l.endings = append(l.endings, endingOf(d.nameOf(e)))
		l.kinds = append(l.kinds, e.kind)
		l.paths = append(l.paths, d.text[int(e.at)-d.lead:int(e.at)+int(e.size)])
		if e.kind == entryDirectory {
			directories += 1 + l.add(d.subs[e.id])
		}
	}
	l.spans[d] = span{from, len(l.kinds), directories}
	return directories
}

// entries yields the entries below d that names accepts, until yield returns false, and
// returns how many it has left out.
func (v *view) entries(l nameList, d *directory, names NameFilter, yield func(*Entry) bool) (left int) {
	var suffixes []suffix
	for _, text := range names.Suffixes {
		suffixes = append(suffixes, suffixOf(text))
	}
	found := Entry{Path: v.start.At(".")} // one for all: most of it is the same
	in := l.spans[d]
	left = in.to - in.from
	if !names.Directories {
		left -= in.directories
	}
	for i, last := range l.endings[in.from:in.to] {
		if !endsWith(last, suffixes) {
			continue
		}
		kind, full := l.kinds[in.from+i], l.paths[in.from+i]
		if kind == entryDirectory && !names.Directories || names.Match != nil && !names.Match(full[strings.LastIndexByte(full, '/')+1:]) {
			continue
		}
		left--
		v.start.Move(&found.Path, full[v.cut:])
		found.Rel, found.Kind = full[v.skip:], entryKinds[kind]
		if !yield(&found) {
			break
		}
	}
	return left
}

// ending is the last bytes of a name, the last one on top; 0 for bytes that it does not
// have. It distinguishes most names from those that are searched for, without a look at the
// text.
type ending uint32

func endingOf(name string) (last ending) {
	const bytes = 4
	for i := range min(len(name), bytes) {
		last |= ending(name[len(name)-1-i]) << (8 * (bytes - 1 - i))
	}
	return last
}

// suffix is the ending of all names that end with a text.
type suffix struct{ mask, ending ending }

func suffixOf(text string) suffix {
	return suffix{endingOf(strings.Repeat("\xff", len(text))), endingOf(text)}
}

// endsWith reports whether a name may end with one of the suffixes; none = with anything.
func endsWith(last ending, suffixes []suffix) bool {
	for _, s := range suffixes {
		if last&s.mask == s.ending {
			return true
		}
	}
	return len(suffixes) == 0
}
