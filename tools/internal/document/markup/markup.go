// Package markup reads XML as a stream.
//
// It is made for files of strangers: it is bounded, it knows no DTD and no entity that a file
// declares, it looks for nothing outside the file, and it goes on after small faults. Names
// are local names, without their prefix. It imports the model and must not import a reader.
// Start at [New].
package markup

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools/internal/document"
	"toolcrib/tools/internal/text/textfile"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds.
const (
	Start Kind = iota + 1 // an element begins; an empty one ends with the next token
	End                   // an element ends
	Text                  // a piece of text; a long one comes in several pieces
)

const (
	window  = 64 << 10 // bytes that are looked at together
	longest = 4 << 20  // bytes of a tag
)

// Decoder reads tokens.
type Decoder struct {
	r          io.Reader
	budget     *document.Budget
	buf        []byte // buf[pos:] is not read yet
	pos        int
	err        error // what r ended with
	stack      []string
	ends       int // elements that end before anything else is read
	empty      bool
	name, full string
	attrs      []attr
	text       []byte
	names      map[string]string
	began      bool
}

type attr struct{ name, value string }

// New returns a decoder for a part of a file.
func New(r io.Reader, budget *document.Budget) *Decoder {
	return &Decoder{r: r, budget: budget, names: map[string]string{}}
}

// Name is the local name of the element that begins or ends.
func (d *Decoder) Name() string { return d.name }

// Full is the name with its prefix.
func (d *Decoder) Full() string { return d.full }

// Text is the text of the token. It is valid until the next token.
func (d *Decoder) Text() []byte { return d.text }

// Depth is how many elements are open. That which begins counts.
func (d *Decoder) Depth() int { return len(d.stack) }

// Attr returns an attribute of the element that begins. A name with a colon is compared
// with its prefix.
func (d *Decoder) Attr(name string) string {
	value, _ := d.Has(name)
	return value
}

// Has is Attr, and reports whether the attribute is there.
func (d *Decoder) Has(name string) (string, bool) {
	whole := strings.IndexByte(name, ':') >= 0
	for _, a := range d.attrs {
		have := a.name
		if !whole {
			have = local(have)
		}
		if have == name {
			return a.value, true
		}
	}
	return "", false
}

func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// Next reads a token. At the end of the file it returns [io.EOF]; if elements are open there,
// an error that says truncated.
func (d *Decoder) Next() (Kind, error) {
	if !d.began {
		d.began = true
		d.begin()
	}
	if d.empty {
		d.empty = false
		d.ends = 1
	}
	for {
		if d.ends > 0 {
			d.ends--
			last := len(d.stack) - 1
			d.full = d.stack[last]
			d.name = local(d.full)
			d.stack = d.stack[:last]
			return End, nil
		}
		if d.pos == len(d.buf) && !d.fill() {
			return 0, d.end()
		}
		if d.buf[d.pos] != '<' {
			return d.readText()
		}
		kind, err := d.tag()
		if kind != 0 || err != nil {
			return kind, err
		}
	}
}

func (d *Decoder) end() error {
	if !errors.Is(d.err, io.EOF) {
		if _, ours := errors.AsType[*document.Error](d.err); ours || d.budget.Err() != nil {
			return d.err
		}
		return document.Errorf(document.Truncated, "a part of the file ends early: %w", d.err)
	}
	if len(d.stack) > 0 {
		return document.Errorf(document.Truncated, "XML ends inside of <%s>", d.stack[len(d.stack)-1])
	}
	return io.EOF
}

// begin finds the encoding.
func (d *Decoder) begin() {
	const declared = 256
	for len(d.buf) < declared && d.fill() {
	}
	head := d.buf
	encoding, n := textfile.BOM(head)
	if n == 0 && bytes.HasPrefix(head, []byte("<?xml")) {
		declaration, _, _ := bytes.Cut(head[:min(len(head), 200)], []byte("?>"))
		if _, value, ok := bytes.Cut(declaration, []byte("encoding=")); ok && len(value) > 2 {
			name, _, _ := bytes.Cut(value[1:], value[:1])
			encoding, _ = textfile.Lookup(string(name))
			if encoding.Unit() > 1 { // contradicts what was just read
				return
			}
		}
	}
	d.pos = n
	if encoding.Name() == "" || encoding.UTF8() {
		return
	}
	rest := bytes.Clone(d.buf[n:])
	d.r = encoding.Reader(io.MultiReader(bytes.NewReader(rest), failing{d.err}, d.r))
	d.buf, d.pos, d.err = d.buf[:0], 0, nil
}

// failing says again how a reader ended.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return 0, io.EOF
}

