package schema

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep arguments may nest.
const maxDepth = 64

// parse reads one JSON or JSON5 value whose containers nest at most depth levels. Values
// are those of encoding/json with UseNumber; loose reports whether the text is not strict
// JSON.
//
// One parser reads both, since JSON is a subset of JSON5. It keeps the digits that a JSON5
// library loses (titanous/json5 reads 12345678901234567890 as a float), and refuses what
// encoding/json accepts: duplicate keys, invalid UTF-8, lone surrogates. It differs from
// JSON5 in two points. A needless backslash is an error, since "\d" read as "d" would
// silently change a regular expression. And strings may contain line breaks, since models
// sometimes escape once where they should escape twice.
func parse(s string, depth int) (v any, loose bool, err error) {
	if !utf8.ValidString(s) {
		return nil, false, errors.New("not valid UTF-8")
	}
	p := parser{s: s}
	if v, err = p.value(depth); err != nil {
		return nil, false, err
	}
	if err := p.space(); err != nil {
		return nil, false, err
	}
	if p.i < len(s) {
		return nil, false, fmt.Errorf("trailing data: %w", p.unexpected())
	}
	return v, p.loose, nil
}

type parser struct {
	s     string
	i     int
	loose bool
}

func (p *parser) fail(format string, args ...any) error {
	return fmt.Errorf("%s at byte %d", fmt.Sprintf(format, args...), p.i+1)
}

func (p *parser) unexpected() error {
	if p.i >= len(p.s) {
		return p.fail("unexpected end")
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.i:])
	return p.fail("unexpected %q", r)
}

// peek returns the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.i < len(p.s) {
		return p.s[p.i]
	}
	return 0
}

// space skips white space and comments.
func (p *parser) space() error {
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == ' ' || c == '\n' || c == '\r' || c == '\t':
			p.i++
		case c == '/':
			p.loose = true
			if err := p.comment(); err != nil {
				return err
			}
		case c == '\v' || c == '\f':
			p.loose = true
			p.i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(p.s[p.i:])
			if r != '\ufeff' && r != '\u2028' && r != '\u2029' && !unicode.Is(unicode.Zs, r) {
				return nil
			}
			p.loose = true
			p.i += size
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) comment() error {
	rest := p.s[p.i:]
	switch {
	case strings.HasPrefix(rest, "//"):
		if end := strings.IndexAny(rest, "\n\r\u2028\u2029"); end >= 0 {
			p.i += end
		} else {
			p.i = len(p.s)
		}
		return nil
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest[2:], "*/")
		if end < 0 {
			return p.fail("comment without an end")
		}
		p.i += end + 4
		return nil
	}
	return p.unexpected()
}

func (p *parser) value(depth int) (any, error) {
	if err := p.space(); err != nil {
		return nil, err
	}
	switch c := p.peek(); {
	case c == '{' || c == '[':
		if depth == 0 {
			return nil, p.fail("nested more than %d levels deep", maxDepth)
		}
		p.i++
		if c == '{' {
			return p.object(depth - 1)
		}
		return p.array(depth - 1)
	case c == '"' || c == '\'':
		return p.text()
	case c == '-' || c == '+' || c == '.' || isDigit(c):
		return p.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if strings.HasPrefix(p.s[p.i:], word) {
			p.i += len(word)
			if word == "null" {
				return nil, nil
			}
			return word == "true", nil
		}
	}
	return nil, p.unexpected()
}

// next moves past a comma or the closing bracket and reports whether it was the bracket.
func (p *parser) next(end byte) (done bool, err error) {
	if err := p.space(); err != nil {
		return false, err
	}
	switch p.peek() {
	case end:
		p.i++
		return true, nil
	case ',':
		p.i++
		if err := p.space(); err != nil {
			return false, err
		}
		if p.peek() == end {
			p.loose = true
			p.i++
			return true, nil
		}
		return false, nil
	}
	return false, p.unexpected()
}

func (p *parser) array(depth int) (any, error) {
	list := []any{}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.peek() == ']' {
		p.i++
		return list, nil
	}
	for {
		v, err := p.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if done, err := p.next(']'); done || err != nil {
			return list, err
		}
	}
}

func (p *parser) object(depth int) (any, error) {
	obj := map[string]any{}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.peek() == '}' {
		p.i++
		return obj, nil
	}
	for {
		start := p.i
		key, err := p.key()
		if err != nil {
			return nil, err
		}
		if _, twice := obj[key]; twice {
			p.i = start
			return nil, p.fail("duplicate key %s", quote(key))
		}
		if err := p.space(); err != nil {
			return nil, err
		}
		if p.peek() != ':' {
			return nil, p.unexpected()
		}
		p.i++
		if obj[key], err = p.value(depth); err != nil {
			return nil, err
		}
		if done, err := p.next('}'); done || err != nil {
			return obj, err
		}
		if err := p.space(); err != nil {
			return nil, err
		}
	}
}

func (p *parser) key() (string, error) {
	if c := p.peek(); c == '"' || c == '\'' {
		return p.text()
	}
	start := p.i
	for p.i < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[p.i:])
		if r != '_' && r != '$' && !unicode.IsLetter(r) && (p.i == start || !unicode.IsDigit(r)) {
			break
		}
		p.i += size
	}
	if p.i == start {
		return "", p.unexpected()
	}
	p.loose = true
	return p.s[start:p.i], nil
}
