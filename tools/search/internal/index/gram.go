package index

import (
	"slices"
	"strings"

	"toolcrib/tools/search/internal/match"
)

// A text is a sequence of symbols of 7 bits; several bytes may share one. A gram is
// three symbols of a line and the upper bit of the fourth, which may be the end of the
// line: more selective than three symbols, and far fewer than four.
const (
	symbolBits = 7
	gramBits   = 3*symbolBits + 1
	gramCount  = 1 << gramBits
	gramLen    = 3 // symbols that are whole in a gram
	halfBit    = 1 << (symbolBits - 1)
	highBytes  = 16 // symbols for the bytes that are not ASCII
)

// lineEnd is the symbol of a line feed, and of the start and end of a text.
const lineEnd = 0

// byFrequency are the bytes of source code, about the frequent ones first. Dealt out in
// that order, each half of the symbols has half of the text, and the bytes that mostly end
// a name share a half with the space, but not with _.
const byFrequency = " etaoirnsl_cdupmfgh0,xb1()kv;.w-*>=2y/3\"{}4:&85[]67+9q|jz#!<%\\'@$?^~`"

// A window is the last four symbols of a text in the upper bits of a word, the last one
// lowest: older symbols are shifted out, and the gram is the bits above gramShift.
const (
	windowShift = 32 - 4*symbolBits
	gramShift   = 32 - gramBits
)

// alphabet has the symbol of each byte, at the place of the last one in a window.
type alphabet [256]uint32

// symbols returns the symbol of each byte. Space is one symbol, so are two digits that
// follow each other: numbers make many grams that nobody asks for. Both cases of a letter
// are in the same half.
func symbols() *alphabet {
	var of alphabet
	next := [2]uint32{lineEnd + 1, halfBit}
	deal := func(half int, group ...byte) {
		for _, c := range group {
			of[c] = next[half] << windowShift
		}
		next[half]++
	}
	turn := 0
	for _, c := range []byte(byFrequency) {
		half := (turn + 1) / 2 % 2 // 0 1 1 0 0 1 1 0
		switch {
		case c == ' ':
			deal(half, ' ', '\t', '\r', '\v', '\f')
		case '0' <= c && c <= '9' && c%2 == 1:
			continue // with the digit before it
		case '0' <= c && c <= '9':
			deal(half, c, c+1)
		default:
			deal(half, c)
			if 'a' <= c && c <= 'z' {
				deal(half, c-'a'+'A')
			}
		}
		turn++
	}
	var control []byte
	for c := range 256 {
		if of[c] == 0 && c != '\n' && c < 0x80 {
			control = append(control, byte(c))
		}
	}
	deal(0, control...)
	for low := range highBytes {
		var group []byte
		for c := 0x80 + low; c < 0x100; c += highBytes {
			group = append(group, byte(c))
		}
		deal(low%2, group...)
	}
	return &of
}

// shift appends a symbol to a window.
func shift(window, symbol uint32) uint32 { return window<<symbolBits | symbol }

// gram returns the gram of the last four symbols.
func gram(window uint32) uint32 { return window >> gramShift }

// outsideLine returns, of the 64 grams from 64*word, those in which one of the three symbols
// is the end of a line: no literal needs them.
func outsideLine(word int) uint64 {
	const mask = 1<<symbolBits - 1
	third := word << 5 & mask // of the first gram; two grams have the same
	switch {
	case word>>(2*symbolBits-5) == lineEnd, word>>(symbolBits-5)&mask == lineEnd:
		return ^uint64(0)
	case third == lineEnd:
		return 0b11
	}
	return 0
}

// gramsOf returns the alternative grams for each position in a literal: a text with the
// literal has one of them there. It returns nil for a literal that is too short.
func gramsOf(of *alphabet, l match.Literal) [][]uint32 {
	var all [][]uint32
	for at := 0; at+gramLen <= len(l.Text); at++ {
		piece, next := l.Text[at:at+gramLen], l.Text[at+gramLen:]
		if strings.Contains(piece, "\n") {
			continue
		}
		windows := []uint32{0}
		for _, c := range []byte(piece) {
			windows = spell(windows, of, c, l.Fold)
		}
		var grams []uint32
		for _, w := range windows {
			if next != "" && next[0] != '\n' { // both cases of a letter are in one half
				grams = append(grams, gram(shift(w, of[next[0]])))
			} else {
				grams = append(grams, gram(shift(w, 0)), gram(shift(w, halfBit<<windowShift)))
			}
		}
		slices.Sort(grams)
		all = append(all, slices.Compact(grams))
	}
	return all
}

// spell appends the spellings of a byte to each of the windows.
func spell(windows []uint32, of *alphabet, c byte, fold bool) []uint32 {
	var out []uint32
	for _, w := range windows {
		out = append(out, shift(w, of[c]))
		if fold && 'a' <= c && c <= 'z' {
			out = append(out, shift(w, of[c-'a'+'A']))
		}
	}
	return out
}