// fill reads more; false = there is no more.
func (d *Decoder) fill() bool {
	if d.err != nil {
		return false
	}
	if d.err = d.budget.Err(); d.err != nil {
		return false
	}
	if d.pos > 0 {
		d.buf = d.buf[:copy(d.buf, d.buf[d.pos:])]
		d.pos = 0
	}
	if cap(d.buf)-len(d.buf) < window/2 {
		grown := make([]byte, len(d.buf), max(window, 2*cap(d.buf)))
		copy(grown, d.buf)
		d.buf = grown
	}
	for range 100 {
		n, err := d.r.Read(d.buf[len(d.buf):cap(d.buf)])
		d.buf = d.buf[:len(d.buf)+n]
		d.err = err
		if n > 0 || err != nil {
			return n > 0
		}
	}
	d.err = io.ErrNoProgress
	return false
}

// find returns where a byte is in what is not read yet, from an offset; -1 = nowhere.
func (d *Decoder) find(mark string, from int) int {
	for {
		if i := bytes.Index(d.buf[d.pos+from:], []byte(mark)); i >= 0 {
			return from + i
		}
		from = max(from, len(d.buf)-d.pos-len(mark)+1)
		if len(d.buf)-d.pos > longest || !d.fill() {
			return -1
		}
	}
}

func (d *Decoder) readText() (Kind, error) {
	rest := d.buf[d.pos:]
	n := bytes.IndexByte(rest, '<')
	if n < 0 && len(rest) < window/2 && d.fill() {
		return d.readText()
	}
	if n < 0 {
		n = len(rest)
		if d.err == nil { // leave a start of an entity or a character for later
			if amp := bytes.LastIndexByte(rest, '&'); amp > n-40 && amp > 0 {
				n = amp
			}
			for k := 1; k < utf8.UTFMax && k < n; k++ {
				if utf8.RuneStart(rest[n-k]) {
					if !utf8.FullRune(rest[n-k : n]) {
						n -= k
					}
					break
				}
			}
		}
	}
	d.text = unescape(rest[:n])
	d.pos += n
	if err := d.budget.TakeText(0); err != nil {
		return 0, err
	}
	return Text, nil
}

// tag reads what begins with '<'. Kind 0 = nothing that a caller sees.
func (d *Decoder) tag() (Kind, error) {
	const enough = 12 // to tell tags apart
	for len(d.buf)-d.pos < enough && d.fill() {
	}
	rest := d.buf[d.pos:]
	switch {
	case bytes.HasPrefix(rest, []byte("<!--")):
		return 0, d.skipTo("-->", 4)
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		n := d.find("]]>", 9)
		if n < 0 {
			n = len(d.buf) - d.pos
			d.text = valid(d.buf[d.pos+9 : d.pos+n])
			d.pos += n
			return Text, nil
		}
		d.text = valid(d.buf[d.pos+9 : d.pos+n])
		d.pos += n + 3
		return Text, nil
	case bytes.HasPrefix(rest, []byte("<?")):
		return 0, d.skipTo("?>", 2)
	case bytes.HasPrefix(rest, []byte("<!")):
		return 0, d.doctype()
	case len(rest) > 1 && rest[1] == '/':
		return 0, d.endTag()
	case len(rest) > 1 && nameByte(rest[1]):
		return d.startTag()
	}
	d.text = []byte("<")
	d.pos++
	return Text, nil
}

// skipTo skips to a mark, however far it is.
func (d *Decoder) skipTo(mark string, from int) error {
	d.pos = min(d.pos+from, len(d.buf))
	for {
		if i := bytes.Index(d.buf[d.pos:], []byte(mark)); i >= 0 {
			d.pos += i + len(mark)
			return nil
		}
		d.pos = max(d.pos, len(d.buf)-len(mark)+1)
		if !d.fill() {
			d.pos = len(d.buf)
			return nil
		}
	}
}

// doctype skips a declaration of the type. One that declares entities is refused.
func (d *Decoder) doctype() error {
	brackets := 0
	for i := 2; ; i++ {
		if d.pos+i >= len(d.buf) && !d.fill() {
			d.pos = len(d.buf)
			return nil
		}
		if i > longest {
			return tooLong()
		}
		switch d.buf[d.pos+i] {
		case '[':
			brackets++
		case ']':
			brackets--
		case '<':
			for len(d.buf)-d.pos-i < 8 && d.fill() {
			}
			if bytes.HasPrefix(d.buf[d.pos+i:], []byte("<!ENTITY")) {
				return &document.Error{
					Cause: document.TooLarge, Limit: "entities",
					Say: "limit of entities: XML that declares entities is not read",
				}
			}
		case '>':
			if brackets <= 0 {
				d.pos += i + 1
				return nil
			}
		}
	}
}

func tooLong() error {
	return &document.Error{Cause: document.TooLarge, Limit: "tag size", Say: "limit of tag size: a tag has at most 4 MiB"}
}

