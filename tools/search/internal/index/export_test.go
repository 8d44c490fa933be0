package index

import (
	"bytes"
	"context"
	"slices"

	"toolcrib/tools/internal/background"
)

// Worker updates an index step by step.
type Worker struct{ w *worker }

// NewWorker returns a worker for an index that does not Run.
func NewWorker(x *Index) Worker {
	return Worker{newWorker(x)}
}

// Update reads what has changed.
func (w Worker) Update(ctx context.Context) error { return w.w.update(ctx) }

// Documents returns how many documents the segments have, dead ones too.
func (x *Index) Documents() int {
	n := 0
	for _, s := range x.segments {
		if s != nil {
			n += len(s.files)
		}
	}
	return n
}

// Marked returns the grams that mark tells to be fresh in each of some pieces of a text,
// and those that are by what the word means.
func Marked(pieces [][]byte) (got, want [][]uint32) {
	by := func(mark func(*[gramCount / 64]uint64, *alphabet, uint32, []byte, *[freshSize]uint32) (uint32, uint32, bool)) (all [][]uint32) {
		seen, of, window := new([gramCount / 64]uint64), symbols(), uint32(lineEnd)
		for _, p := range pieces {
			var fresh [freshSize]uint32
			var n uint32
			var high bool
			window, n, high = mark(seen, of, window, p, &fresh)
			all = append(all, append(slices.Clone(fresh[:n]), window))
			if high {
				all = append(all, nil)
			}
		}
		return all
	}
	plain := func(seen *[gramCount / 64]uint64, of *alphabet, window uint32, text []byte, fresh *[freshSize]uint32) (end, n uint32, high bool) {
		for _, c := range text {
			window = shift(window, of[c])
			high = high || c >= 0x80
			if g := gram(window); seen[g/64]>>(g%64)&1 == 0 {
				seen[g/64] |= 1 << (g % 64)
				fresh[n] = g
				n++
			}
		}
		return window, n, high
	}
	return by(mark), by(plain)
}

// Grams returns the grams of each of some documents, which are read one after the other,
// and those that they have by what a gram is.
func Grams(texts [][]byte) (got, want [][]uint32) {
	of := symbols()
	x := newExtractor(of, background.NewPace(nil))
	defer x.close()
	for _, text := range texts {
		x.text = extract{}
		x.begin(0)
		x.add(x.add(lineEnd, text), []byte{'\n'})
		x.finish()
		slices.Sort(x.text.grams)
		got = append(got, x.text.grams)
		var grams []uint32
		text = append(slices.Clone(text), '\n')
		for at := range max(len(text)-gramLen, 0) {
			if !bytes.Contains(text[at:at+gramLen], []byte{'\n'}) {
				window := uint32(0)
				for _, c := range text[at : at+gramLen+1] {
					window = shift(window, of[c])
				}
				grams = append(grams, gram(window))
			}
		}
		slices.Sort(grams)
		want = append(want, slices.Compact(grams))
	}
	return got, want
}

// Written builds a segment of documents of some grams, and returns the documents of each
// gram by both ways of reading it.
func Written(ctx context.Context, grams [][]uint32) (listed, marked map[uint32][]uint16, err error) {
	b := builder{pace: background.NewPace(nil)}
	defer b.release()
	for i, g := range grams {
		if err := b.add(ctx, uint32(i), &extract{grams: g, docs: []document{{grams: len(g)}}}); err != nil {
			return nil, nil, err
		}
	}
	s, err := b.finish(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer release(s.bytes)
	listed, marked = map[uint32][]uint16{}, map[uint32][]uint16{}
	for c := (cursor{s: s}); c.step(); {
		listed[c.gram] = appendDocs(nil, c.postings)
		docs := newBitmap(len(grams))
		docs.mark(c.postings, nil)
		for doc := range grams {
			if docs.has(doc) {
				marked[c.gram] = append(marked[c.gram], uint16(doc))
			}
		}
	}
	return listed, marked, nil
}
