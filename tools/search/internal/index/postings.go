package index

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// The documents of a gram are numbers from 0 in ascending order, written in one of
// three forms:
//   - a single one below 1<<16 as its two bytes,
//   - a bitmap of all documents of the segment behind a byte bitmapForm,
//   - their gaps in Rice's code: four bits say how many low bits of a gap are written as
//     they are, the rest of it is as many zeros before a one. Zeros fill the last byte.
// The first two are told from the last by a length of two and by the first byte.

const (
	bitmapForm = 0x0f
	maxRice    = 14
	slack      = 8 // bytes that must be readable behind postings
)

// appendPostings writes the documents of a gram in a segment of n documents.
func appendPostings(to []byte, docs []uint16, n int) []byte {
	if len(docs) == 1 {
		return binary.LittleEndian.AppendUint16(to, docs[0])
	}
	k, size := riceFor(docs)
	if words := (n + 63) / 64; size >= 8+64*words {
		at := len(to) + 1
		to = append(to, bitmapForm)
		for range words {
			to = binary.LittleEndian.AppendUint64(to, 0)
		}
		for _, d := range docs {
			to[at+int(d/8)] |= 1 << (d % 8)
		}
		return to
	}
	start := len(to)
	to = slices.Grow(to, size/8+2*slack)[:start+size/8+2*slack]
	at := start
	word, used := uint64(k), uint(4) // bits of word are written from the low end, whole bytes at once
	low, next := uint(k)%64, uint(0)
	mask := uint(1)<<low - 1
	for _, d := range docs {
		gap := uint(d) - next
		next = uint(d) + 1
		zeros := gap >> low
		for ; zeros >= 32; zeros -= 32 {
			word, used, at = put(to, at, word, used+32)
		}
		used += zeros
		word |= uint64(1|gap&mask<<1) << (used % 64)
		word, used, at = put(to, at, word, used+1+low)
	}
	binary.LittleEndian.PutUint64(to[at:], word)
	length := at - start + int(used+7)/8
	if length == 2 {
		length = 3
	}
	return to[:start+length]
}

// put writes the lowest bits of word, so many as are used, to where at is in to. It returns
// what of them is left: less than a byte, to be written at the new place.
func put(to []byte, at int, word uint64, used uint) (rest uint64, left uint, place int) {
	binary.LittleEndian.PutUint64(to[at:], word)
	return word >> (used &^ 7 % 64), used % 8, at + int(used/8)
}

// riceFor returns a good number of low bits for the gaps of docs, and no fewer bits than
// the postings have then.
func riceFor(docs []uint16) (k, size int) {
	n, last := uint32(len(docs)), uint32(docs[len(docs)-1])+1
	k = min(max(bits.Len32(last/n)-1, 0), maxRice)
	return k, 4 + len(docs)*(k+1) + int(last-n)>>k
}

// appendDocs returns the documents of a gram behind those of to. Behind the postings,
// slack bytes can be read.
func appendDocs(to []uint16, postings []byte) []uint16 {
	switch {
	case len(postings) == 2:
		return append(to, binary.LittleEndian.Uint16(postings))
	case postings[0] == bitmapForm:
		for at := 1; at < len(postings); at += 8 {
			for word := binary.LittleEndian.Uint64(postings[at:]); word != 0; word &= word - 1 {
				to = append(to, uint16(8*(at-1)+bits.TrailingZeros64(word)))
			}
		}
		return to
	}
	data := postings[:len(postings)+slack]
	k := uint(postings[0] & 0xf)
	end := uint(len(postings)) * 8
	for at, doc := uint(4), uint(0); ; doc++ {
		zeros := uint(0)
		word := binary.LittleEndian.Uint64(data[at/8:]) >> (at % 8)
		for word == 0 {
			step := 64 - at%8
			zeros += step
			if at += step; at >= end {
				return to
			}
			word = binary.LittleEndian.Uint64(data[at/8:])
		}
		run := uint(bits.TrailingZeros64(word))
		if at += run + 1; at > end {
			return to
		}
		doc += (zeros+run)<<k | uint(binary.LittleEndian.Uint64(data[at/8:])>>(at%8)&(1<<k-1))
		at += k
		to = append(to, uint16(doc))
	}
}

// bitmap has a bit for each document of a segment.
type bitmap []uint64

func newBitmap(docs int) bitmap { return make(bitmap, (docs+63)/64) }

// mark sets the bits of the documents of a gram. room is what may be overwritten.
func (b bitmap) mark(postings []byte, room []uint16) (used []uint16) {
	if len(postings) > 2 && postings[0] == bitmapForm {
		for i := range b {
			b[i] |= binary.LittleEndian.Uint64(postings[1+8*i:])
		}
		return room
	}
	room = appendDocs(room[:0], postings)
	for _, d := range room {
		b[d/64] |= 1 << (d % 64)
	}
	return room
}

func (b bitmap) has(doc int) bool { return b[doc/64]&(1<<(doc%64)) != 0 }

func (b bitmap) set(doc int) { b[doc/64] |= 1 << (doc % 64) }

// any reports whether b has one of n documents.
func (b bitmap) any(first, n int) bool {
	for doc := range n {
		if b.has(first + doc) {
			return true
		}
	}
	return false
}

func (b bitmap) and(other bitmap) {
	for i := range b {
		b[i] &= other[i]
	}
}

func (b bitmap) or(other bitmap) {
	for i := range b {
		b[i] |= other[i]
	}
}

func (b bitmap) count() int {
	n := 0
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}
