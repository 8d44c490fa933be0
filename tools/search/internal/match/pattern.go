package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Case says how letters are compared.
type Case uint8

// The ways.
const (
	// Smart ignores case unless the pattern names an upper-case letter or a class
	// of letters of one case.
	Smart Case = iota
	Sensitive
	// Insensitive compares by Unicode simple folding.
	Insensitive
)

// Pattern says what to look for.
type Pattern struct {
	Text      string
	Fixed     bool // Text is the text itself, not a regular expression
	Word      bool // between \b and \b, which are ASCII in RE2
	Multiline bool // a match may span lines; ^ and $ are still those of a line
	Case      Case
}

// Compile prepares a pattern. The error of an invalid one is an *[Error].
func Compile(p Pattern) (*Matcher, error) {
	tree, source, err := p.parse()
	if err != nil {
		return nil, err
	}
	if err := p.possible(tree); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(source)
	if err == nil && p.Multiline && depth(tree) > deepest {
		err = &syntax.Error{Code: syntax.ErrNestingDepth, Expr: p.Text}
	}
	if err != nil {
		return nil, diagnose(p.Text, err)
	}
	m := &Matcher{re: re, tree: tree, multiline: p.Multiline, keepCR: names(tree, '\r'), once: anchored(tree)}
	if tellsApart(tree) {
		m.standIn = sync.OnceValue(func() *standIn { return standInFrom(tree, firstStandIn) })
	}
	simple := tree.Simplify()
	m.weight = weight(simple)
	known := analyse(simple)
	if known.whole() && !m.keepCR {
		m.pre, m.exact = newFinder(known.exact), true
	} else if need := known.required(); need != nil {
		m.pre = newFinder(need)
	}
	if m.multiline {
		m.inside = newInside(re)
		m.lead()
	} else if !m.exact {
		m.automaton = newAutomaton(simple)
	}
	return m, nil
}

// lead makes a search over several lines look for the beginning of a match. Package regexp
// does so too, but is slow where the first byte of it is a frequent one.
func (m *Matcher) lead() {
	head, _ := m.re.LiteralPrefix()
	if heads := usable([]literal{{text: head}}); heads != nil && len(head) <= maxLiteral && !m.once {
		m.head, m.headText = newFinder(heads), head
	}
}

// parse returns the tree of the pattern, and what package regexp is to compile. That is
// not the tree written out where it can be helped: writing [^a] asks for the cases of all
// characters that there are, which takes longer than all else.
func (p Pattern) parse() (tree *syntax.Regexp, source string, err error) {
	flags, prefix := syntax.Perl, ""
	if p.Multiline {
		flags &^= syntax.OneLine
		prefix += "(?m)"
	}
	source = p.Text
	if p.Fixed {
		flags |= syntax.Literal
		source = regexp.QuoteMeta(source)
	}
	if p.Case == Insensitive || p.Case == Smart && !namesUpper(p.Text, p.Fixed) {
		flags |= syntax.FoldCase
		prefix += "(?i)"
	}
	tree, err = syntax.Parse(p.Text, flags)
	if err != nil {
		return nil, "", diagnose(p.Text, err)
	}
	if !p.Word {
		return tree, prefix + source, nil
	}
	edge := &syntax.Regexp{Op: syntax.OpWordBoundary}
	tree = &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{edge, tree, edge}}
	if strings.Contains(source, `\Q`) { // it may quote what follows
		return tree, tree.String(), nil
	}
	return tree, prefix + `\b(?:` + source + `)\b`, nil
}

// possible refuses a pattern that asks for what no line holds: it could never
// match, and the caller would not learn why.
func (p Pattern) possible(tree *syntax.Regexp) error {
	newline := tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, '\n') ||
		tree.Op == syntax.OpCharClass && slices.Equal(tree.Rune, []rune{'\n', '\n'})
	if newline && !p.Multiline {
		return &Error{Reason: `the pattern asks for a line feed, but lines are searched one by one`, Hint: "pass multiline:true"}
	}
	if tree.Op == syntax.OpLiteral {
		if i := slices.IndexFunc(tree.Rune, func(r rune) bool { return !utf8.ValidRune(r) }); i >= 0 {
			return &Error{Reason: fmt.Sprintf(`\x{%x} is half of a surrogate pair, and no character`, tree.Rune[i]), Hint: "name the character itself, such as \\x{1F600}"}
		}
	}
	for _, sub := range tree.Sub {
		if err := p.possible(sub); err != nil {
			return err
		}
	}
	return nil
}

// names reports whether the pattern writes r as a literal.
func names(tree *syntax.Regexp, r rune) bool {
	return tree.Op == syntax.OpLiteral && slices.Contains(tree.Rune, r) ||
		slices.ContainsFunc(tree.Sub, func(sub *syntax.Regexp) bool { return names(sub, r) })
}

// anchored reports whether the pattern has a \A, the start of the text.
func anchored(tree *syntax.Regexp) bool {
	return tree.Op == syntax.OpBeginText || slices.ContainsFunc(tree.Sub, anchored)
}

// namesUpper reports whether a pattern is about case: whether it has a class of
// letters of one case, or an upper-case letter that matches itself: not the W of \W, the Lu of \p{Lu} or the name of a group.
func namesUpper(text string, fixed bool) bool {
	if !fixed {
		if caseClass().MatchString(text) {
			return true
		}
		text = notation().ReplaceAllString(text, "")
	}
	return strings.ContainsFunc(text, unicode.IsUpper)
}

// caseClass is a class of letters of one case.
var caseClass = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[:\^?(?:upper|lower):\]|\\[pP]\{\^?L[ult]\}`) })

// notation is what in a regular expression is not literal text although it has letters.
var notation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(?:\\[pP](?:\{[^}]*\}|.)|\\x(?:\{[^}]*\}|..)|\\.|\(\?P?<[^>]*>)`)
})
