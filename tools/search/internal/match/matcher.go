package match

import (
	"bytes"
	"context"
	"iter"
	"regexp"
	"regexp/syntax"
	"sync"
)

// Line is one line of a text.
type Line struct {
	Start, End int // its bytes, without the line ending (LF, CRLF, or CR at the end of the text)
	Next       int // where the next line starts
}

// prefilter finds lines that may match. It may be imprecise but must never skip a line that
// matches.
type prefilter interface {
	// index returns an offset in the first line of text that may match, -1 for none.
	index(text []byte) int
}

// Matcher is a compiled pattern. It is safe for concurrent use.
type Matcher struct {
	re        *regexp.Regexp
	tree      *syntax.Regexp  // of the pattern
	standIn   func() *standIn // of a pattern that tells a byte which is not UTF-8 from U+FFFD; it may return nil
	pre       prefilter       // nil: every line may match
	exact     bool            // a line that passes pre matches
	head      *finder         // of what each match begins with; nil if that is not known, or not wanted
	headText  string          // what that is
	weight    int             // about the steps that it can ask for at each byte, at least 1
	inside    *inside         // of a search over several lines
	multiline bool
	keepCR    bool       // the pattern names CR, so CRLF is not to be taken for LF
	once      bool       // the pattern has \A
	automaton *automaton // of the pattern line by line; nil if it is not wanted or too large
	dfas      sync.Pool  // of *dfa, which the searches have used
}

// Multiline reports whether a match may span lines; a text must then be whole.
func (m *Matcher) Multiline() bool { return m.multiline }

// Lines returns the lines of text that match, in order. The text starts at the start of a
// line. If matches may span lines, these are all lines that a match touches, and text must
// have passed [Matcher.Normal]. If ctx ends, the lines end early.
func (m *Matcher) Lines(ctx context.Context, text []byte) iter.Seq[Line] {
	if m.multiline {
		return m.touched(ctx, text)
	}
	return func(yield func(Line) bool) {
		s := search{Matcher: m, ctx: ctx, text: text, yield: yield}
		defer s.close()
		s.run()
	}
}

// Count returns the number of lines of [Matcher.Lines].
func (m *Matcher) Count(ctx context.Context, text []byte) (n int) {
	if m.multiline || !m.exact {
		for range m.Lines(ctx, text) {
			n++
		}
		return n
	}
	for ctx.Err() == nil {
		for range trial {
			at := m.pre.index(text)
			if at < 0 {
				return n
			}
			n++
			end := bytes.IndexByte(text[at:], '\n')
			if end < 0 {
				return n
			}
			text = text[at+end+1:]
		}
	}
	return n
}

// May reports whether a text that has passed Normal, or a part of one, may have a match.
func (m *Matcher) May(text []byte) bool { return m.pre == nil || m.pre.index(text) >= 0 }

// IsNormal reports whether Normal leaves text as it is.
func (m *Matcher) IsNormal(text []byte) bool {
	return !m.multiline || m.keepCR || bytes.IndexByte(text, '\r') < 0 || !bytes.Contains(text, []byte("\r\n"))
}

// Normal returns text as a search over several lines wants it: CRLF as LF,
// unless the pattern itself names CR. It may change text in place.
func (m *Matcher) Normal(text []byte) []byte {
	first := bytes.Index(text, []byte("\r\n"))
	if first < 0 || m.IsNormal(text) {
		return text
	}
	out := text[:first]
	for i := first; i < len(text); i++ {
		if text[i] != '\r' || i+1 == len(text) || text[i+1] != '\n' {
			out = append(out, text[i])
		}
	}
	return out
}

// Find returns the first match in a line; 0, 0 where only its neighbours make it
// match.
func (m *Matcher) Find(ctx context.Context, line []byte) (start, end int) {
	from, to := 0, len(line)
	if m.exact {
		// Near its anchor there is the whole literal, however long the line is.
		at := max(0, m.pre.index(line))
		from, to = max(0, at-Reach), min(len(line), at+Reach)
	}
	if span := m.find(ctx, line[from:to]); span != nil {
		return from + span[0], from + span[1]
	}
	return 0, 0
}

// Reach is the most bytes of a literal, where a folded letter has up to three: so many at
// the end of a part of a text [Matcher.May] must see again with the next part.
const Reach = 3 * maxLiteral

// LineAt returns the line of text that holds offset at; from is the start of
// that line or of one before it. A CR belongs to the ending where a LF follows it.
func LineAt(text []byte, from, at int) Line {
	line := Line{Start: from + bytes.LastIndexByte(text[from:at], '\n') + 1}
	line.End, line.Next = len(text), len(text)
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		line.End, line.Next = at+i, at+i+1
		if line.End > line.Start && text[line.End-1] == '\r' {
			line.End--
		}
	}
	return line
}
