package match

import (
	"context"
	"io"
	"unicode/utf8"
)

// longLine is the length from which a line is read by the regular expression
// rune by rune, so that a search can be cancelled in the middle: a single line
// of many megabytes can take it minutes.
const longLine = 64 << 10

func (m *Matcher) matches(ctx context.Context, line []byte) bool {
	re, line := m.expression(line)
	if len(line) < longLine {
		return re.Match(line)
	}
	return re.MatchReader(&runes{ctx: ctx, text: line})
}

func (m *Matcher) find(ctx context.Context, line []byte) []int {
	re, line := m.expression(line)
	if len(line) < longLine {
		return re.FindIndex(line)
	}
	return re.FindReaderIndex(&runes{ctx: ctx, text: line})
}

// runes reads a text until its end or that of ctx.
type runes struct {
	ctx   context.Context
	text  []byte
	until int // of the bytes left, where ctx is looked at next
}

func (r *runes) ReadRune() (rune, int, error) {
	if len(r.text) <= r.until || r.until == 0 {
		if r.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
		r.until = len(r.text) - longLine
	}
	if len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
