package match

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxChoices = 16 // literals of which one must occur
	maxLiteral = 64 // bytes of one literal
)

// literal is a text that a match contains. Folded, its ASCII letters are lower
// case and match both cases, k and s also U+212A and U+017F.
type literal struct {
	text string
	fold bool
}

// facts describes the matches of an expression.
type facts struct {
	// exact has the only texts that the expression matches; nil = not known.
	exact []literal
	// need are literals of which each match contains one; nil = not known.
	need []literal
	// bare says that exact holds everywhere: no assertion narrows it.
	bare bool
}

var anything = facts{}

// required returns literals of which every match contains one, or nil.
func (f facts) required() []literal {
	return better(f.need, usable(f.exact))
}

// whole reports whether the expression matches its required literals and nothing else.
func (f facts) whole() bool { return f.bare && usable(f.exact) != nil }

// analyse finds the facts of a simplified expression, from its leaves up.
func analyse(re *syntax.Regexp) facts {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return facts{exact: []literal{{}}, bare: true}
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText,
		syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return facts{exact: []literal{{}}}
	case syntax.OpLiteral:
		return analyseLiteral(re.Rune, re.Flags&syntax.FoldCase != 0)
	case syntax.OpCharClass:
		return analyseClass(re.Rune)
	case syntax.OpCapture:
		return analyse(re.Sub[0])
	case syntax.OpPlus:
		return facts{need: analyse(re.Sub[0]).required()}
	case syntax.OpQuest:
		f := analyse(re.Sub[0])
		if f.exact == nil || len(f.exact) == maxChoices {
			return anything
		}
		return facts{exact: append([]literal{{}}, f.exact...), bare: f.bare}
	case syntax.OpConcat:
		return analyseConcat(re.Sub)
	case syntax.OpAlternate:
		return analyseAlternate(re.Sub)
	}
	return anything
}

func analyseLiteral(runes []rune, fold bool) facts {
	var runs []string
	var run strings.Builder
	for _, r := range runes {
		// A folded letter beyond ASCII has spellings of several bytes.
		odd := fold && r >= utf8.RuneSelf && unicode.SimpleFold(r) != r
		if odd || run.Len()+utf8.RuneLen(r) > maxLiteral {
			runs = append(runs, run.String())
			run.Reset()
		}
		if odd {
			continue
		}
		if fold && r < utf8.RuneSelf {
			r = unicode.ToLower(r)
		}
		run.WriteRune(r)
	}
	if len(runs) == 0 {
		return facts{exact: []literal{{run.String(), fold}}, bare: true}
	}
	var f facts
	for _, text := range append(runs, run.String()) {
		f.need = better(f.need, usable([]literal{{text, fold}}))
	}
	return f
}

// analyseClass takes a small class for the choice of its characters.
func analyseClass(ranges []rune) facts {
	f := facts{bare: true}
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(f.exact) == maxChoices || !utf8.ValidRune(r) || r == '\r' || r == '\n' {
				return anything
			}
			f.exact = append(f.exact, literal{text: string(r)})
		}
	}
	return f
}

func analyseConcat(subs []*syntax.Regexp) facts {
	run := []literal{{}} // the texts that the last subexpressions match together
	all := facts{bare: true}
	known := true
	for _, sub := range subs {
		if sub.Op == syntax.OpPlus { // the first repetition ends the run, the last one begins another
			once := analyse(sub.Sub[0])
			if joined, _ := cross(run, once.exact); joined != nil {
				known, all.need, run = false, better(all.need, usable(joined)), once.exact
				continue
			}
		}
		f := analyse(sub)
		if joined, bare := cross(run, f.exact); joined != nil {
			run, all.bare = joined, all.bare && f.bare && bare
			continue
		}
		known = false
		all.need = better(better(all.need, usable(run)), f.required())
		run = f.exact
		if run == nil {
			run = []literal{{}}
		}
	}
	if known {
		all.exact = run
		return all
	}
	return facts{need: better(all.need, usable(run))}
}