func (d *Decoder) endTag() error {
	n := d.find(">", 2)
	if n < 0 {
		d.pos = len(d.buf)
		return nil
	}
	name := bytes.TrimSpace(d.buf[d.pos+2 : d.pos+n])
	d.pos += n + 1
	for i, open := range slices.Backward(d.stack) { // an element that was not closed ends with its parent
		if open == string(name) {
			d.ends = len(d.stack) - i
			break
		}
	}
	return nil
}

func (d *Decoder) startTag() (Kind, error) {
	n, err := d.tagEnd()
	if err != nil {
		return 0, err
	}
	if n < 0 {
		d.pos = len(d.buf)
		return 0, nil
	}
	tag := d.buf[d.pos+1 : d.pos+n]
	d.pos += n + 1
	if d.empty = len(tag) > 0 && tag[len(tag)-1] == '/'; d.empty {
		tag = tag[:len(tag)-1]
	}
	end := 0
	for end < len(tag) && !space(tag[end]) {
		end++
	}
	const longestName = 256
	d.full = d.intern(tag[:min(end, longestName)])
	d.name = local(d.full)
	d.readAttrs(tag[end:])
	d.stack = append(d.stack, d.full)
	return Start, d.budget.CheckDepth(len(d.stack))
}

// tagEnd returns where the '>' of a tag is, outside of quotes; -1 = nowhere.
func (d *Decoder) tagEnd() (int, error) {
	quote := byte(0)
	for i := 1; ; {
		for ; d.pos+i < len(d.buf); i++ {
			switch c := d.buf[d.pos+i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '>':
				return i, nil
			}
		}
		if i > longest {
			return 0, tooLong()
		}
		if !d.fill() {
			return -1, nil
		}
	}
}

func (d *Decoder) readAttrs(tag []byte) {
	d.attrs = d.attrs[:0]
	for {
		for len(tag) > 0 && space(tag[0]) {
			tag = tag[1:]
		}
		equal := bytes.IndexByte(tag, '=')
		if equal < 0 {
			return
		}
		name := bytes.TrimSpace(tag[:equal])
		if i := bytes.LastIndexAny(name, " \t\r\n"); i >= 0 { // one without a value precedes
			name = name[i+1:]
		}
		tag = bytes.TrimLeft(tag[equal+1:], " \t\r\n")
		if len(tag) == 0 {
			return
		}
		var value []byte
		if quote := tag[0]; quote == '"' || quote == '\'' {
			end := bytes.IndexByte(tag[1:], quote)
			if end < 0 {
				return
			}
			value, tag = tag[1:1+end], tag[end+2:]
		} else {
			end := bytes.IndexAny(tag, " \t\r\n")
			if end < 0 {
				end = len(tag)
			}
			value, tag = tag[:end], tag[end:]
		}
		d.attrs = append(d.attrs, attr{d.intern(name), d.value(value)})
	}
}

// value keeps short values once, since most are repeated.
func (d *Decoder) value(value []byte) string {
	if bytes.IndexByte(value, '&') < 0 && len(value) <= 12 && len(d.names) < 4096 {
		return d.intern(value)
	}
	return string(unescape(value))
}

func (d *Decoder) intern(name []byte) string {
	if s, ok := d.names[string(name)]; ok {
		return s
	}
	s := strings.ToValidUTF8(string(name), "")
	if len(d.names) < 8192 {
		d.names[s] = s
	}
	return s
}

// Elements calls a function at the start of every element of what is left, until an error: at
// the end io.EOF.
func (d *Decoder) Elements(start func() error) error {
	for {
		kind, err := d.Next()
		if err != nil {
			return err
		}
		if kind == Start {
			if err := start(); err != nil {
				return err
			}
		}
	}
}

// Skip skips the rest of the element that begins.
func (d *Decoder) Skip() error {
	for depth := len(d.stack); len(d.stack) >= depth; {
		if _, err := d.Next(); err != nil {
			return err
		}
	}
	return nil
}

// Inner returns the text of the element that begins, with that of all elements in it.
func (d *Decoder) Inner() (string, error) {
	var b strings.Builder
	for depth := len(d.stack); len(d.stack) >= depth; {
		kind, err := d.Next()
		if err != nil {
			return b.String(), err
		}
		if kind == Text {
			if err := d.budget.TakeText(len(d.text)); err != nil {
				return "", err
			}
			b.Write(d.text)
		}
	}
	return b.String(), nil
}

// Each calls a function for each element that is a child of the one that begins. A function
// that reads nothing has the child skipped.
func (d *Decoder) Each(child func() error) error {
	for depth := len(d.stack); len(d.stack) >= depth; {
		kind, err := d.Next()
		if err != nil {
			return err
		}
		if kind != Start {
			continue
		}
		before := len(d.stack)
		if err := child(); err != nil {
			return err
		}
		for len(d.stack) >= before {
			if _, err := d.Next(); err != nil {
				return err
			}
		}
	}
	return nil
}

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func nameByte(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c == ':' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
