package jsondoc

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Repair reads a JSON text, or one that is nearly JSON: JSON5, comments, literals of Python and
// JavaScript, a code fence or words around it, commas, quotes and brackets that are missing or
// too many, several documents in a row. A text without JSON is an error. What is JSON is read as [Parse] reads it.
func Repair(text string) (*Doc, error) {
	doc, strict := Parse(text)
	if strict == nil {
		return doc, nil
	}
	if !utf8.ValidString(text) {
		return nil, strict
	}
	r := &repairer{parser: parser{text: text}, end: len(text)}
	root, err := r.whole()
	if err != nil {
		return nil, err
	}
	return &Doc{Text: text, Root: root, Repairs: r.notes, Twice: r.twice}, nil
}

// repairer reads what is nearly JSON. It looks at the text up to end.
type repairer struct {
	parser
	end   int
	open  []byte // the brackets that are open
	notes []Note
	work  int // bytes looked at more than once, to find out what is meant
}

func (r *repairer) note(at int, format string, args ...any) {
	n := len(r.notes)
	if n == maxNotes {
		return
	}
	if note := (Note{at, fmt.Sprintf(format, args...)}); n == 0 || r.notes[n-1] != note {
		r.notes = append(r.notes, note)
	}
}

// peek returns the next byte, 0 at the end.
func (r *repairer) peek() byte {
	if r.i < r.end {
		return r.text[r.i]
	}
	return 0
}

func (r *repairer) rest() string { return r.text[r.i:r.end] }

// Expressions are compiled when they are first needed: most programs that start repair nothing.
var fence = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?s)```[\\w.+-]*[ \t]*\r?\n(.*?)(?:\r?\n[ \t]*```|$)")
})

// whole reads the document in a text with other things around it.
func (r *repairer) whole() (*Node, error) {
	if m := fence().FindStringSubmatchIndex(r.text); m != nil && strings.IndexByte("{[\"", strings.TrimSpace(r.text)[0]) < 0 {
		r.note(m[0], "code fence left out")
		r.i, r.end = m[2], m[3]
	}
	r.blank()
	first, within := r.i, false
	if markup(r.rest()) {
		return nil, r.fail(first, "HTML or XML, no JSON")
	}
	if start := strings.IndexAny(r.rest(), "{["); start > 0 && r.prose(start) {
		r.note(r.i, "text before the document left out")
		r.i += start
		within = true
	}
	begin := r.i
	root, err := r.item()
	if err != nil {
		return nil, err
	}
	full := len(root.Items)+len(root.Members) > 0
	if within && !r.evident(root) && (full || strings.Trim(r.rest(), " \t\r\n.;)`") != "") {
		return nil, r.fail(first, "no JSON in this text")
	}
	list := []*Node{root}
	for r.blank(); r.i < r.end; r.blank() {
		c := r.peek()
		if c == ',' || c == ']' || c == '}' || c == ';' {
			r.note(r.i, "%q after the document left out", c)
			r.i++
			continue
		}
		next, err := (*Node)(nil), error(nil)
		if container := root.Kind == Object || root.Kind == Array; !container || c == '{' || c == '[' {
			next, err = r.item()
		}
		if next == nil || err != nil {
			if root.Kind != Object && root.Kind != Array {
				return nil, r.unexpected()
			}
			r.note(r.i, "text after the document left out")
			break
		}
		list = append(list, next)
	}
	if len(list) == 1 {
		return root, nil
	}
	r.note(begin, "%d documents read as an array", len(list))
	return &Node{Kind: Array, At: begin, Items: list}, nil
}

// markup reports whether a text begins as HTML or XML does.
func markup(text string) bool {
	head := strings.ToLower(text[:min(len(text), 9)])
	for _, begin := range []string{"<!doctype", "<!--", "<?xml", "<html"} {
		if strings.HasPrefix(head, begin) {
			return true
		}
	}
	return false
}

// evident reports whether a value has something that words in brackets have not: a quote, a
// number or a literal.
func (r *repairer) evident(n *Node) bool {
	quoted := func(at int) bool { return at < r.end && quotes[firstRune(r.text[at:])] != 0 }
	switch n.Kind {
	case Object:
		return slices.ContainsFunc(n.Members, func(m Member) bool { return quoted(m.At) || r.evident(m.Value) })
	case Array:
		return slices.ContainsFunc(n.Items, r.evident)
	case String:
		return quoted(n.At)
	}
	return n.At < r.end && strings.IndexByte(",;]}", r.text[n.At]) < 0 // or it is missing
}

