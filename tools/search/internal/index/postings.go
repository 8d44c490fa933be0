package index

import (
	"encoding/binary"
	"math/bits"
)

// The documents of a gram are numbers from 0 in ascending order, written in one of two forms:
//   - a single one below 1<<16 as its two bytes,
//   - their gaps in Rice's code: four bits say how many low bits of a gap are written as
//     they are, the rest of it is as many zeros before a one. With no low bits that is a
//     bitmap. Zeros fill the last byte.
// A length of two distinguishes them.

const (
	riceBits = 4 // that say how many low bits there are
	maxRice  = 14
	slack    = 8 // bytes that must be readable behind postings
)

// scratch is room for the postings of a gram: they are no longer than a bitmap of maxDocs.
type scratch [256]uint64

// appendPostings writes the documents of a gram, by way of words.
func appendPostings(to []byte, docs []uint16, words *scratch) []byte {
	if len(docs) == 1 {
		return binary.LittleEndian.AppendUint16(to, docs[0])
	}
	low, size := riceFor(docs)
	if low == 0 {
		words.putBits(docs)
	} else {
		size = words.putGaps(docs, low)
	}
	length := len(to) + (size+7)/8
	if length == len(to)+2 {
		length++
	}
	for _, word := range words[:(size+63)/64] {
		to = binary.LittleEndian.AppendUint64(to, word)
	}
	return to[:length]
}

// putBits writes postings without low bits.
func (words *scratch) putBits(docs []uint16) {
	word, n := uint64(0), uint(0) // the n-th
	for _, d := range docs {
		bit := riceBits + uint(d)
		for ; n < bit/64; n++ {
			words[n%uint(len(words))] = word
			word = 0
		}
		word |= 1 << (bit % 64)
	}
	words[n%uint(len(words))] = word
}

// putGaps writes postings with some low bits, and returns how many bits they have.
func (words *scratch) putGaps(docs []uint16, low uint) (size int) {
	word, used, n := uint64(low), uint(riceBits), uint(0) // the n-th, so many bits of it
	mask := uint(1)<<(low%64) - 1
	next := uint(0)
	for _, d := range docs {
		gap := uint(d) - next
		next = uint(d) + 1
		for used += gap >> (low % 64); used >= 64; used -= 64 {
			words[n%uint(len(words))] = word
			word = 0
			n++
		}
		code := uint64(1 | gap&mask<<1)
		word |= code << (used % 64)
		if used += 1 + low; used >= 64 {
			used -= 64
			words[n%uint(len(words))] = word
			word = code >> ((1 + low - used) % 64)
			n++
		}
	}
	words[n%uint(len(words))] = word
	return int(64*n + used)
}

// riceFor returns a good number of low bits for the gaps of docs, and no fewer bits than
// the postings have then.
func riceFor(docs []uint16) (low uint, size int) {
	n, bitmap := uint32(len(docs)), riceBits+int(docs[len(docs)-1])+1
	low = uint(min(max(bits.Len32(uint32(bitmap-riceBits)/n)-1, 0), maxRice))
	size = riceBits + len(docs)*int(low+1) + (bitmap-riceBits-len(docs))>>low
	if size >= bitmap {
		return 0, bitmap
	}
	return low, size
}

// lowBitsOf returns how many low bits the gaps of postings have.
func lowBitsOf(postings []byte) byte { return postings[0] & (1<<riceBits - 1) }

// appendDocs appends the documents of a gram to to. slack bytes after the postings must be
// readable.
func appendDocs(to []uint16, postings []byte) []uint16 {
	if len(postings) == 2 {
		return append(to, binary.LittleEndian.Uint16(postings))
	}
	data := postings[:len(postings)+slack]
	k := uint(lowBitsOf(postings))
	end := uint(len(postings)) * 8
	for at, doc := uint(riceBits), uint(0); ; doc++ {
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

// mark sets the bits of the documents of a gram. It may overwrite room.
func (b bitmap) mark(postings []byte, room []uint16) (used []uint16) {
	if len(postings) != 2 && lowBitsOf(postings) == 0 {
		b.markBits(postings)
		return room
	}
	room = appendDocs(room[:0], postings)
	for _, d := range room {
		b[d/64] |= 1 << (d % 64)
	}
	return room
}

// markBits is mark for postings without low bits.
func (b bitmap) markBits(postings []byte) {
	word := 0
	for ; len(postings) > 8; postings = postings[8:] {
		b[word] |= binary.LittleEndian.Uint64(postings)>>riceBits | uint64(postings[8])<<(64-riceBits)
		word++
	}
	var rest [8]byte
	copy(rest[:], postings)
	if word < len(b) {
		b[word] |= binary.LittleEndian.Uint64(rest[:]) >> riceBits
	}
}

func (b bitmap) has(doc int) bool { return b[doc/64]&(1<<(doc%64)) != 0 }

func (b bitmap) set(doc int) { b[doc/64] |= 1 << (doc % 64) }

// any reports whether b has one of the n documents from first.
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
