package match

import (
	"math"
	"math/bits"

	"golang.org/x/sys/cpu"
)

// buckets is the number of bits of a byte.
const buckets = 8

// teddy finds several literals at once: where the next bytes of a text are those
// of a fingerprint, the literals of its bucket are compared. A fingerprint is told
// by its half bytes, for which one instruction looks up 32 at a time.
type teddy struct {
	buckets [buckets][]needle
	// nibbles are the buckets that allow the lower and the upper half of a byte at
	// each place of the fingerprint.
	nibbles [window][2][16]uint8
	short   []needle // those that have fewer bytes than the window
}

// newTeddy prepares the search for literals, nil if the processor cannot do it.
func newTeddy(literals []literal) *teddy {
	if !cpu.X86.HasAVX2 {
		return nil
	}
	t := &teddy{}
	var all [buckets]fingerprint
	for _, l := range literals {
		n := needle{literal: l, start: rarest(l.text)}
		if len(l.text) < window {
			t.short = append(t.short, n)
		}
		var own fingerprint
		own.allow(0, l.text[n.start:], l.fold)
		best, least := 0, math.Inf(1)
		for i := range all {
			if more := all[i].union(own).frequency() - all[i].frequency(); more < least {
				best, least = i, more
			}
		}
		all[best] = all[best].union(own)
		t.buckets[best] = append(t.buckets[best], n)
	}
	for bucket, f := range all {
		for place, halves := range f {
			for half, nibbles := range halves {
				for ; nibbles != 0; nibbles &= nibbles - 1 {
					t.nibbles[place][half][bits.TrailingZeros16(nibbles)] |= 1 << bucket
				}
			}
		}
	}
	return t
}

// rarest returns where in text the rarest bytes for a window start.
func rarest(text string) int {
	best, at := 0, 0
	for i := 0; i+window <= len(text); i++ {
		sum := 0
		for _, c := range []byte(text[i : i+window]) {
			sum += rarity(c)
		}
		if sum > best {
			best, at = sum, i
		}
	}
	return at
}

// fingerprint is the sets of lower and upper half bytes allowed at each place of a
// window.
type fingerprint [window][2]uint16

// allow lets the spellings of text through, from a place of the window to its end.
func (f *fingerprint) allow(place int, text string, fold bool) {
	if place >= window {
		return
	}
	if text == "" {
		f[place] = [2]uint16{math.MaxUint16, math.MaxUint16}
		f.allow(place+1, "", fold)
		return
	}
	c := text[0]
	f.allowByte(place, c)
	if fold && isLetter(c) {
		f.allowByte(place, c-'a'+'A')
	}
	f.allow(place+1, text[1:], fold)
	if long := longer(c); fold && long != "" {
		for i := place; i < min(place+len(long), window); i++ {
			f.allowByte(i, long[i-place])
		}
		f.allow(place+len(long), text[1:], fold)
	}
}

func (f *fingerprint) allowByte(place int, c byte) {
	f[place][0] |= 1 << (c & 15)
	f[place][1] |= 1 << (c >> 4)
}

// union returns what either of two fingerprints allows, and what their half bytes
// put together do.
func (f fingerprint) union(g fingerprint) fingerprint {
	for place := range f {
		f[place][0] |= g[place][0]
		f[place][1] |= g[place][1]
	}
	return f
}

// frequency estimates how often the fingerprint is found at a position of a text.
func (f fingerprint) frequency() float64 {
	product := 1.0
	for _, halves := range f {
		if halves == [2]uint16{math.MaxUint16, math.MaxUint16} {
			continue
		}
		sum := 0.0
		for upper := halves[1]; upper != 0; upper &= upper - 1 {
			for lower := halves[0]; lower != 0; lower &= lower - 1 {
				c := bits.TrailingZeros16(upper)<<4 | bits.TrailingZeros16(lower)
				sum += 1 / float64(int(1)<<rarity(byte(c)))
			}
		}
		product *= sum
	}
	return product
}

// index returns where in text, of at least vector+window-1 bytes, the window of the first
// literal starts, -1 if there is none.
func (t *teddy) index(text []byte) int {
	n := len(text) - window + 1
	for from := 0; from < n; from++ {
		if from = teddyAVX2(&text[0], from, n, &t.nibbles); from < 0 {
			break
		}
		for allowed := t.allowed(text[from:]); allowed != 0; allowed &= allowed - 1 {
			for i := range t.buckets[bits.TrailingZeros8(allowed)] {
				if t.buckets[bits.TrailingZeros8(allowed)][i].at(text, from) {
					return from
				}
			}
		}
	}
	for from := n; from < len(text); from++ {
		for i := range t.short {
			if t.short[i].at(text, from) {
				return from
			}
		}
	}
	return -1
}

// allowed returns the buckets that allow the first bytes of text.
func (t *teddy) allowed(text []byte) uint8 {
	allowed := ^uint8(0)
	for place, c := range text[:window] {
		allowed &= t.nibbles[place][0][c&15] & t.nibbles[place][1][c>>4]
	}
	return allowed
}

// teddyAVX2 returns the first i with from <= i < n where the nibbles of text[i:]
// have a bucket in common, or -1. Needs n >= vector and from <= n, and reads text
// up to n+window-1.
//
//go:noescape
func teddyAVX2(text *byte, from, n int, nibbles *[window][2][16]uint8) int