// cross returns every literal of a followed by every one of b, nil where they
// are too many or too long. It is not bare where the fold of one part had to be
// spread over the other.
func cross(a, b []literal) (joined []literal, bare bool) {
	if b == nil || len(a)*len(b) > maxChoices {
		return nil, false
	}
	bare = true
	for _, x := range a {
		for _, y := range b {
			z := literal{x.text + y.text, x.fold || y.fold}
			if len(z.text) > maxLiteral {
				return nil, false
			}
			if z.fold {
				if !x.fold && foldsBeyondASCII(x.text) || !y.fold && foldsBeyondASCII(y.text) {
					return nil, false
				}
				bare = bare && (x.fold || !folds(x.text)) && (y.fold || !folds(y.text))
				z.text = foldASCII(z.text)
			}
			joined = append(joined, z)
		}
	}
	return joined, bare
}

func analyseAlternate(subs []*syntax.Regexp) facts {
	all := facts{bare: true, exact: []literal{}, need: []literal{}}
	for _, sub := range subs {
		f := analyse(sub)
		if all.exact != nil && f.exact != nil && len(all.exact)+len(f.exact) <= maxChoices {
			all.exact = append(all.exact, f.exact...)
			all.bare = all.bare && f.bare
		} else {
			all.exact = nil
		}
		need := f.required()
		if all.need != nil && need != nil && len(all.need)+len(need) <= maxChoices {
			all.need = append(all.need, need...)
		} else {
			all.need = nil
		}
	}
	return all
}

// usable returns the literals if a text can be searched for each of them.
func usable(literals []literal) []literal {
	for _, l := range literals {
		if start, end := core(l); start == end {
			return nil
		}
	}
	if len(literals) == 0 {
		return nil
	}
	return literals
}

// better returns the literals that fewer lines will contain.
func better(a, b []literal) []literal {
	if strength(b) > strength(a) {
		return b
	}
	return a
}

// strength estimates how rare a line with one of the literals is, as the
// negative logarithm of its frequency; 0 for none.
func strength(literals []literal) int {
	weakest := 0
	for i, l := range literals {
		n := 0
		for _, c := range []byte(l.text) {
			n += rarity(c)
			if l.fold && isLetter(c) {
				n--
			}
		}
		if i == 0 || n < weakest {
			weakest = n
		}
	}
	if len(literals) > 4 {
		weakest--
	}
	return weakest
}

// core returns the longest part text[start:end] of l whose spellings all have its
// length, empty if there is none. The letters with a longer one are around it.
func core(l literal) (start, end int) {
	if !l.fold {
		return 0, len(l.text)
	}
	for i := 0; i < len(l.text); i++ {
		from := i
		for i < len(l.text) && longer(l.text[i]) == "" {
			i++
		}
		if i-from > end-start {
			start, end = from, i
		}
	}
	return start, end
}

// rarity is the negative binary logarithm of the frequency of a byte in source
// code and prose, roughly.
func rarity(c byte) int {
	switch {
	case c == ' ':
		return 3
	case strings.IndexByte("et", c) >= 0:
		return 4
	case strings.IndexByte("risnaol\n", c) >= 0:
		return 5
	case strings.IndexByte("cdfhmpu_\t,.0=", c) >= 0:
		return 6
	case strings.IndexByte("bgvxy()-:\"/'", c) >= 0:
		return 7
	case strings.IndexByte("kwACDILMNOPRSTE12;*{}", c) >= 0:
		return 8
	case strings.IndexByte("BFGUV34568#&<>[]`|\\", c) >= 0:
		return 9
	case c >= utf8.RuneSelf:
		return 12
	case c < ' ':
		return 13
	}
	return 10
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// folds reports whether case matters in s.
func folds(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.SimpleFold(r) != r })
}

func foldsBeyondASCII(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf && unicode.SimpleFold(r) != r })
}

// foldASCII lowers the ASCII letters of s and leaves the rest alone.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
