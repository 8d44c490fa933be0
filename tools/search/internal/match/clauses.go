package match

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Literal is a text to search for. If it is folded, its ASCII letters are lower case and match
// both cases, k and s also U+212A and U+017F. It has no line feed.
type Literal struct {
	Text string
	Fold bool
}

const (
	maxClauses  = 16
	maxLiterals = 64 // of a clause
	maxFactors  = 4  // clauses of an alternative that are combined with those of another
)

// Clauses returns the clauses that every match fulfils: it contains at least one literal of
// each. No clauses means that nothing is known.
func (m *Matcher) Clauses() [][]Literal {
	var all clauses
	for _, c := range required(m.tree.Simplify()).all() {
		all = append(all, withoutLineFeeds(c)...)
	}
	out := [][]Literal{}
	for _, c := range all.strongest(maxClauses) {
		literals := make([]Literal, len(c))
		for i, l := range c {
			literals[i] = Literal{Text: l.text, Fold: l.fold}
		}
		out = append(out, literals)
	}
	return out
}

// clauses is a conjunction of disjunctions.
type clauses [][]literal

// demand is what an expression requires of a match: it is one of the exact texts if these are
// known, and else it fulfils the clauses.
type demand struct {
	exact []literal
	clauses
}

// all returns the demand as clauses alone.
func (d demand) all() clauses {
	if d.exact != nil {
		return clauses{}.with(d.exact)
	}
	return d.clauses
}

// with adds a clause unless it is empty.
func (c clauses) with(literals []literal) clauses {
	useless := len(literals) == 0 || len(literals) > maxLiterals ||
		slices.ContainsFunc(literals, func(l literal) bool { return l.text == "" })
	if useless || slices.ContainsFunc(c, func(old []literal) bool { return slices.Equal(old, literals) }) {
		return c
	}
	return append(c, literals)
}

// strongest returns the n clauses that are the hardest to fulfil.
func (c clauses) strongest(n int) clauses {
	if len(c) <= n {
		return c
	}
	c = slices.Clone(c)
	slices.SortStableFunc(c, func(a, b []literal) int { return cmp.Compare(strength(b), strength(a)) })
	return c[:n]
}

// required finds the demand of a simplified expression.
func required(re *syntax.Regexp) demand {
	switch re.Op {
	case syntax.OpCapture:
		return required(re.Sub[0])
	case syntax.OpPlus:
		return demand{clauses: required(re.Sub[0]).all()}
	case syntax.OpConcat:
		return requiredOfConcat(re.Sub)
	case syntax.OpAlternate:
		if f := analyse(re); f.exact != nil {
			return demand{exact: f.exact}
		}
		return demand{clauses: requiredOfAlternate(re.Sub)}
	}
	f := analyse(re)
	return demand{exact: f.exact, clauses: clauses{}.with(f.need)}
}

func requiredOfConcat(subs []*syntax.Regexp) demand {
	run := []literal{{}} // the texts that the last subexpressions match together
	var all clauses
	known := true
	for _, sub := range subs {
		if sub.Op == syntax.OpPlus { // the first repetition ends the run, the last one begins another
			d := required(sub.Sub[0])
			if joined, _ := cross(run, d.exact); joined != nil {
				known, all, run = false, all.with(joined), d.exact
				continue
			}
		}
		d := required(sub)
		if joined, _ := cross(run, d.exact); joined != nil {
			run = joined
			continue
		}
		known = false
		all = all.with(run)
		if run = d.exact; run == nil {
			run = []literal{{}}
			for _, c := range d.clauses {
				all = all.with(c)
			}
		}
	}
	if known {
		return demand{exact: run}
	}
	return demand{clauses: all.with(run).strongest(2 * maxClauses)}
}

// requiredOfAlternate combines each clause of an alternative with each of the others:
// whichever matches, one of the two is fulfilled.
func requiredOfAlternate(subs []*syntax.Regexp) clauses {
	var all clauses
	for i, sub := range subs {
		c := required(sub).all()
		if i == 0 {
			all = c
			continue
		}
		var combined clauses
		for _, a := range all.strongest(maxFactors) {
			for _, b := range c.strongest(maxFactors) {
				combined = combined.with(slices.Concat(a, b))
			}
		}
		all = combined
	}
	return all
}

// withoutLineFeeds cuts the literals of a clause into lines: a clause of one literal
// becomes one for each line, of others the longest line is kept. A CR before a line
// feed goes too, since it may be the end of a line as well as be missing.
func withoutLineFeeds(c []literal) clauses {
	var out clauses
	var longest []literal
	for _, l := range c {
		var best literal
		for line := range strings.SplitSeq(l.text, "\n") {
			line = strings.TrimSuffix(line, "\r")
			if len(c) == 1 {
				out = out.with([]literal{{line, l.fold}})
			}
			if len(line) > len(best.text) {
				best = literal{line, l.fold}
			}
		}
		longest = append(longest, best)
	}
	if len(c) == 1 {
		return out
	}
	return out.with(longest)
}
