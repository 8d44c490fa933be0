package index

import (
	"context"
	"math/bits"
)

const (
	sameSize = 4       // segments of about the same size that become one
	fullSize = 1 << 20 // bytes of a segment that is not merged any more
	// mergeStep is how many grams are merged without a look at the pace.
	mergeStep = 1024
)

// maintain keeps the number of segments and their unused documents low.
func (w *worker) maintain(ctx context.Context) error {
	if w.added > max(maxDocs, w.x.stats.Files/4) {
		w.sweep()
	}
	for i, s := range w.x.segments {
		if s != nil && 2*w.dead[i] > len(s.files) {
			if err := w.merge(ctx, []int{i}); err != nil {
				return err
			}
		}
	}
	for same := w.alike(); same != nil; same = w.alike() {
		if err := w.merge(ctx, same); err != nil {
			return err
		}
	}
	return nil
}

// alike returns the slots of segments to merge, nil if there are none.
func (w *worker) alike() []int {
	bySize := map[int][]int{}
	for i, s := range w.x.segments {
		if s == nil || len(s.bytes) > fullSize || len(s.files) > maxDocs/sameSize {
			continue
		}
		size := bits.Len(uint(len(s.bytes))) / 2 // a power of four
		if bySize[size] = append(bySize[size], i); len(bySize[size]) == sameSize {
			return bySize[size]
		}
	}
	return nil
}

// sweep finds the documents of files that have left the table.
func (w *worker) sweep() {
	files, _ := w.x.table.Changed(0)
	there := make(map[uint32]struct{}, len(files))
	for _, f := range files {
		there[f.ID] = struct{}{}
	}
	var gone []change
	for at, p := range w.x.pages {
		if p == nil {
			continue
		}
		for i, e := range p {
			id := uint32(at*pageSize + i)
			if _, ok := there[id]; !ok && e.kind != absent {
				gone = append(gone, change{id: id})
			}
		}
	}
	w.commit(nil, nil, gone)
	w.added = 0
}

// source is a segment that is merged.
type source struct {
	cursor
	docs []int // the new number of each document, -1 for an unused one
	room []uint16
}

// merge merges the used documents of some segments into one.
func (w *worker) merge(ctx context.Context, slots []int) error {
	var sources []*source
	var moved []change
	var files []uint32
	var parts []part
	for _, slot := range slots {
		s := w.x.segments[slot]
		from := &source{cursor: cursor{s: s}, docs: make([]int, len(s.files))}
		for doc, id := range s.files {
			from.docs[doc] = -1
			e := lookup(w.x.pages, id)
			if !e.has(slot, doc) {
				continue
			}
			if doc == int(e.doc) {
				c := change{id: id, entry: *e}
				c.doc = uint16(len(files))
				moved = append(moved, c)
			}
			from.docs[doc] = len(files)
			files = append(files, id)
		}
		for _, p := range s.parts {
			if n := from.docs[p.doc]; n >= 0 {
				parts = append(parts, part{uint16(n), p.begin})
			}
		}
		if from.step() {
			sources = append(sources, from)
		}
	}
	if len(files) == 0 {
		w.commit(nil, slots, nil)
		return nil
	}
	out := writer{}
	var docs []uint16
	for n := 0; len(sources) > 0; n++ {
		if n%mergeStep == 0 {
			if err := w.pace.Keep(ctx); err != nil {
				return err
			}
		}
		g := sources[0].gram
		for _, from := range sources[1:] {
			g = min(g, from.gram)
		}
		docs = docs[:0]
		kept := sources[:0]
		for _, from := range sources {
			if from.gram == g {
				from.room = appendDocs(from.room[:0], from.postings)
				for _, d := range from.room {
					if n := from.docs[d]; n >= 0 {
						docs = append(docs, uint16(n))
					}
				}
				if !from.step() {
					continue
				}
			}
			kept = append(kept, from)
		}
		sources = kept
		if len(docs) > 0 {
			out.add(g, docs)
		}
	}
	s, err := out.segment(files, parts)
	if err != nil {
		return err
	}
	w.commit(s, slots, moved)
	return nil
}
