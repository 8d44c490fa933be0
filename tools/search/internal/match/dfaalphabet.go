package match

import (
	"slices"
	"unicode/utf8"
)

// maxSignatures bounds the work of telling runes apart, in bits: intervals of
// runes times sets of runes.
const maxSignatures = 1 << 26

// alphabet maps runes, and the bytes that spell them, to classes: what an
// automaton treats alike has one class.
type alphabet struct {
	starts []rune     // where intervals of runes of one class begin, ascending from 0
	class  []uint16   // of each interval
	bytes  [256]uint8 // class of each byte; LF and CR have one each
	sample []byte     // a byte of each class of bytes
}

// bitset is a set of small numbers.
type bitset []uint64

func newBitset(size int) bitset    { return make(bitset, (size+63)/64) }
func (b bitset) has(i uint16) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitset) add(i int)         { b[i>>6] |= 1 << (i & 63) }

// newAlphabet returns the coarsest alphabet that tells the given sets of runes
// apart (pairs of first and last, ascending), and for each set its classes. It
// returns nil if that takes too much work.
func newAlphabet(sets [][]rune) (*alphabet, []bitset) {
	starts := []rune{0}
	for _, set := range sets {
		for i := 0; i < len(set); i += 2 {
			starts = append(starts, set[i], set[i+1]+1)
		}
	}
	slices.Sort(starts)
	starts = slices.Compact(starts)
	if starts[len(starts)-1] > utf8.MaxRune {
		starts = starts[:len(starts)-1]
	}
	if len(starts)*len(sets) > maxSignatures {
		return nil, nil
	}
	signatures := make([][]byte, len(starts)) // which sets an interval belongs to
	for i := range signatures {
		signatures[i] = make([]byte, (len(sets)+7)/8)
	}
	for n, set := range sets {
		for i := 0; i < len(set); i += 2 {
			at, _ := slices.BinarySearch(starts, set[i])
			for ; at < len(starts) && starts[at] <= set[i+1]; at++ {
				signatures[at][n/8] |= 1 << (n % 8)
			}
		}
	}
	a := &alphabet{}
	classes := map[string]uint16{}
	var known [][]byte
	for i, signature := range signatures {
		class, ok := classes[string(signature)]
		if !ok {
			if len(known) > 1<<16-1 {
				return nil, nil
			}
			class = uint16(len(known))
			classes[string(signature)] = class
			known = append(known, signature)
		}
		if n := len(a.class); n == 0 || a.class[n-1] != class {
			a.starts, a.class = append(a.starts, starts[i]), append(a.class, class)
		}
	}
	members := make([]bitset, len(sets))
	for n := range members {
		members[n] = newBitset(len(known))
		for class, signature := range known {
			if signature[n/8]>>(n%8)&1 != 0 {
				members[n].add(class)
			}
		}
	}
	a.splitBytes()
	return a, members
}

// of returns the class of a rune.
func (a *alphabet) of(r rune) uint16 { return a.class[a.interval(r)] }

func (a *alphabet) interval(r rune) int {
	i, found := slices.BinarySearch(a.starts, r)
	if !found {
		i--
	}
	return i
}

// splitBytes fills in the classes of bytes. Beyond ASCII two bytes share a class
// if they are neighbours that no encoding of the start of an interval, and no rule
// of UTF-8, tells apart.
func (a *alphabet) splitBytes() {
	var split [257]bool
	for _, b := range []byte{0x80, 0x90, 0xa0, 0xc0, 0xc2, 0xe0, 0xe1, 0xed, 0xee, 0xf0, 0xf1, 0xf4, 0xf5} {
		split[b] = true
	}
	for _, r := range a.starts {
		if r < utf8.RuneSelf || !utf8.ValidRune(r) {
			continue // between the halves of surrogate pairs no text can tell
		}
		code := utf8.AppendRune(nil, r)
		for i, b := range code {
			split[b] = true
			if i < len(code)-1 {
				split[int(b)+1] = true
			}
		}
	}
	ascii := map[int]uint8{}
	for b := range 256 {
		key := -b // its own
		if b < utf8.RuneSelf && b != '\n' && b != '\r' {
			key = int(a.of(rune(b))) + 1
		}
		class, ok := ascii[key]
		switch {
		case b >= utf8.RuneSelf && !split[b]:
			class = a.bytes[b-1]
		case !ok:
			class = uint8(len(a.sample))
			ascii[key] = class
			a.sample = append(a.sample, byte(b))
		}
		a.bytes[b] = class
	}
}

// partial is the beginning of the encoding of a rune, or a CR of which is not
// known yet whether it belongs to the line ending. The zero value is nothing.
type partial struct {
	size   uint8 // bytes that were read
	left   uint8 // bytes still wanted; 0 for a CR
	lo, hi byte  // range of the next byte
	known  bool  // every rune that can come of it has the same class
	class  uint16
	bits   rune // of the rune, so far; 0 where known
}

// pendingCR is a CR whose next byte is not known.
var pendingCR = partial{size: 1}

// lead begins a rune with byte b; it returns false if no rune begins so.
func (a *alphabet) lead(b byte) (partial, bool) {
	p := partial{size: 1, lo: 0x80, hi: 0xbf}
	switch {
	case 0xc2 <= b && b <= 0xdf:
		p.left, p.bits = 1, rune(b&0x1f)
	case 0xe0 <= b && b <= 0xef:
		p.left, p.bits = 2, rune(b&0x0f)
	case 0xf0 <= b && b <= 0xf4:
		p.left, p.bits = 3, rune(b&0x07)
	default:
		return partial{}, false
	}
	switch b { // no surrogates, nothing too long and nothing too large
	case 0xe0:
		p.lo = 0xa0
	case 0xed:
		p.hi = 0x9f
	case 0xf0:
		p.lo = 0x90
	case 0xf4:
		p.hi = 0x8f
	}
	return a.settle(p), true
}

// extend adds byte b, which p allows.
func (a *alphabet) extend(p partial, b byte) partial {
	p.size++
	p.left--
	p.lo, p.hi = 0x80, 0xbf
	if p.known {
		return p
	}
	p.bits = p.bits<<6 | rune(b&0x3f)
	if p.left == 0 {
		p.class = a.of(p.bits)
		return p
	}
	return a.settle(p)
}

// settle sets the class of p if it is known.
func (a *alphabet) settle(p partial) partial {
	rest := 6 * (p.left - 1)
	first := (p.bits<<6 | rune(p.lo&0x3f)) << rest
	last := (p.bits<<6|rune(p.hi&0x3f))<<rest | (1<<rest - 1)
	if i := a.interval(first); i == a.interval(last) {
		p.known, p.class, p.bits = true, a.class[i], 0
	}
	return p
}
