package match

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"
)

// noRune is the rune of a byte that is not UTF-8: half of a surrogate pair, which no text
// contains. So a dot and a negated class match such a byte, and no named character does.
// Package regexp reads the byte as U+FFFD, which is a character.
const noRune = 0xdfff

// A pattern that tells noRune from U+FFFD is matched by package regexp, where a text has
// bytes that are not UTF-8, with another character in the place of U+FFFD: first and
// last are those that are tried, which Unicode keeps free and which are as long.
const (
	firstStandIn = 0xfdd0
	lastStandIn  = 0xfdef
)

// standIn is a pattern in which a character replaces U+FFFD, and U+FFFD replaces noRune.
type standIn struct {
	re     *regexp.Regexp
	inside *inside // of a search over several lines
	r      rune
	next   func() *standIn // with the next character; nil if there is none
}

// expression returns a regular expression of the pattern, and the text that it is to
// search instead of the given one; matches have the same offsets.
func (m *Matcher) expression(text []byte) (*regexp.Regexp, []byte) {
	s, text := m.replaced(text)
	if s == nil {
		return m.re, text
	}
	return s.re, text
}

// replaced returns the stand-in for the pattern that a text wants, with the text that it
// is to search; nil if it wants none.
func (m *Matcher) replaced(text []byte) (*standIn, []byte) {
	if m.standIn == nil || utf8.Valid(text) {
		return nil, text
	}
	s := m.standIn()
	for s != nil && bytes.ContainsRune(text, s.r) {
		other := s.next()
		if other == nil {
			break
		}
		s = other
	}
	if s == nil {
		return nil, text
	}
	return s, bytes.ReplaceAll(text, []byte("\ufffd"), []byte(string(s.r)))
}

// standInFrom returns a pattern with the first character from r on that it does not name;
// nil if there is none.
func standInFrom(tree *syntax.Regexp, r rune) *standIn {
	for names(tree, r) {
		r++
	}
	if r > lastStandIn {
		return nil
	}
	other := clone(tree)
	replace(other, r)
	re, err := regexp.Compile(other.String())
	if err != nil {
		return nil
	}
	return &standIn{re, newInside(re), r, sync.OnceValue(func() *standIn { return standInFrom(tree, r+1) })}
}

// clone copies what [replace] changes of a tree.
func clone(tree *syntax.Regexp) *syntax.Regexp {
	c := *tree
	c.Rune = slices.Clone(tree.Rune)
	c.Sub = make([]*syntax.Regexp, len(tree.Sub))
	for i, sub := range tree.Sub {
		c.Sub[i] = clone(sub)
	}
	return &c
}

// replace puts r into the place of U+FFFD, and U+FFFD into that of noRune.
func replace(re *syntax.Regexp, r rune) {
	switch re.Op {
	case syntax.OpLiteral:
		for i := range re.Rune {
			if re.Rune[i] == utf8.RuneError {
				re.Rune[i] = r
			}
		}
	case syntax.OpCharClass:
		either := []*syntax.Regexp{{Op: syntax.OpCharClass, Rune: without(without(re.Rune, utf8.RuneError), r)}}
		if inClass(re.Rune, utf8.RuneError) {
			either = append(either, &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{r}})
		}
		if inClass(re.Rune, noRune) {
			either = append(either, &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{utf8.RuneError}})
		}
		*re = syntax.Regexp{Op: syntax.OpAlternate, Sub: either}
		return
	}
	for _, sub := range re.Sub {
		replace(sub, r)
	}
}

// tellsApart reports whether a pattern matches U+FFFD where it does not match noRune, or
// the other way round.
func tellsApart(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, utf8.RuneError) ||
		re.Op == syntax.OpCharClass && inClass(re.Rune, utf8.RuneError) != inClass(re.Rune, noRune) ||
		slices.ContainsFunc(re.Sub, tellsApart)
}

// inClass reports whether r is in a class of pairs of first and last.
func inClass(class []rune, r rune) bool {
	for i := 0; i < len(class); i += 2 {
		if class[i] <= r && r <= class[i+1] {
			return true
		}
	}
	return false
}

// without returns a class without r.
func without(class []rune, r rune) (rest []rune) {
	for i := 0; i < len(class); i += 2 {
		first, last := class[i], class[i+1]
		if r < first || last < r {
			rest = append(rest, first, last)
			continue
		}
		if first < r {
			rest = append(rest, first, r-1)
		}
		if r < last {
			rest = append(rest, r+1, last)
		}
	}
	return rest
}
