package index

import (
	"context"
	"math/bits"

	"toolcrib/tools/internal/background"
)

// Postings are sorted by the upper bits of their grams, and then by the lower ones: counters
// for each half fit into the CPU's cache, counters for each gram would not.
const (
	docBits  = 13 // maxDocs of them
	lowBits  = 12
	lowGrams = 1 << lowBits
	highs    = gramCount / lowGrams
	steps    = 8 // upper bits between two calls of Pace.Keep
)

// Values with the same upper bits are in chunks; the last value of a chunk is the start of the
// next chunk.
const (
	chunkSize = 512
	chunkEnd  = chunkSize - 1
)

// sorter puts postings in the order of their grams. The zero value holds none.
type sorter struct {
	room  []uint32      // of allocate: lower bits of a gram and document, in chunks
	used  uint32        // of room; there is nothing in the first chunk but its last value
	first [highs]uint32 // chunk, by upper bits
	next  [highs]uint32 // where the next one belongs; chunkEnd = there are none

	// Of those that share their upper bits.
	runs [][]uint32
	ends [lowGrams]uint32      // of each gram in docs; 0 = there are none
	lows [lowGrams / 64]uint64 // a bit for each gram that there is
	docs []uint16
}

// len returns how many postings there are, or a few more.
func (s *sorter) len() int { return int(s.used) }

// begin makes room for as many postings as a segment may have.
func (s *sorter) begin() error {
	if s.used > 0 {
		return nil
	}
	if s.room == nil {
		room, err := allocate[uint32](maxPostings + gramCount + chunkSize*(highs+1))
		if err != nil {
			return err
		}
		s.room = room
	}
	s.used = chunkSize
	for high := range s.next {
		s.next[high] = chunkEnd
	}
	return nil
}

// put adds grams of a document; documents must come in ascending order.
func (s *sorter) put(grams []uint32, doc uint32) {
	for _, g := range grams {
		high := g >> lowBits % highs
		at := s.next[high]
		if at%chunkSize == chunkEnd {
			at = s.more(high)
		}
		s.room[at] = g%lowGrams<<docBits | doc
		s.next[high] = at + 1
	}
}

// more begins another chunk.
func (s *sorter) more(high uint32) uint32 {
	fresh, at := s.used, s.next[high]
	s.used += chunkSize
	if at == chunkEnd {
		s.first[high] = fresh
	} else {
		s.room[at] = fresh
	}
	return fresh
}

// write passes all postings to w. The sorter is then empty.
func (s *sorter) write(ctx context.Context, pace *background.Pace, w *writer) error {
	for high := range s.next {
		if high%steps == 0 {
			if err := pace.Keep(ctx); err != nil {
				return err
			}
		}
		if s.next[high] != chunkEnd {
			s.collect(high)
			s.writeRuns(uint32(high)<<lowBits, w)
		}
	}
	s.used = 0
	return nil
}

// collect finds the postings with the same upper bits.
func (s *sorter) collect(high int) {
	s.runs = s.runs[:0]
	at, end := s.first[high], s.next[high]
	for ; end-at > chunkEnd; at = s.room[at+chunkEnd] {
		s.runs = append(s.runs, s.room[at:at+chunkEnd])
	}
	s.runs = append(s.runs, s.room[at:end])
}

// writeRuns writes the collected postings of the grams from first.
func (s *sorter) writeRuns(first uint32, w *writer) {
	n := 0
	for _, run := range s.runs {
		n += len(run)
		for _, p := range run {
			low := p >> docBits % lowGrams
			if s.ends[low] == 0 {
				s.lows[low/64] |= 1 << (low % 64)
			}
			s.ends[low]++
		}
	}
	sum := uint32(0)
	for word, lows := range s.lows {
		for ; lows != 0; lows &= lows - 1 {
			end := &s.ends[64*word+bits.TrailingZeros64(lows)]
			*end, sum = sum, sum+*end
		}
	}
	if len(s.docs) < n {
		s.docs = make([]uint16, 2*n)
	}
	docs := s.docs[:n]
	for _, run := range s.runs {
		for _, p := range run {
			at := &s.ends[p>>docBits%lowGrams]
			docs[*at] = uint16(p % maxDocs)
			*at++
		}
	}
	at := uint32(0)
	for word, lows := range s.lows {
		for ; lows != 0; lows &= lows - 1 {
			low := uint32(64*word + bits.TrailingZeros64(lows))
			w.add(first|low, docs[at:s.ends[low]])
			at, s.ends[low] = s.ends[low], 0
		}
		s.lows[word] = 0
	}
}

// release gives the memory back.
func (s *sorter) release() {
	if s.room != nil {
		release(s.room)
	}
}
