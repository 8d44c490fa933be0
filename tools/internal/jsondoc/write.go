package jsondoc

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Style says how to write a document.
type Style struct {
	Indent string // of one level; "" = everything in one line
	Sorted bool   // keys by their bytes
	Most   int    // bytes, behind which a longer text breaks off: the indents of deep values add up; 0 = any
}

// Format writes a value: its scalars as they were written, its keys in their order.
func (n *Node) Format(style Style) string {
	var b strings.Builder
	n.write(&b, style, "\n")
	return b.String()
}

func (n *Node) write(b *strings.Builder, style Style, line string) {
	open, end := "[", "]"
	switch n.Kind {
	case Object:
		open, end = "{", "}"
	case Array:
	default:
		b.WriteString(n.Raw)
		return
	}
	b.WriteString(open)
	inner := line + style.Indent
	first := true
	begin := func() {
		if !first {
			b.WriteByte(',')
		}
		if first = false; style.Indent != "" {
			b.WriteString(inner)
		}
	}
	over := func() bool { return style.Most > 0 && b.Len() > style.Most }
	for _, item := range n.Items {
		if over() {
			return
		}
		begin()
		item.write(b, style, inner)
	}
	members := n.Members
	if style.Sorted {
		members = slices.Clone(members)
		slices.SortStableFunc(members, func(x, y Member) int { return cmp.Compare(x.Key, y.Key) })
	}
	for _, m := range members {
		if over() {
			return
		}
		begin()
		b.WriteString(m.Raw)
		if b.WriteByte(':'); style.Indent != "" {
			b.WriteByte(' ')
		}
		m.Value.write(b, style, inner)
	}
	if over() {
		return
	}
	if !first && style.Indent != "" {
		b.WriteString(line)
	}
	b.WriteString(end)
}

// Quote writes a string as JSON does, and escapes nothing that needs no escape.
func Quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
