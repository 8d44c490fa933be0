package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// coercer corrects harmless slips, guided by the schema: it tries another reading only of a
// value that does not fit. Other problems are left to the validator, except those of keys,
// which it collects itself.
type coercer struct {
	spellings []Spelling // of the arguments as a whole
	implied   []string   // arguments that the caller did not send
	mends     []string
	problems  []Problem
}

// location is the position of a value in the arguments; nil is the whole.
type location struct {
	up    *location
	key   string
	index int // of an item; -1 for a key
}

func (p *location) pointer() string {
	switch {
	case p == nil:
		return ""
	case p.index >= 0:
		return p.up.pointer() + "/" + strconv.Itoa(p.index)
	}
	return p.up.pointer() + "/" + escape(p.key)
}

// depth is how many containers hold the value.
func (p *location) depth() (n int) {
	for ; p != nil; p = p.up {
		n++
	}
	return n
}

func (m *coercer) mended(at *location, format string, args ...any) {
	where := at.pointer()
	if where == "" {
		where = "arguments"
	}
	m.mends = append(m.mends, where+": "+fmt.Sprintf(format, args...))
}

func (m *coercer) problem(at *location, rule, format string, args ...any) {
	m.problems = append(m.problems, Problem{at.pointer(), rule, fmt.Sprintf(format, args...)})
}

// object corrects an object in place.
func (m *coercer) object(n *node, obj map[string]any, at *location) {
	if n.free {
		return
	}
	keys := n.strange(obj)
	if keys != nil {
		m.otherNames(n, obj, keys, at)
	}
	if at == nil {
		m.otherForms(n, obj)
	}
	if keys != nil {
		m.flat(n, obj, at)
		m.unknown(n, obj, at)
	}
	for _, p := range n.props {
		v, given := obj[p.name]
		if given && !p.required && absent(p, v) {
			m.mended(&location{at, p.name, -1}, "%s read as absent", describe(v))
			delete(obj, p.name)
		} else if given {
			obj[p.name] = m.value(p, v, &location{at, p.name, -1})
		}
	}
}

// absent reports whether an optional argument counts as absent: it is null, or an empty
// string that is no valid value.
func absent(n *node, v any) bool {
	if v != "" {
		return v == nil
	}
	if enum, ok := n.doc["enum"].([]any); ok && !slices.Contains(enum, v) {
		return true
	}
	least, _ := n.doc["minLength"].(json.Number)
	return n.kind != "string" || n.path != "" || least != "" && least != "0"
}

// value returns v, corrected if it does not fit the schema. It corrects objects and arrays
// in place.
func (m *coercer) value(n *node, v any, at *location) any {
	switch n.kind {
	case "integer", "number":
		return m.number(n, v, at)
	case "string":
		return m.text(n, v, at)
	case "boolean":
		return m.boolean(v, at)
	case "array":
		return m.array(n, v, at)
	case "object":
		if text, ok := v.(string); ok {
			if obj, ok := m.decoded(text, at).(map[string]any); ok {
				m.mended(at, "string of JSON read as an object")
				v = obj
			} else if obj, ok := m.meant(n, text); ok && !strings.Contains(text, "\n") {
				m.mended(at, "key=value read as an object")
				v = obj
			}
		}
		if obj, ok := v.(map[string]any); ok {
			m.object(n, obj, at)
		}
	}
	return v
}

func (m *coercer) number(n *node, v any, at *location) any {
	num, ok := v.(json.Number)
	if text, isText := v.(string); isText {
		trimmed := strings.TrimSpace(text)
		if !isNumber(trimmed) || !inRange(trimmed) {
			return v
		}
		num = json.Number(trimmed)
		if n.kind == "integer" {
			if whole, _, ok := integral(num); ok {
				num = whole
			} else {
				return v
			}
		}
		m.mended(at, "%s read as a number", quote(text))
		return num
	}
	if ok && n.kind == "integer" {
		if whole, same, ok := integral(num); ok && !same {
			m.mended(at, "%s read as the integer %s", num, shorten(string(whole)))
			return whole
		}
	}
	return v
}

func (m *coercer) boolean(v any, at *location) any {
	text, ok := v.(string)
	if !ok {
		return v
	}
	for _, b := range [...]bool{true, false} {
		if strings.EqualFold(strings.TrimSpace(text), strconv.FormatBool(b)) {
			m.mended(at, "%s read as a boolean", quote(text))
			return b
		}
	}
	return v
}

func (m *coercer) array(n *node, v any, at *location) any {
	list, ok := v.([]any)
	if text, isText := v.(string); isText {
		if list, ok = m.decoded(text, at).([]any); ok && fits(n.items, list) {
			m.mended(at, "string of JSON read as an array")
		} else {
			list, ok = nil, false
		}
	}
	if ok {
		for i, item := range list {
			list[i] = m.value(n.items, item, &location{at, "", i})
		}
		return list
	}
	if item, ok := v.(map[string]any); ok && n.items.kind == "object" {
		m.mended(at, "an object read as an array of one")
		return []any{m.value(n.items, item, &location{at, "", 0})}
	}
	if v == nil || isContainer(v) || n.items.kind == "object" || n.items.kind == "array" {
		return v
	}
	probe := coercer{}
	item := probe.value(n.items, v, &location{at, "", 0})
	if !isA(item, n.items.kind) {
		return v
	}
	m.mended(at, "%s read as an array of one", describe(v))
	m.mends = append(m.mends, probe.mends...)
	return []any{item}
}

// fits reports whether a list that was read from a string is a list of the wanted items.
// Where strings are wanted the text may be a single one: the glob [12].txt.
func fits(items *node, list []any) bool {
	return items.kind != "string" || !slices.ContainsFunc(list, func(v any) bool { return !isA(v, "string") })
}

// decoded returns the value of a string of JSON, nil if it is none. It may nest only as
// deep as the limit leaves.
func (m *coercer) decoded(text string, at *location) any {
	if start := strings.TrimSpace(text); start == "" || start[0] != '{' && start[0] != '[' {
		return nil
	}
	v, _, err := parse(text, maxDepth-at.depth())
	if err != nil {
		return nil
	}
	return v
}
