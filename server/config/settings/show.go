package settings

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// masked is shown in the place of a secret.
const masked = "***"

// Show returns a value as a file could have it, in one line. Secrets are masked. For the
// value of a variable of the environment, the name is shown, as doc has it; doc is nil for
// a value that comes from no file.
func (f Field) Show(doc *Document) string {
	var b strings.Builder
	show(&b, f.Value, f.Key, f.rules, doc)
	return b.String()
}

func show(b *strings.Builder, v reflect.Value, at string, r rules, doc *Document) {
	if doc != nil && doc.raw[at] != "" && !r.secret {
		b.WriteString(word(doc.raw[at]))
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			b.WriteString("-")
			return
		}
		v = v.Elem()
	}
	if r.secret && !v.IsZero() {
		b.WriteString(masked)
		return
	}
	if m, ok := reflect.TypeAssert[encoding.TextMarshaler](v); ok {
		if text, err := m.MarshalText(); err == nil {
			b.WriteString(word(string(text)))
			return
		}
	}
	if v.IsZero() && r.fallback != "" {
		b.WriteString(r.fallback)
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		showList(b, v, at, r, doc)
	case reflect.Map:
		showMap(b, v, at, doc)
	case reflect.Struct:
		showStruct(b, v, at, doc)
	case reflect.String:
		b.WriteString(word(v.String()))
	default:
		fmt.Fprint(b, v.Interface())
	}
}

// word quotes a text that a file would have to quote.
func word(text string) string {
	switch {
	case text == "":
		return "-"
	case strings.TrimSpace(text) != text, strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(`,[]{}"'#`, r) }):
		return strconv.Quote(text)
	}
	return text
}

func showList(b *strings.Builder, v reflect.Value, at string, r rules, doc *Document) {
	if v.Len() == 0 {
		b.WriteString("-")
		return
	}
	b.WriteByte('[')
	for i := range v.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		show(b, v.Index(i), item(at, i), r, doc)
	}
	b.WriteByte(']')
}

func showMap(b *strings.Builder, v reflect.Value, at string, doc *Document) {
	if v.Len() == 0 {
		b.WriteString("-")
		return
	}
	var keys []string
	values := map[string]reflect.Value{}
	for it := v.MapRange(); it.Next(); {
		keys = append(keys, it.Key().String())
		values[it.Key().String()] = it.Value()
	}
	slices.Sort(keys)
	b.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(word(key) + ": ")
		show(b, values[key], below(at, key), rules{}, doc)
	}
	b.WriteByte('}')
}

func showStruct(b *strings.Builder, v reflect.Value, at string, doc *Document) {
	b.WriteByte('{')
	first := true
	for _, m := range members(v.Type()) {
		value := v.FieldByIndex(m.index)
		if value.IsZero() {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		b.WriteString(m.key + ": ")
		show(b, value, below(at, m.key), m.rules, doc)
	}
	b.WriteByte('}')
}