// prose reports whether what comes before a bracket is no value itself.
func (r *repairer) prose(bracket int) bool {
	before := r.rest()[:bracket]
	first := before[0]
	if strings.IndexByte("\"'`-+.", first) >= 0 || isDigit(first) || first >= utf8.RuneSelf && quotes[firstRune(before)] != 0 {
		return false
	}
	_, literal := words[strings.TrimRight(before, " \t\r\n,")]
	return !literal
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// blank skips white space and comments.
func (r *repairer) blank() {
	for r.i < r.end {
		c, size := utf8.DecodeRuneInString(r.rest())
		rest := r.rest()
		switch {
		case c == '\ufeff':
			r.note(r.i, "byte order mark left out")
			r.i += size
		case unicode.IsSpace(c):
			r.i += size
		case strings.HasPrefix(rest, "//"), c == '#':
			r.note(r.i, "comment left out")
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				r.i += n
			} else {
				r.i = r.end
			}
		case strings.HasPrefix(rest, "/*"):
			r.note(r.i, "comment left out")
			if n := strings.Index(rest[2:], "*/"); n >= 0 {
				r.i += n + 4
			} else {
				r.i = r.end
			}
		default:
			return
		}
	}
}

// item reads a value.
func (r *repairer) item() (*Node, error) {
	r.blank()
	n := &Node{At: r.i}
	c := r.peek()
	switch {
	case r.i >= r.end:
		return nil, r.unexpected()
	case r.work > 1<<20+8*len(r.text):
		return nil, r.fail(r.i, "too much is wrong before this to be repaired")
	case c == '{' || c == '[':
		if len(r.open) >= MaxDepth {
			return nil, r.fail(r.i, "nested more than %d levels deep", MaxDepth)
		}
		r.i++
		r.open = append(r.open, c+2) // the closing bracket of both is two further
		err := r.container(n, c == '{')
		r.open = r.open[:len(r.open)-1]
		return n, err
	case quotes[firstRune(r.rest())] != 0:
		n.Kind = String
		n.Text, n.Raw = r.quoted(false)
		return n, nil
	}
	word := r.word()
	if word == "" {
		return nil, r.unexpected()
	}
	return n, r.scalar(n, word)
}

// words are literals of JSON and of other languages.
var words = map[string]string{
	"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "TRUE": "true", "FALSE": "false",
	"None": "null", "NULL": "null", "Null": "null", "nil": "null", "undefined": "null", "NaN": "null", "nan": "null", "-NaN": "null", "+NaN": "null", "-nan": "null",
	"Infinity": "null", "-Infinity": "null", "+Infinity": "null", "inf": "null", "-inf": "null", "+inf": "null",
}

// word reads what has no quotes, up to the next bracket, comma or line; a date and an
// address have colons.
func (r *repairer) word() string {
	rest := r.rest()
	size := strings.IndexAny(rest, "{}[],;\n\r\"")
	if size < 0 {
		size = len(rest)
	}
	r.work += size
	for _, comment := range []string{" //", " #", "/*"} {
		if i := strings.Index(rest[:size], comment); i >= 0 {
			size = i
		}
	}
	// After a number or a literal a comma is missing.
	if first, _, more := strings.Cut(rest[:size], " "); more && (words[first] != "" || looseNumber(first) != "") {
		size = len(first)
	}
	r.i += size
	return strings.TrimSpace(rest[:size])
}

// scalar reads a word: a literal, a number, or a string without quotes.
func (r *repairer) scalar(n *Node, word string) error {
	if raw, ok := words[word]; ok {
		if n.Kind, n.Raw = literals[raw], raw; raw != word {
			r.note(n.At, "%s read as %s", word, raw)
		}
		return nil
	}
	if numberSize(word) == len(word) {
		n.Kind, n.Raw = Number, word
		return nil
	}
	if raw := looseNumber(word); raw != "" {
		n.Kind, n.Raw = Number, raw
		r.note(n.At, "%s read as %s", word, raw)
		return nil
	}
	if len(r.open) == 0 {
		return r.fail(n.At, "no JSON in this text")
	}
	n.Kind, n.Text, n.Raw = String, word, Quote(word)
	r.note(n.At, "%s without quotes read as a string", clipped(word))
	return nil
}

