package index

import (
	"context"
	"slices"
)

// The most that one segment holds. The second bounds what a build takes for a while, eight
// bytes for each.
const (
	maxDocs     = 8192
	maxPostings = 4 << 20
	few         = 1 << 16 // postings that are sorted by comparison
	steps       = 16      // documents, or parts of the grams, that are gone through without a look at the pace
)

// A gram is sorted by its upper bits, and then by its lower ones: both fit into the
// processor's cache, where a counter for each gram would not.
const (
	docBits  = 13 // maxDocs of them
	lowBits  = 11
	lowGrams = 1 << lowBits
	highs    = gramCount / lowGrams
)

// builder collects the grams of documents for a segment.
type builder struct {
	pace   *Pace
	grams  []uint32 // of all documents, one after the other; of allocate
	ends   []int    // of each document in grams
	files  []uint32
	parts  []part
	sorted []uint32 // of allocate: lower bits of the gram and document, by the upper bits
	docs   []uint16 // of one of these
	w      writer
}

// full reports whether a file should go to another segment.
func (b *builder) full(t *extract) bool {
	return len(b.files)+len(t.docs) > maxDocs || len(b.files) > 0 && len(b.grams)+len(t.grams) > maxPostings
}

// add puts the documents of a file behind the others.
func (b *builder) add(file uint32, t *extract) error {
	grams := t.grams
	if cap(b.grams)-len(b.grams) < len(grams) {
		grown, err := allocate[uint32](max(min(2*cap(b.grams), maxPostings+gramCount), len(b.grams)+len(grams), few))
		if err != nil {
			return err
		}
		largePages(grown)
		n := copy(grown, b.grams)
		if b.grams != nil {
			release(b.grams)
		}
		b.grams = grown[:n]
	}
	start := len(b.grams)
	b.grams = append(b.grams, grams...)
	for _, d := range t.docs {
		if len(t.docs) > 1 {
			b.parts = append(b.parts, part{uint16(len(b.files)), d.begin})
		}
		b.ends = append(b.ends, start+d.grams)
		b.files = append(b.files, file)
	}
	return nil
}

// finish writes the segment; the builder is then empty. After an error it is of no use.
func (b *builder) finish(ctx context.Context) (*segment, error) {
	b.w.docs = len(b.files)
	if len(b.grams) <= few {
		b.sort()
	} else if err := b.count(ctx); err != nil {
		return nil, err
	}
	files, parts := slices.Clone(b.files), slices.Clone(b.parts)
	b.grams, b.ends, b.files, b.parts = b.grams[:0], b.ends[:0], b.files[:0], b.parts[:0]
	return b.w.segment(files, parts)
}

// sort writes few postings.
func (b *builder) sort() {
	pairs := make([]uint64, 0, len(b.grams))
	start := 0
	for doc, end := range b.ends {
		for _, g := range b.grams[start:end] {
			pairs = append(pairs, uint64(g)<<16|uint64(doc))
		}
		start = end
	}
	slices.Sort(pairs)
	var docs []uint16
	for i, p := range pairs {
		docs = append(docs, uint16(p))
		if i+1 == len(pairs) || pairs[i+1]>>16 != p>>16 {
			b.w.add(uint32(p>>16), docs)
			docs = docs[:0]
		}
	}
}

// count writes many postings: it counts how many grams share their upper bits, and with
// that puts each where it belongs.
func (b *builder) count(ctx context.Context) error {
	if len(b.sorted) < len(b.grams) {
		if b.sorted != nil {
			release(b.sorted)
		}
		var err error
		if b.sorted, err = allocate[uint32](cap(b.grams)); err != nil {
			return err
		}
		largePages(b.sorted)
	}
	var ends [highs]uint32
	for grams := range slices.Chunk(b.grams, few) {
		for _, g := range grams {
			ends[g>>lowBits]++
		}
		if err := b.pace.Keep(ctx); err != nil {
			return err
		}
	}
	sum := uint32(0)
	for high, n := range ends {
		ends[high] = sum // where the next one belongs
		sum += n
	}
	start := 0
	for doc, end := range b.ends {
		if doc%steps == 0 {
			if err := b.pace.Keep(ctx); err != nil {
				return err
			}
		}
		for _, g := range b.grams[start:end] {
			at := &ends[g>>lowBits]
			b.sorted[*at] = g%lowGrams<<docBits | uint32(doc)
			*at++
		}
		start = end
	}
	at := uint32(0)
	for high, end := range ends {
		if high%steps == 0 {
			if err := b.pace.Keep(ctx); err != nil {
				return err
			}
		}
		if end > at {
			b.write(uint32(high)<<lowBits, b.sorted[at:end])
			at = end
		}
	}
	return nil
}

// write writes the postings of the grams that share the upper bits of first.
func (b *builder) write(first uint32, postings []uint32) {
	var ends [lowGrams]uint32
	for _, p := range postings {
		ends[p>>docBits]++
	}
	sum := uint32(0)
	for low, n := range ends {
		ends[low] = sum
		sum += n
	}
	if len(b.docs) < len(postings) {
		b.docs = make([]uint16, 2*len(postings))
	}
	for _, p := range postings {
		at := &ends[p>>docBits]
		b.docs[*at] = uint16(p % maxDocs)
		*at++
	}
	at := uint32(0)
	for low, end := range ends {
		if end > at {
			b.w.add(first|uint32(low), b.docs[at:end])
			at = end
		}
	}
}

// release gives the memory back; the builder can be used again.
func (b *builder) release() {
	if b.grams != nil {
		release(b.grams)
	}
	if b.sorted != nil {
		release(b.sorted)
	}
	*b = builder{pace: b.pace}
}
