package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Arguments that are one text: some clients and models send JSON in a string, others
// key=value&key=value, others only what the first argument holds.

// arguments reads the object of arguments. Nothing and null are no arguments.
func (m *coercer) arguments(n *node, raw string) (map[string]any, error) {
	if strings.TrimSpace(raw) == "" {
		return map[string]any{}, nil
	}
	v, loose, err := parse(raw, maxDepth)
	if err != nil {
		return nil, fmt.Errorf("arguments are not JSON: %w", err)
	}
	if loose {
		m.mended(nil, "JSON5 read as JSON")
	}
	switch v := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return v, nil
	case string:
		return m.written(n, v)
	}
	return nil, fmt.Errorf("arguments are %s, not an object", describe(v))
}

// written reads arguments that are a text: an object in JSON or JSON5, else
// key=value&key=value if n takes all of the keys, or all but one of several, else the value of
// n's main argument.
func (m *coercer) written(n *node, text string) (map[string]any, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return map[string]any{}, nil
	}
	v, loose, err := parse(text, maxDepth)
	if err == nil {
		obj, ok := v.(map[string]any)
		if ok || v == nil {
			m.mended(nil, "string of JSON read as an object")
		}
		switch {
		case v == nil:
			return map[string]any{}, nil
		case ok && loose:
			m.mended(nil, "JSON5 read as JSON")
		}
		if ok {
			return obj, nil
		}
	}
	if obj, ok := m.meant(n, text); ok {
		m.mended(nil, "key=value read as an object")
		return obj, nil
	}
	switch {
	case trimmed[0] == '{' && err != nil: // it was meant as JSON
		return nil, fmt.Errorf("arguments are not JSON: %w", err)
	case isA(v, "string"): // it was encoded twice
		return nil, fmt.Errorf("arguments are %s, not an object", describe(v))
	case n.main != "":
		m.mended(nil, "text read as %s", n.main)
		return map[string]any{n.main: text}, nil
	case err != nil:
		return nil, fmt.Errorf("arguments are not JSON: %w", err)
	}
	return nil, fmt.Errorf("arguments are %s, not an object", describe(v))
}

// takes reports whether arguments of n can have a key, by its own or another name.
func (m *coercer) takes(n *node, key string) bool {
	if n.free || n.knows(key) || slices.ContainsFunc(n.props, func(p *node) bool { return p.flattens() && p.items.knows(key) }) {
		return true
	}
	if p, _ := n.measured(key, nil); p != nil {
		return true
	}
	for _, s := range m.spellings {
		for _, name := range s.Names {
			if same(key, name) {
				return true
			}
		}
	}
	return false
}

// meant reads key=value&key=value that n can be meant by: at most one of several keys is none
// of its own. A text of lines is the main argument, if n has one.
func (m *coercer) meant(n *node, text string) (map[string]any, bool) {
	if n.main != "" && strings.ContainsAny(strings.TrimSpace(text), "\r\n") {
		return nil, false
	}
	obj, ok := pairs(text)
	strange := 0
	for key := range obj {
		if !m.takes(n, key) {
			strange++
		}
	}
	return obj, ok && (strange == 0 || strange == 1 && len(obj) > 1)
}

// pairs reads key=value&key=value. A value with a % is encoded as in a URL; in another one a + is
// a plus. It is false if the text has another form.
func pairs(text string) (map[string]any, bool) {
	text = strings.TrimSpace(text)
	obj := map[string]any{}
	for pair := range strings.SplitSeq(text, "&") {
		key, value, ok := Pair(pair)
		if !ok {
			return nil, false
		}
		if plain, err := url.QueryUnescape(value); err == nil && strings.Contains(value, "%") {
			value = plain
		}
		AddPair(obj, key, value)
	}
	return obj, true
}

// Pair reads key=value. It is false if the text has another form, or no argument can be called
// like the key.
func Pair(text string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(text, "=")
	return key, value, ok && isAlias(key)
}

// AddPair adds a pair to arguments. A key that comes several times has a list of values.
func AddPair(args map[string]any, key, value string) {
	switch old := args[key].(type) {
	case nil:
		args[key] = value
	case []any:
		args[key] = append(old, value)
	default:
		args[key] = []any{old, value}
	}
}

// Peek returns the value of one argument before the arguments are checked against a schema; nil
// if there is none, as for the name "". Numbers are json.Number.
func Peek(raw []byte, name string) any {
	if name == "" {
		return nil
	}
	args, err := (&coercer{}).arguments(&node{free: true}, string(raw))
	if err != nil {
		return nil
	}
	for key, v := range args {
		if v != nil && same(key, name) {
			return v
		}
	}
	return nil
}

// SameWord reports whether two words are the same except for case and separators.
func SameWord(a, b string) bool { return same(a, b) }
