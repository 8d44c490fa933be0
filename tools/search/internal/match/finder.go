package match

import "bytes"

const (
	// blockSize is how many bytes are searched for one literal before the next has its
	// turn: a literal that does not occur then costs little for each hit of another.
	blockSize = 4 << 10
	// vector is how many positions a vectorised search checks together, and so the least
	// length of its text.
	vector = 64
	// window is how many bytes of a literal teddy checks.
	window = 3
)

// finder finds the first of several literals: at once where the processor can,
// otherwise one by one.
type finder struct {
	needles []needle
	teddy   *teddy // nil: one by one
}

// needle is a literal with its core, the part that is searched first: all spellings of the
// core have the same length.
type needle struct {
	literal
	start int // of the core in the text of the literal
	core  pair
}

// newFinder returns a finder of literals that have a core, at least one.
func newFinder(literals []literal) *finder {
	f := &finder{}
	for _, l := range literals {
		start, end := core(l)
		f.needles = append(f.needles, needle{l, start, newPair(l.text[start:end], l.fold)})
	}
	if n := f.needles[0]; len(f.needles) > 1 || n.core.length < min(len(n.text), window) {
		f.teddy = newTeddy(literals)
	}
	return f
}

// index returns the offset of a byte of the first literal in text, -1 where
// there is none. Which byte of it is not defined.
func (f *finder) index(text []byte) int {
	if f.teddy != nil && len(text) >= vector+window-1 {
		return f.teddy.index(text)
	}
	if len(f.needles) == 1 {
		return f.needles[0].index(text, 0, len(text))
	}
	for from := 0; from < len(text); from += blockSize {
		first := -1
		end := min(from+blockSize, len(text))
		for i := range f.needles {
			if at := f.needles[i].index(text, from, end); at >= 0 {
				first, end = at, at
			}
		}
		if first >= 0 {
			return first
		}
	}
	return -1
}

// index returns where in text[from:to] the core of the first needle starts, -1
// if there is none. The needle may reach over the ends of that part.
func (n *needle) index(text []byte, from, to int) int {
	part := text[:min(len(text), to+n.core.length-1)]
	for ; from < to; from++ {
		if from = n.core.index(part, from); from < 0 || n.core.length == len(n.text) || n.at(text, from) {
			return from
		}
	}
	return -1
}

// at reports whether text has the needle with its core at i, which is at most the length of
// text.
func (n *needle) at(text []byte, i int) bool {
	if n.fold {
		return foldPrefix(text[i:], n.text[n.start:]) && foldSuffix(text[:i], n.text[:n.start])
	}
	i -= n.start
	return i >= 0 && len(text)-i >= len(n.text) && string(text[i:i+len(n.text)]) == n.text
}

// longer returns the spelling of the letter c that is beyond ASCII, if it has one.
func longer(c byte) string {
	switch c {
	case 'k':
		return "\u212a" // kelvin sign
	case 's':
		return "\u017f" // long s
	}
	return ""
}

// foldPrefix reports whether text begins with a spelling of the folded literal.
func foldPrefix(text []byte, literal string) bool {
	for i := range len(literal) {
		size := 1
		if len(text) == 0 || lower(text[0]) != literal[i] {
			long := longer(literal[i])
			if size = len(long); size == 0 || !bytes.HasPrefix(text, []byte(long)) {
				return false
			}
		}
		text = text[size:]
	}
	return true
}

// foldSuffix reports whether text ends with a spelling of the folded literal.
func foldSuffix(text []byte, literal string) bool {
	for i := len(literal) - 1; i >= 0; i-- {
		size := 1
		if len(text) == 0 || lower(text[len(text)-1]) != literal[i] {
			long := longer(literal[i])
			if size = len(long); size == 0 || !bytes.HasSuffix(text, []byte(long)) {
				return false
			}
		}
		text = text[:len(text)-size]
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
