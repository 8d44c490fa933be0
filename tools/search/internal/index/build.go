package index

import (
	"context"
	"slices"

	"toolcrib/tools/internal/background"
)

// The most that one segment holds. The second also limits the temporary memory of a build, at
// four bytes each.
const (
	maxDocs     = 8192
	maxPostings = 4 << 20
	few         = 1 << 16 // postings that are held back; if there are no more, they are sorted by comparison
)

// builder collects the grams of documents for a segment.
type builder struct {
	pace   *background.Pace
	sorter sorter   // the grams of the first documents
	grams  []uint32 // the few grams of the others, one document after the other
	ends   []int    // of each of them in grams
	files  []uint32
	parts  []part
	w      writer
}

// full reports whether a file should go to another segment.
func (b *builder) full(t *extract) bool {
	return len(b.files)+len(t.docs) > maxDocs || len(b.files) > 0 && b.sorter.len()+len(b.grams)+len(t.grams) > maxPostings
}

// add appends the documents of a file. After an error the builder is unusable.
func (b *builder) add(ctx context.Context, file uint32, t *extract) error {
	if len(b.grams)+len(t.grams) > few {
		if err := b.spill(ctx); err != nil {
			return err
		}
	}
	start := 0
	for _, d := range t.docs {
		doc, grams := len(b.files), t.grams[start:d.grams]
		start = d.grams
		if len(t.docs) > 1 {
			b.parts = append(b.parts, part{uint16(doc), d.begin})
		}
		b.files = append(b.files, file)
		if len(t.grams) > few {
			if err := b.put(ctx, grams, doc); err != nil {
				return err
			}
			continue
		}
		b.grams = append(b.grams, grams...)
		b.ends = append(b.ends, len(b.grams))
	}
	return nil
}

// spill gives the sorter the postings that were held back.
func (b *builder) spill(ctx context.Context) error {
	start, first := 0, len(b.files)-len(b.ends)
	for i, end := range b.ends {
		if err := b.put(ctx, b.grams[start:end], first+i); err != nil {
			return err
		}
		start = end
	}
	b.grams, b.ends = b.grams[:0], b.ends[:0]
	return nil
}

// put gives the sorter the grams of a document.
func (b *builder) put(ctx context.Context, grams []uint32, doc int) error {
	if err := b.sorter.begin(); err != nil {
		return err
	}
	for some := range slices.Chunk(grams, few) {
		b.sorter.put(some, uint32(doc))
		if err := b.pace.Keep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// finish writes the segment; the builder is then empty. After an error it is unusable.
func (b *builder) finish(ctx context.Context) (*segment, error) {
	if b.sorter.len() == 0 {
		b.sort()
	} else {
		if err := b.spill(ctx); err != nil {
			return nil, err
		}
		if err := b.sorter.write(ctx, b.pace, &b.w); err != nil {
			return nil, err
		}
	}
	files, parts := slices.Clone(b.files), slices.Clone(b.parts)
	b.grams, b.ends, b.files, b.parts = b.grams[:0], b.ends[:0], b.files[:0], b.parts[:0]
	return b.w.segment(files, parts)
}

// sort writes a segment of few postings.
func (b *builder) sort() {
	pairs := make([]uint64, 0, len(b.grams))
	start := 0
	for doc, end := range b.ends {
		for _, g := range b.grams[start:end] {
			pairs = append(pairs, uint64(g)<<docBits|uint64(doc))
		}
		start = end
	}
	slices.Sort(pairs)
	var docs []uint16
	for i, p := range pairs {
		docs = append(docs, uint16(p%maxDocs))
		if i+1 == len(pairs) || pairs[i+1]>>docBits != p>>docBits {
			b.w.add(uint32(p>>docBits), docs)
			docs = docs[:0]
		}
	}
}

// release gives the memory back; the builder can be used again.
func (b *builder) release() {
	b.sorter.release()
	*b = builder{pace: b.pace}
}
