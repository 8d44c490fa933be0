package match

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// automaton is the base of the states of a DFA: the program of a pattern, used only to decide
// whether a line matches, and its alphabet. It is immutable.
type automaton struct {
	*alphabet
	prog    *syntax.Prog
	accepts []bitset // of each instruction the classes of runes that it consumes; nil = consumes none
	word    bitset   // the classes of word characters; nil where \b and \B do not occur
	always  bool     // it matches the empty text at the start of every line
}

// newAutomaton compiles a simplified tree; nil if it is too large for a DFA.
func newAutomaton(tree *syntax.Regexp) *automaton {
	prog, err := syntax.Compile(tree)
	if err != nil {
		return nil
	}
	var sets [][]rune
	index := map[string]int{}
	set := func(runes []rune) int {
		key := string(binaryRunes(runes))
		if _, ok := index[key]; !ok {
			index[key] = len(sets)
			sets = append(sets, runes)
		}
		return index[key]
	}
	of := make([]int, len(prog.Inst))
	word := -1
	for pc := range prog.Inst {
		of[pc] = -1
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			of[pc] = set(consumed(in))
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(in.Arg)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
				word = set([]rune{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'})
			}
		}
	}
	a := &automaton{prog: prog, accepts: make([]bitset, len(prog.Inst))}
	var members []bitset
	if a.alphabet, members = newAlphabet(sets); a.alphabet == nil {
		return nil
	}
	for pc, n := range of {
		if n >= 0 {
			a.accepts[pc] = members[n]
		}
	}
	if word >= 0 {
		a.word = members[word]
	}
	a.always = newDFA(a).begin()
	return a
}

func binaryRunes(runes []rune) (key []byte) {
	for _, r := range runes {
		key = binary.LittleEndian.AppendUint32(key, uint32(r))
	}
	return key
}

// consumed returns the runes that an instruction consumes: pairs of first and
// last, ascending. There is no LF in a line, so that "not LF" is any rune.
func consumed(in *syntax.Inst) []rune {
	switch {
	case in.Op == syntax.InstRuneAny || in.Op == syntax.InstRuneAnyNotNL:
		return []rune{0, utf8.MaxRune}
	case len(in.Rune) != 1:
		return in.Rune
	}
	runes := []rune{in.Rune[0]}
	if in.Op == syntax.InstRune && syntax.Flags(in.Arg)&syntax.FoldCase != 0 {
		for r := unicode.SimpleFold(runes[0]); r != runes[0]; r = unicode.SimpleFold(r) {
			runes = append(runes, r)
		}
		slices.Sort(runes)
	}
	pairs := make([]rune, 0, 2*len(runes))
	for _, r := range runes {
		pairs = append(pairs, r, r)
	}
	return pairs
}

// before is the kind of text before a position in a line.
type before uint8

const (
	other before = iota
	wordRune
	lineStart
)

// conditions returns the assertions that hold behind b. What comes next counts
// too: word = it is a word character, end = it is the end of the line.
func (b before) conditions(word, end bool) syntax.EmptyOp {
	op := b.behind()
	if (b == wordRune) != word {
		op |= syntax.EmptyWordBoundary
	} else {
		op |= syntax.EmptyNoWordBoundary
	}
	if end {
		op |= syntax.EmptyEndLine | syntax.EmptyEndText
	}
	return op
}

// behind returns the assertions that hold behind b before any next byte.
func (b before) behind() syntax.EmptyOp {
	if b == lineStart {
		return syntax.EmptyBeginLine | syntax.EmptyBeginText
	}
	return 0
}

const beginnings = syntax.EmptyBeginLine | syntax.EmptyBeginText
