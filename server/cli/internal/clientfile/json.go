package clientfile

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonDocument is a [document] in JSON. Offsets are those of text.
type jsonDocument struct {
	place   Entry
	text    []byte
	decoded map[string]any
	root    *object // nil: the text is empty
	table   *object // nil: there is none
	entry   int     // its index in table, -1 without
}

// object is an object of the text with its offsets.
type object struct {
	*hujson.Object
	from, to int
}

func parseJSON(text []byte, p Entry) (document, error) {
	d := &jsonDocument{place: p, text: text, decoded: map[string]any{}, entry: -1}
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return d, nil
	}
	value, err := parseText(text, p.Format)
	if err != nil {
		return nil, err
	}
	root, ok := value.Value.(*hujson.Object)
	if !ok {
		return nil, syntaxError(text, value.StartOffset, "the document is not an object")
	}
	d.root = &object{root, value.StartOffset, value.EndOffset}
	if i := member(root, p.Table); i >= 0 {
		v := root.Members[i].Value
		table, ok := v.Value.(*hujson.Object)
		if !ok {
			return nil, syntaxError(text, v.StartOffset, "%q is not an object", p.Table)
		}
		d.table = &object{table, v.StartOffset, v.EndOffset}
		d.entry = member(table, p.Name)
	}
	plain := text
	if p.Format != JSON {
		if plain, err = hujson.Standardize(bytes.Clone(text)); err != nil { // it works in place
			return nil, err
		}
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber()
	return d, decoder.Decode(&d.decoded)
}

// member returns the index of a key, -1 without.
func member(obj *hujson.Object, key string) int {
	for i, m := range obj.Members {
		if m.Name.Value.(hujson.Literal).String() == key {
			return i
		}
	}
	return -1
}

func (d *jsonDocument) data() map[string]any { return d.decoded }

func (d *jsonDocument) span() (from, to int) {
	if d.entry < 0 {
		return 0, 0
	}
	v := d.table.Members[d.entry].Value
	return v.StartOffset, v.EndOffset
}

func (d *jsonDocument) set(entry any) ([]byte, error) {
	switch {
	case d.root == nil:
		text, err := render(map[string]any{d.place.Table: map[string]any{d.place.Name: entry}}, layout{unit: "  ", newline: newline(d.text), lines: true})
		return splice(d.text, len(d.text), len(d.text), text+newline(d.text)), err
	case d.table == nil:
		l := d.layout(d.root)
		value, err := render(map[string]any{d.place.Name: entry}, l)
		return d.insert(d.root, l, d.place.Table, value), err
	case d.entry < 0:
		l := d.layout(d.table)
		value, err := render(entry, l)
		return d.insert(d.table, l, d.place.Name, value), err
	default:
		from, to := d.span()
		value, err := render(entry, d.layout(d.table))
		return splice(d.text, from, to, value), err
	}
}

// insert adds a member at the end of an object.
func (d *jsonDocument) insert(obj *object, l layout, key, value string) []byte {
	item := quote(key) + ":" + l.space + value
	if l.lines {
		item = l.newline + l.indent + item
	}
	begin := obj.from + 1
	if len(obj.Members) == 0 {
		at, comment := d.lastExtra(begin, obj.to-1)
		if l.lines && !bytes.ContainsRune(d.text[at:obj.to-1], '\n') {
			item += l.newline + d.indentAt(obj.from)
		}
		if !l.lines && comment {
			item = " " + item
		}
		return splice(d.text, at, at, item)
	}
	if !l.lines {
		item = l.space + item
	}
	last := obj.Members[len(obj.Members)-1].Value
	if trailing := last.AfterExtra != nil; trailing {
		at, _ := d.lastExtra(last.EndOffset+len(last.AfterExtra)+1, obj.to-1)
		return splice(d.text, at, at, item+",")
	}
	at, _ := d.lastExtra(last.EndOffset, obj.to-1)
	return splice(splice(d.text, at, at, item), last.EndOffset, last.EndOffset, ",")
}

// lastExtra returns where the last comment between two offsets ends, and whether
// there is one; between them are only white space and comments.
func (d *jsonDocument) lastExtra(from, to int) (end int, comment bool) {
	end = from + len(bytes.TrimRight(d.text[from:to], " \t\r\n"))
	return end, end > from
}

func (d *jsonDocument) remove() ([]byte, error) {
	members, i := d.table.Members, d.entry
	name, value := members[i].Name, members[i].Value
	last := i == len(members)-1
	comma := -1
	if !last || value.AfterExtra != nil {
		comma = value.EndOffset + len(value.AfterExtra)
	}
	if !last {
		return d.cutLine(name.StartOffset, value.EndOffset, comma), nil
	}
	from := d.gap(name.StartOffset, len(name.BeforeExtra), value.EndOffset, comma)
	out := d.text
	if comma >= 0 {
		out = splice(out, comma, comma+1, "")
	}
	out = splice(out, from, value.EndOffset, "")
	if i > 0 {
		if before := members[i-1].Value; comma < 0 {
			at := before.EndOffset + len(before.AfterExtra)
			out = splice(out, at, at+1, "")
		}
		return out, nil
	}
	begin, end := d.table.from+1, d.table.to-1-(len(d.text)-len(out))
	if len(bytes.TrimSpace(out[begin:end])) == 0 {
		out = splice(out, begin, end, "")
	}
	return out, nil
}

// cutLine removes a member that others follow, with its line where it has one
// of its own.
func (d *jsonDocument) cutLine(from, to, comma int) []byte {
	out := splice(splice(d.text, comma, comma+1, ""), from, to, "")
	rest := out[from:]
	blank := len(rest) - len(bytes.TrimLeft(rest, " \t"))
	end := from + blank
	start := from - len(d.indentAt(from))
	ownLine := start == 0 || out[start-1] == '\n'
	switch after := out[end:]; {
	case ownLine && bytes.HasPrefix(after, []byte("\r\n")):
		return splice(out, start, end+2, "")
	case ownLine && bytes.HasPrefix(after, []byte("\n")):
		return splice(out, start, end+1, "")
	}
	return splice(out, from, end, "")
}

// gap returns from where to remove the last member: with the white space before
// it, unless that ends a comment of which what follows would become part.
func (d *jsonDocument) gap(from, extra, to, comma int) int {
	before := d.text[from-extra : from]
	start := from - len(before) + len(bytes.TrimRight(before, " \t\r\n"))
	if comma >= 0 {
		to = comma + 1
	}
	if after := bytes.TrimLeft(d.text[to:], " \t\r"); bytes.HasPrefix(after, []byte("\n")) || !endsInLineComment(before) {
		return start
	}
	return from
}

// endsInLineComment reports whether the last comment of an extra is a "//" one.
func endsInLineComment(extra []byte) bool {
	text, found := string(extra), false
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case strings.HasPrefix(text, "//"):
			found = true
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			found = false
			_, text, _ = strings.Cut(text[2:], "*/")
		default:
			return found
		}
	}
}
