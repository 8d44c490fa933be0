package index

import "slices"

// The most that one segment holds. The second bounds what a build takes for a while, six
// bytes for each.
const (
	maxDocs     = 8192
	maxPostings = 4 << 20
	few         = 1 << 16 // postings that are sorted by comparison
)

// builder collects the grams of documents for a segment.
type builder struct {
	grams  []uint32 // of all documents, one after the other; of allocate
	ends   []int    // of each document in grams
	files  []uint32
	counts []uint32 // of allocate; all zero between segments
	docs   []uint16 // of allocate
	w      writer
}

// full reports whether a document with n grams should go to another segment.
func (b *builder) full(n int) bool {
	return len(b.files) == maxDocs || len(b.files) > 0 && len(b.grams)+n > maxPostings
}

// add puts a document behind the others.
func (b *builder) add(file uint32, grams []uint32) error {
	if cap(b.grams)-len(b.grams) < len(grams) {
		grown, err := allocate[uint32](max(min(2*cap(b.grams), maxPostings+gramCount), len(b.grams)+len(grams), few))
		if err != nil {
			return err
		}
		n := copy(grown, b.grams)
		if b.grams != nil {
			release(b.grams)
		}
		b.grams = grown[:n]
	}
	b.grams = append(b.grams, grams...)
	b.ends = append(b.ends, len(b.grams))
	b.files = append(b.files, file)
	return nil
}

// finish writes the segment; the builder is then empty.
func (b *builder) finish() (*segment, error) {
	b.w.docs = len(b.files)
	var err error
	if len(b.grams) <= few {
		b.sort()
	} else if err = b.count(); err != nil {
		return nil, err
	}
	files := slices.Clone(b.files)
	b.grams, b.ends, b.files = b.grams[:0], b.ends[:0], b.files[:0]
	return b.w.segment(files)
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

// count writes many postings: it counts how many documents each gram has, and with that
// puts each document where it belongs.
func (b *builder) count() error {
	if b.counts == nil {
		var err error
		if b.counts, err = allocate[uint32](gramCount); err != nil {
			return err
		}
	}
	if len(b.docs) < len(b.grams) {
		if b.docs != nil {
			release(b.docs)
		}
		var err error
		if b.docs, err = allocate[uint16](cap(b.grams)); err != nil {
			return err
		}
	}
	for _, g := range b.grams {
		b.counts[g]++
	}
	sum := uint32(0)
	for g, n := range b.counts {
		b.counts[g] = sum
		sum += n
	}
	start := 0
	for doc, end := range b.ends {
		for _, g := range b.grams[start:end] {
			b.docs[b.counts[g]] = uint16(doc)
			b.counts[g]++
		}
		start = end
	}
	at := uint32(0)
	for g, end := range b.counts { // each count is now where the next gram begins
		if end > at {
			b.w.add(uint32(g), b.docs[at:end])
			at = end
		}
	}
	clear(b.counts)
	return nil
}

// release gives the memory back; the builder can be used again.
func (b *builder) release() {
	if b.grams != nil {
		release(b.grams)
	}
	if b.counts != nil {
		release(b.counts)
	}
	if b.docs != nil {
		release(b.docs)
	}
	*b = builder{}
}