var (
	hexadecimal = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?0[xX][0-9a-fA-F]+$`) })
	decimal     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([+-]?)0*(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$`)
	})
)

// looseNumber returns a number of another language as JSON writes it, "" if it is none.
func looseNumber(word string) string {
	word = strings.ReplaceAll(word, "_", "")
	if len(word) < 256 && hexadecimal().MatchString(word) {
		if i, ok := new(big.Int).SetString(strings.TrimPrefix(word, "+"), 0); ok {
			return i.String()
		}
	}
	m := decimal().FindStringSubmatch(word)
	if m == nil || !strings.ContainsAny(word, "0123456789") || isDigit(word[len(word)-1]) && m[2] == "" && m[3] == "" && !strings.Contains(word, "0") {
		return ""
	}
	raw := strings.TrimPrefix(m[1], "+")
	if m[2] == "" {
		m[2] = "0"
	}
	raw += m[2]
	if m[3] != "" {
		raw += "." + m[3]
	}
	if raw += m[4]; numberSize(raw) != len(raw) {
		return ""
	}
	return raw
}

func clipped(word string) string {
	if runes := []rune(word); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return word
}

// closes reports whether the container ends here, and moves past its bracket.
func (r *repairer) closes(closer byte) bool {
	c := r.peek()
	switch {
	case r.i >= r.end:
		r.note(r.i, "missing %q at the end", closer)
		return true
	case c == closer:
		r.i++
		return true
	case c == ']' || c == '}':
		if strings.IndexByte(string(r.open[:len(r.open)-1]), c) >= 0 {
			r.note(r.i, "missing %q", closer)
			return true
		}
		r.note(r.i, "%q read as %q", c, closer)
		r.i++
		return true
	}
	return false
}

func (r *repairer) container(n *Node, object bool) error {
	closer := byte(']')
	n.Kind = Array
	if object {
		closer, n.Kind = '}', Object
	}
	seen := map[string]int{}
	for first := true; ; first = false {
		r.blank()
		if r.peek() == ';' {
			r.note(r.i, "';' read as a comma")
		}
		if c := r.peek(); c == ',' || c == ';' {
			if r.i++; first {
				r.note(r.i-1, "comma left out")
			}
			r.blank()
			for ; r.peek() == ','; r.blank() {
				r.note(r.i, "comma left out")
				r.i++
			}
			if c := r.peek(); c == ']' || c == '}' {
				r.note(r.i, "comma before the end left out")
			}
		} else if !first && r.i < r.end && r.peek() != ']' && r.peek() != '}' {
			r.note(r.i, "missing comma")
		}
		if r.closes(closer) {
			return nil
		}
		m := Member{At: r.i}
		if object {
			if err := r.key(&m); err != nil {
				return err
			}
			r.parser.note(seen, m)
			r.blank()
			if c := r.peek(); r.i >= r.end || c == ',' || c == '}' {
				r.note(r.i, "missing value of %s read as null", clipped(m.Raw))
				n.add(Member{m.Key, m.Raw, m.At, &Node{Kind: Null, Raw: "null", At: r.i}})
				continue
			}
		}
		var err error
		at := r.i
		if m.Value, err = r.item(); err != nil {
			return err
		}
		n.add(m)
		if r.i == at {
			return r.unexpected()
		}
	}
}

// key reads a key with its colon.
func (r *repairer) key(m *Member) error {
	if quotes[firstRune(r.rest())] != 0 {
		m.Key, m.Raw = r.quoted(true)
	} else {
		rest := r.rest()
		size := strings.IndexAny(rest, ":={}[],\"\n")
		if size <= 0 {
			return r.unexpected()
		}
		m.Key = strings.TrimSpace(rest[:size])
		m.Raw = Quote(m.Key)
		r.note(m.At, "key %s without quotes", clipped(m.Key))
		r.i += size
	}
	r.blank()
	for _, sign := range []string{":", "=>", "="} {
		if strings.HasPrefix(r.rest(), sign) {
			if sign != ":" {
				r.note(r.i, "%s read as a colon", sign)
			}
			r.i += len(sign)
			return nil
		}
	}
	if r.i >= r.end {
		return nil // cut off; its value is missing
	}
	return r.unexpected()
}

