package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// text reads a string in either kind of quotes.
func (p *parser) text() (string, error) {
	end := p.s[p.i]
	p.loose = p.loose || end == '\''
	p.i++
	start := p.i
	var b []byte // the unescaped text so far; nil = equal to the source
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case end:
			p.i++
			if b == nil {
				return p.s[start : p.i-1], nil
			}
			return string(append(b, p.s[start:p.i-1]...)), nil
		case '\\':
			b = append(b, p.s[start:p.i]...)
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
			start = p.i
			if b == nil {
				b = []byte{}
			}
		default:
			p.loose = p.loose || c < ' '
			p.i++
		}
	}
	return "", p.fail("string without an end")
}

func (p *parser) escape(b []byte) ([]byte, error) {
	rest := p.s[p.i+1:]
	if rest == "" {
		p.i++
		return nil, p.unexpected()
	}
	if i := strings.IndexByte(`"\/bfnrt`, rest[0]); i >= 0 {
		p.i += 2
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	switch c := rest[0]; c {
	case 'u':
		return p.unicode(b)
	case '\'':
		p.loose = true
		p.i += 2
		return append(b, '\''), nil
	case '\n', '\r': // a continued line
		p.loose = true
		p.i += 2
		if c == '\r' && p.peek() == '\n' {
			p.i++
		}
		return b, nil
	case 'x':
		if n, err := strconv.ParseUint(rest[1:min(3, len(rest))], 16, 8); err == nil && len(rest) >= 3 {
			p.loose = true
			p.i += 4
			return utf8.AppendRune(b, rune(n)), nil
		}
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return nil, p.fail(`invalid escape \%c (a backslash is written \\)`, r)
}

// unicode reads \uXXXX, or two of them that make a surrogate pair.
func (p *parser) unicode(b []byte) ([]byte, error) {
	unit := func(at int) (rune, bool) {
		if at+6 > len(p.s) || p.s[at:at+2] != `\u` {
			return 0, false
		}
		n, err := strconv.ParseUint(p.s[at+2:at+6], 16, 16)
		return rune(n), err == nil
	}
	first, ok := unit(p.i)
	if !ok {
		return nil, p.fail(`invalid escape \u`)
	}
	if first < 0xd800 || first > 0xdfff {
		p.i += 6
		return utf8.AppendRune(b, first), nil
	}
	second, ok := unit(p.i + 6)
	if !ok || first > 0xdbff || second < 0xdc00 || second > 0xdfff {
		return nil, p.fail("half of a surrogate pair")
	}
	p.i += 12
	return utf8.AppendRune(b, (first-0xd800)<<10+(second-0xdc00)+0x10000), nil
}
