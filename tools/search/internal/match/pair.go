package match

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// pair finds a text by its two rarest bytes at their distance, many places at a
// time; the other bytes are compared only where both are found.
type pair struct {
	length int     // bytes of the text
	probes []probe // at least two, the rarest bytes first
}

// probe is one byte of the text: it is found at i where text[i+offset]|or == want.
// pairAVX2 knows this layout.
type probe struct {
	offset uint16
	or     byte // the bit in which the cases of a letter differ, or 0
	want   byte
}

// newPair prepares the search for text, which has 1 to 65,536 bytes. Folded, its
// letters are lower case and match both cases.
func newPair(text string, fold bool) pair {
	p := pair{length: len(text)}
	for i := range len(text) {
		b := probe{offset: uint16(i), want: text[i]}
		if fold && isLetter(text[i]) {
			b.or = 'a' - 'A'
		}
		p.probes = append(p.probes, b)
	}
	repeats := func(b probe) bool { return strings.IndexByte(text, b.want) < int(b.offset) }
	slices.SortStableFunc(p.probes, func(a, b probe) int {
		// A byte that was there before tells little more.
		switch again := repeats(a); {
		case again == repeats(b):
			return cmp.Compare(rarity(b.want), rarity(a.want))
		case again:
			return 1
		}
		return -1
	})
	if len(p.probes) == 1 {
		p.probes = append(p.probes, p.probes[0])
	}
	return p
}

// indexPortable is index without the instructions of any one processor.
func (p *pair) indexPortable(text []byte, from int) int {
	n := len(text) - p.length + 1 // places where the text can start
	if from >= n {
		return -1
	}
	first, second := p.probes[0], p.probes[1]
	if first.or == 0 {
		// A vectorised search for one byte is the fastest as long as it rarely stops.
		part := text[first.offset:][:n]
		for start, stops := from, 0; stops*64 <= from-start+512; stops++ {
			i := bytes.IndexByte(part[from:], first.want)
			if i < 0 {
				return -1
			}
			if from += i; p.at(text, from) {
				return from
			}
			from++
		}
	}
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	or1, want1 := ones*uint64(first.or), ones*uint64(first.want)
	or2, want2 := ones*uint64(second.or), ones*uint64(second.want)
	text1, text2 := text[first.offset:], text[second.offset:]
	for ; from+8 <= n; from += 8 {
		// A byte of x is 0 where both probes are found. The bit of such a byte is set in
		// found, and perhaps those of bytes above it.
		x := (binary.LittleEndian.Uint64(text1[from:]) | or1) ^ want1 |
			(binary.LittleEndian.Uint64(text2[from:]) | or2) ^ want2
		for found := (x - ones) &^ x & highs; found != 0; found &= found - 1 {
			if i := from + bits.TrailingZeros64(found)/8; p.at(text, i) {
				return i
			}
		}
	}
	for ; from < n; from++ {
		if p.at(text, from) {
			return from
		}
	}
	return -1
}

// at reports whether the text is at i, where there is room for it.
func (p *pair) at(text []byte, i int) bool {
	for _, b := range p.probes {
		if text[i+int(b.offset)]|b.or != b.want {
			return false
		}
	}
	return true
}
