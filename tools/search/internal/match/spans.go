package match

import (
	"bytes"
	"context"
	"iter"
	"regexp"
	"regexp/syntax"
	"sync"
	"unicode/utf8"
)

const (
	// mostSpans is how many matches are asked for at once.
	mostSpans = 4096
	// attempt is how many bytes behind a head are looked at for a match that begins
	// there alone, before it is looked for everywhere.
	attempt = 256
)

// touched yields the lines that matches touch.
func (m *Matcher) touched(ctx context.Context, text []byte) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		if m.pre != nil && m.pre.index(text) < 0 {
			return
		}
		next := 0 // start of the first line that was not given yet
		open := len(text) > 0 && text[len(text)-1] != '\n'
		m.spans(ctx, text, func(start, end int) bool {
			last := max(start, end-1)
			for at := max(start, next); at <= last && (at < len(text) || open && next < len(text)); at = next {
				line := LineAt(text, next, at)
				if next = line.Next; !yield(line) {
					return false
				}
			}
			return true
		})
	}
}

// walk goes through the matches of a text as FindAllIndex does, but in pieces of bounded
// work between which ctx is checked. The rest is searched as a text of its own where
// a line begins, and elsewhere with the character before it.
type walk struct {
	*Matcher
	ctx   context.Context
	re    *regexp.Regexp
	in    *inside
	head  *finder
	text  []byte
	yield func(start, end int) bool
	pos   int // where the next match is looked for
	spare int // bytes that were passed over and not yet spent on attempts
	last  int // end of the last match, where no empty one is
}

// spans yields where matches start and end, all of them in order, until ctx ends.
func (m *Matcher) spans(ctx context.Context, text []byte, yield func(start, end int) bool) {
	w := walk{Matcher: m, ctx: ctx, re: m.re, in: m.inside, head: m.head, text: text, yield: yield, last: -1}
	if s, replaced := m.replaced(text); s != nil {
		w.re, w.in, w.head, w.text = s.re, s.inside, nil, replaced
	}
	for w.pos <= len(w.text) && ctx.Err() == nil && w.skip() {
		more := false
		if found, decided := w.soon(); decided {
			more = found
		} else if n := w.affordable(w.pos); n > 0 {
			more = w.several(n)
		} else {
			more = w.single()
		}
		if !more {
			return
		}
	}
}

// affordable returns how many matches can be looked for together from an offset on; 0
// where they cannot, since that would take too long or the text before it matters.
func (w *walk) affordable(from int) int {
	if from > 0 && (w.once || w.text[from-1] != '\n') {
		return 0
	}
	return min(effort/w.weight/(len(w.text)-from+1), mostSpans)
}

// skip moves to before the next head of a match; it returns false if there is none.
func (w *walk) skip() bool {
	if w.head == nil {
		return true
	}
	at := w.head.index(w.text[w.pos:])
	if at < 0 {
		return false
	}
	w.spare += at
	from := w.pos + max(0, at-len(w.headText))
	if i := bytes.LastIndexByte(w.text[w.pos:from], '\n'); i >= 0 {
		w.pos += i + 1
	}
	if w.affordable(w.pos) == 0 {
		from = max(from, w.pos)
		w.pos = from + max(0, bytes.Index(w.text[from:], []byte(w.headText)))
	}
	return true
}

// soon takes the match that begins with the next head, or moves behind that head. decided is
// false where this takes more bytes than an attempt, or heads are so close together that
// more is to be had at once.
func (w *walk) soon() (more, decided bool) {
	if w.head == nil || w.spare < attempt {
		return false, false
	}
	w.spare -= attempt
	from := w.pos
	w.pos += max(0, bytes.Index(w.text[from:], []byte(w.headText)))
	span, decided := w.near()
	switch {
	case !decided:
		w.pos = from
		return false, false
	case span == nil:
		w.pos++
		return true, true
	}
	return w.take(span[0], span[1]), true
}

