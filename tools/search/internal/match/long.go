package match

import (
	"context"
	"io"
	"regexp/syntax"
	"unicode/utf8"
)

const (
	// longLine is how many bytes the states of a line are followed between two looks at
	// the context: a single line can have many megabytes.
	longLine = 64 << 10
	// A regular expression works in one go for as many bytes as make effort when they
	// are multiplied with its weight, which takes it a tenth of a second at most.
	effort = 8 << 20
	// looks is how often the context is checked during such an effort, if text is read rune by
	// rune.
	looks = 64
)

// weight returns roughly the number of steps that a simplified pattern can take at each byte.
func weight(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = max(1, len(re.Rune))
	}
	for _, sub := range re.Sub {
		n += weight(sub)
	}
	return n
}

func (m *Matcher) matches(ctx context.Context, line []byte) bool {
	re, line := m.expression(line)
	if len(line)*m.weight < effort {
		return re.Match(line)
	}
	return re.MatchReader(m.reader(ctx, line)) && ctx.Err() == nil // else the end may not be that of the line
}

func (m *Matcher) find(ctx context.Context, line []byte) []int {
	re, line := m.expression(line)
	if len(line)*m.weight < effort {
		return re.FindIndex(line)
	}
	return re.FindReaderIndex(m.reader(ctx, line))
}

// runes reads a text until its end or that of ctx.
type runes struct {
	ctx   context.Context
	text  []byte
	every int // bytes between two looks at ctx
	until int // of the bytes left, where ctx is looked at next
}

// reader returns a text rune by rune, so that a search of it can be cancelled in the
// middle.
func (m *Matcher) reader(ctx context.Context, text []byte) *runes {
	return &runes{ctx: ctx, text: text, every: effort / looks / m.weight, until: len(text)}
}

func (r *runes) ReadRune() (rune, int, error) {
	if len(r.text) <= r.until {
		if r.ctx.Err() != nil {
			return 0, 0, io.EOF
		}
		r.until = len(r.text) - r.every - 1
	}
	if len(r.text) == 0 {
		return 0, 0, io.EOF
	}
	c, size := utf8.DecodeRune(r.text)
	r.text = r.text[size:]
	return c, size, nil
}
