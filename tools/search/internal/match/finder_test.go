package match

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools/internal/tooltest"
)

// occurrence reports whether a literal of at most Reach bytes starts at text[i],
// and where it ends. It knows folding from package strings.
func occurrence(text []byte, i int, l literal) (end int, ok bool) {
	if !l.fold {
		return i + len(l.text), bytes.HasPrefix(text[i:], []byte(l.text))
	}
	if text[i] < 0x80 && lower(text[i]) != l.text[0] {
		return 0, false
	}
	for end := i + len(l.text); end <= min(len(text), i+3*len(l.text)); end++ {
		if strings.EqualFold(string(text[i:end]), l.text) {
			return end, true
		}
	}
	return 0, false
}

// checkFinder compares the finder, with and without teddy, with the oracle: what is
// found lies in a literal, and none ends before it.
func checkFinder(t *testing.T, text []byte, literals []literal) {
	t.Helper()
	f := newFinder(literals)
	checkFound(t, text, literals, f.index(text))
	if f.teddy != nil {
		f.teddy = nil
		checkFound(t, text, literals, f.index(text))
	}
}

func checkFound(t *testing.T, text []byte, literals []literal, got int) {
	t.Helper()
	within := false
	for i := 0; i < len(text) && (i <= got || got < 0); i++ {
		for _, l := range literals {
			end, ok := occurrence(text, i, l)
			if ok && end <= got || ok && got < 0 {
				t.Fatalf("%+v in %q: %d, but %q is at %d", literals, text, got, l.text, i)
			}
			within = within || ok
		}
	}
	if got >= 0 && !within {
		t.Fatalf("%+v in %q: %d, which is in none", literals, text, got)
	}
}

// checkPairs compares what the processor's instructions find with what portable
// code does, from every place.
func checkPairs(t *testing.T, text []byte, literals []literal) {
	t.Helper()
	for _, n := range newFinder(literals).needles {
		for from := range len(text) + 1 {
			if got, want := n.core.index(text, from), n.core.indexPortable(text, from); got != want {
				t.Fatalf("%+v in %q from %d: %d, want %d", n, text, from, got, want)
			}
		}
	}
}

func exact(texts ...string) []literal { return literalsOf(false, texts) }

func folded(texts ...string) []literal { return literalsOf(true, texts) }

func literalsOf(fold bool, texts []string) (literals []literal) {
	for _, text := range texts {
		literals = append(literals, literal{text, fold})
	}
	return literals
}

var literalSets = [][]literal{
	exact("x"), exact("xy"), exact("xyx"), exact("xxxx"), exact("needle"), exact("größe"), exact("a needle of sixty-four bytes, the longest that a finder is given."),
	folded("x"), folded("xy"), folded("needle"), folded("kiss"), folded("sky"), folded("task"), folded("kisses"), folded("mask_of_bits"), folded("[@`{"),
	exact("x", "yx"), exact("needle", "thread", "pin"), exact("foo", "far", "fizz", "o"), folded("needle", "task", "sak", "x_"), append(exact("Foo"), folded("bars")...),
	exact("ace", "bdf", "acf", "bde"), folded("abcd", "bcde", "cdef", "defg", "efgh", "fghi", "ghij", "hijk", "ijkl", "jklm", "klmn", "lmno", "mnop", "nopq", "opqr", "pqrs"),
}

// fragments returns what texts that nearly hold the literals are made of.
func fragments(literals []literal) (words []string) {
	for _, l := range literals {
		words = append(words, l.text, l.text[:len(l.text)/2], l.text[len(l.text)/2:], l.text[:1], l.text[len(l.text)-1:])
		if l.fold {
			words = append(words, strings.ToUpper(l.text), strings.ReplaceAll(l.text, "k", "\u212a"), strings.ReplaceAll(l.text, "s", "\u017f"), l.text[:1]+"\u017f")
		}
	}
	return append(words, "-", "\n", "\x00", "\xff", "\xc5", "\u212a")
}

func TestFinderFindsTheFirst(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, literals := range literalSets {
		words := fragments(literals)
		for range 100 {
			var text []byte
			// Most words are one that is not there, so that something is left to find.
			common := words[rnd.IntN(len(words))]
			for range rnd.IntN(60) {
				if rnd.IntN(8) == 0 {
					common = words[rnd.IntN(len(words))]
				}
				text = append(text, common[:min(len(common), 1+rnd.IntN(8))]...)
			}
			checkFinder(t, text, literals)
			checkPairs(t, text, literals)
		}
	}
}

// TestFinderAtEveryPlace puts a literal at each place of texts of many lengths.
func TestFinderAtEveryPlace(t *testing.T) {
	tooltest.Unraced(t)
	t.Parallel()
	for _, literals := range literalSets {
		l := literals[len(literals)/2]
		for _, filler := range []string{"-", l.text[:1], l.text[len(l.text)-1:], l.text[:len(l.text)/2] + "."} {
			long := []byte(strings.Repeat(filler, 300))
			for _, size := range []int{len(l.text), 63, 64, 65, 66, 67, 127, 128, 129, 130, 131, 150, 192} {
				for at := 0; at+len(l.text) <= size; at++ {
					text := slices.Clone(long[:size])
					copy(text[at:], l.text)
					checkFinder(t, text, literals)
				}
			}
		}
	}
}

// TestFinderAcrossBlocks puts a literal where one by one the blocks meet.
func TestFinderAcrossBlocks(t *testing.T) {
	for _, literals := range literalSets {
		l := literals[len(literals)-1]
		for at := blockSize - len(l.text) - 1; at <= blockSize+1; at++ {
			checkFinder(t, []byte(strings.Repeat("-", at)+l.text+"-"), literals)
		}
	}
}
