package index

import (
	"iter"
	"math"
	"sync/atomic"
)

// Class says whether a file may match.
type Class uint8

// The classes.
const (
	May    Class = iota // it may contain the literals, or it is not indexed
	Not                 // it does not contain the literals
	Binary              // it is not text
)

// Selection says which files may contain some literals. It is a snapshot of the index, and
// stays true for the versions that the files had then.
type Selection struct {
	index    *Index
	pages    []*page
	clauses  []clause                 // nil = no clause excludes anything
	segments []*segment               // as they were
	docs     []atomic.Pointer[bitmap] // of each segment those that may, see in
	across   bool                     // as asked for
	odd      bool                     // a literal folds to letters beyond ASCII
}

// Class returns the class of a version of a file. A nil selection returns May.
func (s *Selection) Class(id, version uint32) Class {
	if s == nil {
		return May
	}
	e := lookup(s.pages, id)
	switch {
	case e == nil || e.version != version:
		return May
	case e.kind == noText:
		return Binary
	case !s.tells(e):
		return May
	}
	found := s.docs[e.segment].Load()
	if found == nil { // as in does, but this is asked of every file
		found = s.run(e.segment)
	}
	docs := *found
	if docs == nil || docs.has(int(e.doc)) || e.docs > 1 && docs.any(int(e.doc), int(e.docs)) {
		return May
	}
	return Not
}

// tells reports whether the documents of a file decide its class.
func (s *Selection) tells(e *entry) bool {
	return s.clauses != nil && (e.kind == indexed || e.kind == oddlyFolded && !s.odd)
}

// Parts returns the parts of a file of class May that may contain the literals, by begin and
// end; nil for the whole file. They are whole lines. The end of the last part is not known: it
// is the end of the file.
func (s *Selection) Parts(id, version uint32) iter.Seq2[int64, int64] {
	if s == nil || s.across {
		return nil
	}
	e := lookup(s.pages, id)
	if e == nil || e.version != version || e.docs < 2 || !s.tells(e) {
		return nil
	}
	docs := *s.in(e.segment)
	if docs == nil {
		return nil
	}
	parts := partsOf(s.segments[e.segment].parts, int(e.doc), int(e.docs))
	return func(yield func(begin, end int64) bool) {
		for i, p := range parts {
			end := int64(math.MaxInt64)
			if i+1 < len(parts) {
				end = int64(parts[i+1].begin)
			}
			if docs.has(int(p.doc)) && !yield(int64(p.begin), end) {
				return
			}
		}
	}
}

// Size returns roughly the bytes that the selection takes.
func (s *Selection) Size() int {
	if s == nil {
		return 0
	}
	size := 8 * len(s.pages)
	for _, of := range s.segments {
		if of != nil {
			size += 24 + len(of.files)/8
		}
	}
	return size
}
