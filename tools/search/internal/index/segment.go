package index

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// segment is an immutable inverted index of some documents, which are numbers from 0.
//
// Its bytes are heads, dictionary and postings. The grams are in ascending order, in
// blocks of blockGrams; a head has of its block the first gram and where the dictionary
// and the postings of it begin, four bytes each. The dictionary has for each gram the
// distance to the one before it in its block and the length of its postings, both as
// varints; the postings are in the same order.
type segment struct {
	bytes []byte   // of allocate; slack behind the postings
	grams int      // how many
	files []uint32 // the file that each document is, or is a part of
	parts []part   // of the files that are several documents, by document
}

// part is a document that is a part of a file. It is of whole lines.
type part struct {
	doc   uint16
	begin uint32 // in the file
}

const (
	blockGrams = 32
	headSize   = 12
)

// partsOf returns the parts of a file whose first document is doc, of docs in all.
func partsOf(parts []part, doc, docs int) []part {
	at, _ := slices.BinarySearchFunc(parts, doc, func(p part, doc int) int { return cmp.Compare(int(p.doc), doc) })
	return parts[at : at+docs]
}

// spread adds to documents the other parts of the same files.
func (s *segment) spread(docs bitmap) {
	for rest := s.parts; len(rest) > 0; {
		first := rest[0].doc
		n := 1
		for n < len(rest) && s.files[rest[n].doc] == s.files[first] {
			n++
		}
		rest = rest[n:]
		if docs.any(int(first), n) {
			for d := range n {
				docs.set(int(first) + d)
			}
		}
	}
}

func (s *segment) blocks() int { return (s.grams + blockGrams - 1) / blockGrams }

// find returns the postings of a gram, nil if no document has it.
func (s *segment) find(g uint32) []byte {
	low, high := 0, s.blocks() // the block is the last before high that begins at g or before
	for low < high {
		if middle := (low + high) / 2; binary.LittleEndian.Uint32(s.bytes[middle*headSize:]) <= g {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return nil
	}
	c := cursor{s: s, next: (low - 1) * blockGrams}
	for c.step() && c.gram <= g {
		if c.gram == g {
			return c.postings
		}
	}
	return nil
}

// cursor goes over the grams of a segment.
type cursor struct {
	s        *segment
	next     int // index of the next gram; the first one is that of a block
	gram     uint32
	postings []byte
	entry    int // where the dictionary goes on
	data     int // where the postings of the next gram begin
}

// step goes to the next gram and reports whether there is one.
func (c *cursor) step() bool {
	if c.next == c.s.grams {
		return false
	}
	b := c.s.bytes
	if c.next%blockGrams == 0 {
		head := b[c.next/blockGrams*headSize:]
		c.gram = binary.LittleEndian.Uint32(head)
		c.entry = int(binary.LittleEndian.Uint32(head[4:]))
		c.data = int(binary.LittleEndian.Uint32(head[8:]))
	}
	c.next++
	c.gram += c.varint()
	size := int(c.varint())
	c.postings = b[c.data : c.data+size : c.data+size+slack]
	c.data += size
	return true
}

func (c *cursor) varint() uint32 {
	v := uint32(c.s.bytes[c.entry])
	c.entry++
	if v < 0x80 {
		return v
	}
	v &= 0x7f
	for up := 7; ; up += 7 {
		more := c.s.bytes[c.entry]
		c.entry++
		v |= uint32(more&0x7f) << up
		if more < 0x80 {
			return v
		}
	}
}

// writer makes a segment of grams that come in ascending order.
type writer struct {
	grams      int
	last       uint32
	words      scratch
	heads      []byte
	dictionary []byte
	postings   []byte
}

// add writes a gram and its documents.
func (w *writer) add(g uint32, docs []uint16) {
	if w.grams%blockGrams == 0 {
		w.heads = binary.LittleEndian.AppendUint32(w.heads, g)
		w.heads = binary.LittleEndian.AppendUint32(w.heads, uint32(len(w.dictionary)))
		w.heads = binary.LittleEndian.AppendUint32(w.heads, uint32(len(w.postings)))
		w.last = g
	}
	start := len(w.postings)
	w.postings = appendPostings(w.postings, docs, &w.words)
	w.dictionary = binary.AppendUvarint(w.dictionary, uint64(g-w.last))
	w.dictionary = binary.AppendUvarint(w.dictionary, uint64(len(w.postings)-start))
	w.last = g
	w.grams++
}

// size is how many bytes the segment will have.
func (w *writer) size() int { return len(w.heads) + len(w.dictionary) + len(w.postings) + slack }

// segment returns the written segment; the writer can then begin another.
func (w *writer) segment(files []uint32, parts []part) (*segment, error) {
	b, err := allocate[byte](w.size())
	if err != nil {
		return nil, err
	}
	entries := len(w.heads)
	data := entries + len(w.dictionary)
	for head := w.heads; len(head) > 0; head = head[headSize:] {
		add(head[4:], entries)
		add(head[8:], data)
	}
	copy(b, w.heads)
	copy(b[entries:], w.dictionary)
	copy(b[data:], w.postings)
	s := &segment{bytes: b, grams: w.grams, files: files, parts: parts}
	w.grams, w.last, w.heads, w.dictionary, w.postings = 0, 0, w.heads[:0], w.dictionary[:0], w.postings[:0]
	return s, nil
}

func add(to []byte, n int) {
	binary.LittleEndian.PutUint32(to, binary.LittleEndian.Uint32(to)+uint32(n))
}
