package index

import (
	"cmp"
	"slices"
	"sync/atomic"

	"toolcrib/tools/search/internal/match"
)

const (
	maxPlaces = 10 // of a literal that are looked up in a segment
	// worth is how many bytes of postings may be read to exclude one file from the search.
	worth = 32
)

// clause is a disjunction of literals, each the alternatives of grams of its places.
type clause [][][]uint32

// Select returns which files may match: they contain at least one literal of each clause, all
// in one line or, with across, anywhere in the file. It asks the table for its generation, so
// it must not be called while an iteration over the table goes on.
func (x *Index) Select(need [][]match.Literal, across bool) *Selection {
	x.nudge()
	x.mu.RLock()
	defer x.mu.RUnlock()
	sel := &Selection{index: x, pages: x.pages, across: across}
	largest := largest(x.segments)
	var clauses []clause
	for _, literals := range need {
		var c clause
		for _, l := range literals {
			places := gramsOf(x.symbols, l)
			if places == nil {
				c = nil
				break
			}
			c = append(c, largest.best(places))
			sel.odd = sel.odd || l.Fold && foldsBeyondASCII(l.Text)
		}
		if c != nil {
			clauses = append(clauses, c)
		}
	}
	if clauses == nil {
		return sel
	}
	sel.clauses, sel.segments, sel.docs = clauses, slices.Clone(x.segments), make([]atomic.Pointer[bitmap], len(x.segments))
	return sel
}

// in returns the documents of a segment that may have a literal of each clause; a nil bitmap
// means all. They are computed at the first call, since a search may end before it comes to
// the files of a segment.
func (s *Selection) in(segment uint16) *bitmap {
	if docs := s.docs[segment].Load(); docs != nil {
		return docs
	}
	return s.run(segment)
}

func (s *Selection) run(segment uint16) *bitmap {
	x, of := s.index, s.segments[segment]
	x.mu.RLock()
	defer x.mu.RUnlock()
	var docs bitmap
	if int(segment) < len(x.segments) && x.segments[segment] == of { // it is still the same segment
		q := query{across: s.across}
		docs = q.run(of, s.clauses)
	}
	s.docs[segment].Store(&docs)
	return &docs
}

// largest returns the segment with the most documents, nil if there is none.
func largest(segments []*segment) *segment {
	var most *segment
	for _, s := range segments {
		if s != nil && (most == nil || len(s.files) > len(most.files)) {
			most = s
		}
	}
	return most
}

// foldsBeyondASCII reports whether a folded literal has a letter with a spelling that
// is not ASCII.
func foldsBeyondASCII(folded string) bool {
	for _, c := range []byte(folded) {
		if c == 'k' || c == 's' {
			return true
		}
	}
	return false
}

// best returns the positions of a literal whose grams are rarest in s. Grams that are rare in
// one segment are mostly rare in the others.
func (s *segment) best(places [][]uint32) [][]uint32 {
	if s == nil || len(places) <= maxPlaces {
		return places
	}
	sizes := make([]int, len(places))
	order := make([]int, len(places))
	for i, grams := range places {
		order[i] = i
		for _, g := range grams {
			sizes[i] += len(s.find(g))
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	best := make([][]uint32, maxPlaces)
	for i := range best {
		best[i] = places[order[i]]
	}
	return best
}

// query looks for clauses in one segment after another.
type query struct {
	across  bool
	clauses []found
	one     bitmap
	either  bitmap
	place   bitmap
	room    []uint16
}

// found are the postings of a clause in a segment.
type found struct {
	literals []postingsOf
	size     int // of the postings that are read at least
}

// postingsOf are the postings of a literal: of each position, the rare ones first.
type postingsOf []position

type position struct {
	lists [][]byte // of the alternatives
	size  int
}

// run returns the documents of s that may have a literal of each clause.
func (q *query) run(s *segment, clauses []clause) bitmap {
	n := len(s.files)
	docs := newBitmap(n)
	q.clauses = q.clauses[:0]
	for _, c := range clauses {
		f := s.look(c)
		if len(f.literals) == 0 {
			return docs
		}
		q.clauses = append(q.clauses, f)
	}
	slices.SortFunc(q.clauses, func(a, b found) int { return cmp.Compare(a.size, b.size) })
	q.one, q.either, q.place = newBitmap(n), newBitmap(n), newBitmap(n)
	for i, f := range q.clauses {
		if i > 0 && f.size > worth*docs.count() {
			break
		}
		clear(q.either)
		for _, l := range f.literals {
			q.literal(l)
			q.either.or(q.one)
		}
		if q.across {
			s.spread(q.either)
		}
		if i == 0 {
			copy(docs, q.either)
		} else {
			docs.and(q.either)
		}
	}
	return docs
}

// look finds the postings of a clause. Literals that no document has are left out.
func (s *segment) look(c clause) found {
	var f found
literals:
	for _, places := range c {
		var l postingsOf
		for _, grams := range places {
			var p position
			for _, g := range grams {
				if list := s.find(g); list != nil {
					p.lists = append(p.lists, list)
					p.size += len(list)
				}
			}
			if p.size == 0 {
				continue literals
			}
			l = append(l, p)
		}
		slices.SortFunc(l, func(a, b position) int { return cmp.Compare(a.size, b.size) })
		f.literals = append(f.literals, l)
		f.size += l[0].size
	}
	return f
}

// literal sets q.one to the documents that may have a literal.
func (q *query) literal(l postingsOf) {
	clear(q.one)
	for _, list := range l[0].lists {
		q.room = q.one.mark(list, q.room)
	}
	for _, p := range l[1:] {
		if p.size > worth*q.one.count() {
			return
		}
		clear(q.place)
		for _, list := range p.lists {
			q.room = q.place.mark(list, q.room)
		}
		q.one.and(q.place)
	}
}
