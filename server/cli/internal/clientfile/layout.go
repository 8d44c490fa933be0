package clientfile

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// layout is how the members of an object are written.
type layout struct {
	lines   bool   // one a line, else all on one
	indent  string // before a member
	unit    string // one more level
	newline string
	space   string // after a colon, and where all are on one line after a comma
}

// layout tells the layout of an object from its last member, else from the text
// around it.
func (d *jsonDocument) layout(obj *object) layout {
	l := layout{unit: d.unit(), newline: newline(d.text), space: " "}
	if len(obj.Members) == 0 {
		l.lines = len(d.root.Members) == 0 || d.onLines(d.root) || bytes.ContainsRune(d.text[obj.from:obj.to], '\n')
		l.indent = d.indentAt(obj.from) + l.unit
	} else {
		last := obj.Members[len(obj.Members)-1]
		l.lines = d.onLines(obj)
		l.indent = d.indentAt(last.Name.StartOffset)
	}
	if !l.lines {
		l.space = d.space()
	}
	return l
}

// onLines reports whether an object has a line end before its last member or
// after it.
func (d *jsonDocument) onLines(obj *object) bool {
	last := obj.Members[len(obj.Members)-1]
	return bytes.ContainsRune(last.Name.BeforeExtra, '\n') || bytes.ContainsRune(d.text[last.Value.EndOffset:obj.to], '\n')
}

// unit is one level of indentation: that of the first member of the document.
func (d *jsonDocument) unit() string {
	if len(d.root.Members) > 0 {
		first := d.root.Members[0].Name
		if bytes.ContainsRune(first.BeforeExtra, '\n') {
			if unit := strings.TrimPrefix(d.indentAt(first.StartOffset), d.indentAt(d.root.from)); unit != "" {
				return unit
			}
		}
	}
	return "  "
}

// space is the text between a key's colon and its value in a document of one line.
func (d *jsonDocument) space() string {
	for v := range (&hujson.Value{Value: d.root.Object}).All() {
		if obj, ok := v.Value.(*hujson.Object); ok && len(obj.Members) > 0 {
			if bytes.HasPrefix(obj.Members[0].Value.BeforeExtra, []byte(" ")) {
				return " "
			}
			return ""
		}
	}
	return " "
}

// indentAt is the white space that the line of an offset begins with.
func (d *jsonDocument) indentAt(offset int) string {
	line := d.text[bytes.LastIndexByte(d.text[:offset], '\n')+1 : offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// render writes a value that begins on a member's line.
func render(value any, l layout) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if l.lines {
		enc.SetIndent(l.indent, l.unit)
	}
	if err := enc.Encode(value); err != nil {
		return "", err
	}
	text := strings.TrimSuffix(b.String(), "\n")
	return strings.ReplaceAll(text, "\n", l.newline), nil
}

// quote is a string as JSON.
func quote(s string) string { return string(hujson.String(s)) }