// quotes are the characters that begin a string, and those that end it.
var quotes = map[rune]rune{'"': '"', '\'': '\'', '`': '`', '“': '”', '”': '”', '„': '“', '‘': '’', '’': '’'}

// quoted reads a string in any quotes. A quote in it counts as its end only if a comma, a
// colon, a bracket, a comment or the end of the line follows.
func (r *repairer) quoted(key bool) (text, raw string) {
	start := r.i
	opening, size := utf8.DecodeRuneInString(r.rest())
	closing := quotes[opening]
	r.i += size
	if opening != '"' {
		r.note(start, "string in %c…%c", opening, closing)
	}
	begin, told := r.i, len(r.notes)
	windows := drive().MatchString(r.rest())
	var b strings.Builder
	for r.i < r.end {
		c, size := utf8.DecodeRuneInString(r.rest())
		switch {
		case c == closing && r.ends(size):
			r.i += size
			// The value of one line has no closing quote if this is that of a key below.
			if key || r.peek() != ':' || !strings.Contains(b.String(), "\n") {
				return b.String(), r.raw(start, b.String(), opening)
			}
			r.notes = r.notes[:told]
			return r.line(start, begin)
		case c == closing:
			r.note(r.i, "quote in a string kept")
			b.WriteRune(c)
			r.i += size
		case c == '\\' && windows && !strings.HasPrefix(r.rest(), "\\\\"):
			r.note(start, "backslashes of a Windows path kept")
			b.WriteRune(c)
			r.i += size
		case c == '\\':
			b.WriteString(r.escaped())
		default:
			if c < ' ' {
				r.note(r.i, "control character %q in a string kept", c)
			}
			b.WriteRune(c)
			r.i += size
		}
	}
	if strings.Contains(r.text[begin:r.end], "\n") {
		r.notes = r.notes[:told]
		return r.line(start, begin)
	}
	r.note(start, "string without an end")
	return b.String(), Quote(b.String())
}

// drive is how a Windows path begins.
var drive = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:\\[^\\"]`) })

// line reads a string whose closing quote is missing: it ends with its line, or with the comma
// at the end of that.
func (r *repairer) line(start, begin int) (text, raw string) {
	r.work += r.i - begin
	r.note(start, "string without an end")
	text, _, _ = strings.Cut(r.text[begin:r.end], "\n")
	text = strings.TrimSuffix(strings.TrimRight(text, " \t\r"), ",")
	r.i = begin + len(text)
	return text, Quote(text)
}

// raw returns a string as JSON writes it, with its own escapes where it is JSON already.
func (r *repairer) raw(start int, text string, opening rune) string {
	if opening == '"' {
		p := parser{text: r.text[:r.i], i: start}
		if same, raw, err := p.str(); err == nil && same == text && p.i == r.i {
			return raw
		}
	}
	return Quote(text)
}

// ends reports whether a quote of that size is the end of its string, by what follows.
func (r *repairer) ends(size int) bool {
	after := strings.TrimLeft(r.text[r.i+size:r.end], " \t\r")
	return after == "" || strings.IndexByte(",:]}\n=", after[0]) >= 0 || strings.HasPrefix(after, "//") || strings.HasPrefix(after, "/*") || after[0] == '#'
}

// escaped reads an escape in a string.
func (r *repairer) escaped() string {
	rest := r.rest()
	if c, size := escape(rest); size > 0 {
		r.i += size
		return string(c)
	}
	switch {
	case len(rest) > 1 && (rest[1] == '\'' || rest[1] == '`'):
		r.i += 2
		return rest[1:2]
	case strings.HasPrefix(rest, "\\\n"), strings.HasPrefix(rest, "\\\r\n"): // JSON5: the line goes on
		r.i += strings.IndexByte(rest, '\n') + 1
		return ""
	}
	r.note(r.i, "backslash that is no escape kept")
	r.i++
	return "\\"
}