// several takes up to n matches, the last of them only where no line begins before it:
// the next ones could be looked for there. It returns false when there are no more.
func (w *walk) several(n int) bool {
	base := w.pos
	spans := w.re.FindAllIndex(w.text[base:], n)
	for i, span := range spans {
		start, end := base+span[0], base+span[1]
		if i > 0 && i == n-1 {
			if feed := bytes.LastIndexByte(w.text[w.pos:start], '\n'); feed >= 0 {
				w.pos += feed + 1
				return true
			}
		}
		if !w.take(start, end) {
			return false
		}
	}
	return len(spans) == n
}

// single takes one match, or moves on. It returns false when there is none.
func (w *walk) single() bool {
	span, decided := w.near()
	if !decided {
		span = w.far()
	}
	switch {
	case w.ctx.Err() != nil, span == nil && !decided:
		return false
	case span == nil:
		w.pos++
		return true
	}
	if i := bytes.LastIndexByte(w.text[w.pos:span[0]], '\n'); i >= 0 && w.affordable(w.pos+i+1) > 0 {
		w.pos += i + 1
		return true
	}
	return w.take(span[0], span[1])
}

// near finds a match that begins with the head at pos; decided is false if that takes
// more bytes than an attempt, or there is no head.
func (w *walk) near() (span []int, decided bool) {
	if w.head == nil || w.pos == 0 {
		return nil, false
	}
	rest := w.text[w.before():]
	part := w.reader(w.ctx, rest[:min(attempt, len(rest))])
	span = group(w.in.here(), part, w.before())
	return span, len(part.text) > 0 || len(rest) <= attempt
}

// far finds a match at or behind pos. It means nothing once ctx has ended.
func (w *walk) far() (span []int) {
	if w.pos == 0 {
		return w.re.FindReaderIndex(w.reader(w.ctx, w.text))
	}
	return group(w.in.later(), w.reader(w.ctx, w.text[w.before():]), w.before())
}

// before returns where the character before pos starts.
func (w *walk) before() int {
	_, size := utf8.DecodeLastRune(w.text[:w.pos])
	return w.pos - size
}

// take yields a match and moves behind it.
func (w *walk) take(start, end int) bool {
	found := end != w.pos || start != w.last
	if w.last = end; end == w.pos {
		_, size := utf8.DecodeRune(w.text[end:])
		w.pos += max(1, size)
	} else {
		w.pos = end
	}
	return !found || w.yield(start, end)
}

// inside is an expression for matches that begin inside of a text: it searches from one
// character before, which counts for \b and ^, and its first group is the match.
type inside struct {
	here  func() *regexp.Regexp // only where the search begins
	later func() *regexp.Regexp // there or later
}

func newInside(re *regexp.Regexp) *inside {
	behind := func(skipped string) func() *regexp.Regexp {
		return sync.OnceValue(func() *regexp.Regexp {
			expr := re.String()
			if tree, err := syntax.Parse(expr, syntax.Perl); err == nil {
				expr = tree.String() // a quotation in it may be without an end
			}
			return regexp.MustCompile(`\A(?s:.)` + skipped + `(` + expr + `)`)
		})
	}
	return &inside{here: behind(""), later: behind(`(?s:.*?)`)}
}

// group returns the span of a match, its first group, in a text that r reads from base on.
func group(re *regexp.Regexp, r *runes, base int) []int {
	span := re.FindReaderSubmatchIndex(r)
	if span == nil {
		return nil
	}
	return []int{base + span[2], base + span[3]}
}

// deepest is the most levels of a pattern that is searched for over several lines. [inside]
// adds a few; package regexp takes 1000.
const deepest = 990

// depth returns the levels of a pattern.
func depth(re *syntax.Regexp) int {
	n := 0
	for _, sub := range re.Sub {
		n = max(n, depth(sub))
	}
	return n + 1
}
