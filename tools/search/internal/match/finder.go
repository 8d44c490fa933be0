package match

import "bytes"

// block is how many bytes are searched for one spelling before the next has its
// turn: a spelling that does not occur then costs little for each hit of another.
const block = 4 << 10

// finder finds the first of several literals: each by its rarest byte, for which
// the standard library has a vectorised search, and a comparison around it.
type finder struct{ needles []needle }

type needle struct {
	literal
	anchor       int  // index of the byte looked for
	lower, upper byte // its spellings, equal where there is one
}

func newFinder(literals []literal) *finder {
	f := &finder{}
	for _, l := range literals {
		n := needle{literal: l, anchor: anchor(l)}
		n.lower = l.text[n.anchor]
		n.upper = n.lower
		if l.fold && isLetter(n.lower) {
			n.upper = n.lower - 'a' + 'A'
		}
		f.needles = append(f.needles, n)
	}
	return f
}

// index returns the offset of a byte of the first literal in text, -1 where
// there is none. Which byte of it is not defined.
func (f *finder) index(text []byte) int {
	if n := &f.needles[0]; len(f.needles) == 1 && n.lower == n.upper {
		return n.index(text, 0, len(text))
	}
	for from := 0; from < len(text); from += block {
		end := min(from+block, len(text))
		first := end
		for i := range f.needles {
			n := &f.needles[i]
			if at := n.index(text, from, first); at >= 0 {
				first = at
			}
		}
		if first < end {
			return first
		}
	}
	return -1
}

// index returns where in text[from:to] the anchor of the needle stands.
func (n *needle) index(text []byte, from, to int) int {
	for from < to {
		i := bytes.IndexByte(text[from:to], n.lower)
		if n.upper != n.lower {
			part := text[from:to]
			if i >= 0 {
				part = part[:i]
			}
			if j := bytes.IndexByte(part, n.upper); j >= 0 {
				i = j
			}
		}
		if i < 0 {
			return -1
		}
		if from += i; n.at(text, from) {
			return from
		}
		from++
	}
	return -1
}

// at reports whether the needle stands in text with its anchor at i.
func (n *needle) at(text []byte, i int) bool {
	if n.fold {
		return n.after(text[i+1:]) && n.before(text[:i])
	}
	start := i - n.anchor
	return start >= 0 && start+len(n.text) <= len(text) && string(text[start:start+len(n.text)]) == n.text
}

// The letters that one letter beyond ASCII folds to.
const (
	kelvin = "\u212a" // k
	longS  = "\u017f" // s
)

func (n *needle) after(text []byte) bool {
	for _, c := range []byte(n.text[n.anchor+1:]) {
		switch {
		case len(text) > 0 && lower(text[0]) == c:
			text = text[1:]
		case c == 'k' && bytes.HasPrefix(text, []byte(kelvin)):
			text = text[len(kelvin):]
		case c == 's' && bytes.HasPrefix(text, []byte(longS)):
			text = text[len(longS):]
		default:
			return false
		}
	}
	return true
}

func (n *needle) before(text []byte) bool {
	for i := n.anchor - 1; i >= 0; i-- {
		c := n.text[i]
		switch {
		case len(text) > 0 && lower(text[len(text)-1]) == c:
			text = text[:len(text)-1]
		case c == 'k' && bytes.HasSuffix(text, []byte(kelvin)):
			text = text[:len(text)-len(kelvin)]
		case c == 's' && bytes.HasSuffix(text, []byte(longS)):
			text = text[:len(text)-len(longS)]
		default:
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
