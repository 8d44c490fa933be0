package jsondoc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep values may nest.
const MaxDepth = 1000

// SyntaxError says where a text is no JSON.
type SyntaxError struct {
	Msg          string
	Line, Column int
	Near         string // the line, cut around the place
}

func (e *SyntaxError) Error() string {
	text := fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Msg)
	if e.Near != "" {
		text += ": " + e.Near
	}
	return text
}

// Parse reads a JSON text as RFC 8259 defines it.
func Parse(text string) (*Doc, error) {
	p := &parser{text: text}
	root, err := p.document()
	if err != nil {
		return nil, err
	}
	return &Doc{Text: text, Root: root, Twice: p.twice}, nil
}

// parser reads strict JSON.
type parser struct {
	text  string
	i     int
	depth int
	twice []Note
}

func (p *parser) fail(at int, format string, args ...any) error {
	line, column := position(p.text, at)
	return &SyntaxError{Msg: fmt.Sprintf(format, args...), Line: line, Column: column, Near: near(p.text, at)}
}

// near returns what is in the line at an offset.
func near(text string, at int) string {
	const around = 20
	start := strings.LastIndexByte(text[:min(at, len(text))], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	from, to := max(start, at-around), min(end, at+around)
	return strings.TrimSpace(strings.ToValidUTF8(text[min(from, len(text)):max(from, to)], ""))
}

func (p *parser) unexpected() error {
	if p.i >= len(p.text) {
		return p.fail(p.i, "unexpected end")
	}
	r, _ := utf8.DecodeRuneInString(p.text[p.i:])
	return p.fail(p.i, "unexpected %q", r)
}

func (p *parser) space() {
	for p.i < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.i]) >= 0 {
		p.i++
	}
}

// accept moves past white space and a character, if it comes next.
func (p *parser) accept(c byte) bool {
	p.space()
	if p.i < len(p.text) && p.text[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *parser) document() (*Node, error) {
	root, err := p.value()
	if err != nil {
		return nil, err
	}
	if p.space(); p.i < len(p.text) {
		return nil, p.unexpected()
	}
	return root, nil
}

func (p *parser) value() (*Node, error) {
	p.space()
	if p.i >= len(p.text) {
		return nil, p.unexpected()
	}
	n := &Node{At: p.i}
	switch c := p.text[p.i]; {
	case c == '{' || c == '[':
		if p.depth++; p.depth > MaxDepth {
			return nil, p.fail(p.i, "nested more than %d levels deep", MaxDepth)
		}
		p.i++
		err := p.container(n, c == '{')
		p.depth--
		return n, err
	case c == '"':
		var err error
		n.Kind = String
		n.Text, n.Raw, err = p.str()
		return n, err
	case c == '-' || isDigit(c):
		size := numberSize(p.text[p.i:])
		if size == 0 {
			return nil, p.fail(p.i, "no number")
		}
		n.Kind, n.Raw = Number, p.text[p.i:p.i+size]
		p.i += size
		return n, nil
	}
	for word, kind := range literals {
		if strings.HasPrefix(p.text[p.i:], word) {
			n.Kind, n.Raw = kind, word
			p.i += len(word)
			return n, nil
		}
	}
	return nil, p.unexpected()
}

var literals = map[string]Kind{"true": Boolean, "false": Boolean, "null": Null}

func (p *parser) container(n *Node, object bool) error {
	closer := byte(']')
	n.Kind = Array
	if object {
		closer, n.Kind = '}', Object
	}
	if p.accept(closer) {
		return nil
	}
	seen := map[string]int{}
	for {
		var m Member
		if object {
			var err error
			p.space()
			if m.At = p.i; p.i >= len(p.text) || p.text[p.i] != '"' {
				return p.unexpected()
			}
			if m.Key, m.Raw, err = p.str(); err != nil {
				return err
			}
			p.note(seen, m)
			if !p.accept(':') {
				return p.unexpected()
			}
		}
		var err error
		if m.Value, err = p.value(); err != nil {
			return err
		}
		n.add(m)
		if p.accept(closer) {
			return nil
		}
		if !p.accept(',') {
			return p.unexpected()
		}
	}
}

func (n *Node) add(m Member) {
	if n.Kind == Object {
		n.Members = append(n.Members, m)
	} else {
		n.Items = append(n.Items, m.Value)
	}
}

// maxNotes is how many remarks of a kind a document has at most.
const maxNotes = 1000

// note remarks that a key was seen before.
func (p *parser) note(seen map[string]int, m Member) {
	first, twice := seen[m.Key]
	if !twice {
		seen[m.Key] = m.At
	} else if len(p.twice) < maxNotes {
		line, column := position(p.text, first)
		p.twice = append(p.twice, Note{m.At, fmt.Sprintf("duplicate key %s, first at %d:%d", m.Raw, line, column)})
	}
}

// str reads a string; raw is its text with the quotes.
func (p *parser) str() (text, raw string, err error) {
	start := p.i
	p.i++
	var b strings.Builder
	for {
		plain := p.i
		for p.i < len(p.text) && p.text[p.i] != '"' && p.text[p.i] != '\\' && p.text[p.i] >= ' ' {
			p.i++
		}
		if !utf8.ValidString(p.text[plain:p.i]) {
			return "", "", p.fail(plain, "not valid UTF-8")
		}
		b.WriteString(p.text[plain:p.i])
		switch {
		case p.i >= len(p.text):
			return "", "", p.fail(start, "string without an end")
		case p.text[p.i] == '"':
			p.i++
			return b.String(), p.text[start:p.i], nil
		case p.text[p.i] < ' ':
			return "", "", p.fail(p.i, "control character %q in a string; write it as an escape", p.text[p.i])
		}
		r, size := escape(p.text[p.i:])
		if size == 0 {
			return "", "", p.fail(p.i, "invalid escape")
		}
		b.WriteRune(r)
		p.i += size
	}
}

var escapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape reads an escape at the start of a text; size is 0 if there is none. Half of a
// surrogate pair becomes U+FFFD.
func escape(s string) (r rune, size int) {
	if len(s) < 2 {
		return 0, 0
	}
	if r, ok := escapes[s[1]]; ok {
		return r, 2
	}
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
			return 0, false
		}
		for _, c := range []byte(s[2:6]) {
			if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
				return 0, false
			}
		}
		v, err := strconv.ParseUint(s[2:6], 16, 32)
		return rune(v), err == nil
	}
	high, ok := unit(s)
	if !ok {
		return 0, 0
	}
	if high < 0xd800 || high > 0xdfff {
		return high, 6
	}
	if low, ok := unit(s[6:]); ok && high < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
		return (high-0xd800)<<10 + (low - 0xdc00) + 0x10000, 12
	}
	return utf8.RuneError, 6
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// numberSize is the length of the JSON number at the start of a text, 0 if there is none.
func numberSize(s string) int {
	i := 0
	digits := func() bool {
		start := i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		return i > start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return 0
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}
