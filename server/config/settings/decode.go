package settings

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"toolcrib/schema"
)

// Options resolve the references of a file.
type Options struct {
	// Name is what errors call the file.
	Name string
	// Getenv returns the value of ${NAME}; nil refuses variables.
	Getenv func(name string) (value string, set bool)
	// ReadSecret returns the contents of the file of {file: PATH}; nil refuses it.
	ReadSecret func(path string) (string, error)
}

// Decode sets the fields of the struct that dst points to, see [Fields], as the file
// says, and leaves the others alone. The error is [Problems], all those of the file; dst
// then has only the valid values.
func Decode(data []byte, dst any, opt Options) (*Document, error) {
	d := &decoder{opt: opt, doc: &Document{Name: opt.Name, positions: map[string]position{}, raw: map[string]string{}}}
	top := d.root(data)
	if top != nil {
		d.top(top, Fields(dst))
	}
	if len(d.problems) == 0 {
		return d.doc, nil
	}
	return d.doc, Problems(nil).With(d.problems)
}

type decoder struct {
	opt      Options
	doc      *Document
	problems Problems
}

func (d *decoder) fail(n *yaml.Node, at, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.doc.Name, n.Line, n.Column, at, fmt.Sprintf(format, args...)})
}

func (d *decoder) top(n *yaml.Node, fields []Field) {
	known := map[string]Field{}
	for _, f := range fields {
		known[f.Key] = f
	}
	d.each(n, "", slices.Collect(maps.Keys(known)), func(key string, value *yaml.Node) {
		d.doc.defined = append(d.doc.defined, key)
		d.value(value, known[key].Value, key, known[key].rules)
	})
}

// each calls f for the keys of a mapping that are known, once for each.
func (d *decoder) each(n *yaml.Node, at string, known []string, f func(key string, value *yaml.Node)) {
	slices.Sort(known)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag == "!!merge" || seen[key.Value] {
			continue // check has told
		}
		seen[key.Value] = true
		if known != nil && !slices.Contains(known, key.Value) {
			dashes := strings.ReplaceAll(strings.TrimLeft(key.Value, "-"), "-", "_")
			if near := schema.Nearest(dashes, known); near != "" {
				d.fail(key, below(at, key.Value), "there is no such key; did you mean %s", near)
			} else {
				d.fail(key, below(at, key.Value), "there is no such key; there are: %s", strings.Join(known, ", "))
			}
			continue
		}
		d.doc.positions[below(at, key.Value)] = position{key.Line, key.Column}
		f(key.Value, value)
	}
}

// value sets v to what n says.
func (d *decoder) value(n *yaml.Node, v reflect.Value, at string, r rules) {
	switch {
	case n.Kind == yaml.AliasNode:
		return // check has told
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		d.fail(n, at, "there is no value; leave the key out to mean the default")
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		d.value(n, v.Elem(), at, r)
		return
	}
	if _, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok || isScalar(v.Kind()) {
		d.scalar(n, v, at, r)
		return
	}
	switch v.Kind() {
	case reflect.Slice:
		d.list(n, v, at, r)
	case reflect.Map:
		d.mapping(n, v, at)
	case reflect.Struct:
		d.object(n, v, at)
	default:
		panic(fmt.Sprintf("%s: no file can hold a %s", at, v.Type()))
	}
}

func isScalar(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Float64
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, at string, r rules) {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, at, "this must be a list, such as [a, b]")
		return
	}
	if len(n.Content) == 0 && r.some {
		d.fail(n, at, "the list names nothing; leave the key out to mean the default")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
	names := r.text
	r.text, r.some = false, false
	for i, c := range n.Content {
		d.doc.positions[item(at, i)] = position{c.Line, c.Column}
		before := len(d.problems)
		d.value(c, list.Index(i), item(at, i), r)
		if names && len(d.problems) == before && strings.TrimSpace(list.Index(i).String()) == "" {
			d.fail(c, item(at, i), "the name is empty")
		}
	}
	v.Set(list)
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, at, "there must be keys with their values")
		return
	}
	m := reflect.MakeMap(v.Type())
	d.each(n, at, nil, func(key string, c *yaml.Node) {
		value := reflect.New(v.Type().Elem()).Elem()
		d.value(c, value, below(at, key), rules{})
		m.SetMapIndex(reflect.ValueOf(key).Convert(v.Type().Key()), value)
	})
	v.Set(m)
}

func (d *decoder) object(n *yaml.Node, v reflect.Value, at string) {
	if n.Kind != yaml.MappingNode {
		d.fail(n, at, "there must be keys with their values")
		return
	}
	known, names := map[string]member{}, []string{}
	for _, m := range members(v.Type()) {
		known[m.key] = m
		names = append(names, m.key)
	}
	d.each(n, at, names, func(key string, c *yaml.Node) {
		d.value(c, v.FieldByIndex(known[key].index), below(at, key), known[key].rules)
	})
	for _, m := range members(v.Type()) {
		if m.required && !d.doc.Has(below(at, m.key)) {
			d.fail(n, at, "the key %s is missing", m.key)
		}
	}
}
