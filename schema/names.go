package schema

import (
	"slices"
	"strings"
)

// strange returns the keys that are no names of properties, sorted; nil if there are none.
func (n *node) strange(obj map[string]any) (keys []string) {
	for key := range obj {
		if n.named[key] == nil {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// same reports whether a key is a name except for case and separators. A flag of one
// letter, such as -A, differs from -a, and may be written without its dash.
func same(key, name string) bool {
	if letter, flag := strings.CutPrefix(name, "-"); flag {
		return strings.TrimLeft(key, "-") == letter
	}
	return len(key) <= maxWord && slices.Equal(fold(key), fold(name))
}

// called returns the property that a key is another name of, nil if there is none.
func (n *node) called(key string) *node {
	for _, p := range n.props {
		if slices.Contains(p.aliases, key) {
			return p
		}
	}
	for _, p := range n.props {
		if same(key, p.name) || slices.ContainsFunc(p.aliases, func(a string) bool { return same(key, a) }) {
			return p
		}
	}
	return nil
}

// otherNames moves values from other names of properties to their own.
func (m *coercer) otherNames(n *node, obj map[string]any, keys []string, at *location) {
	for _, key := range keys {
		v := obj[key]
		here := &location{at, key, -1}
		p := n.called(key)
		if p == nil {
			if p, v = n.measured(key, v); p == nil {
				continue
			}
		}
		delete(obj, key)
		switch {
		case v == nil:
			m.mended(here, "null read as absent")
		case obj[p.name] == nil:
			m.mended(here, "read as %s", p.name)
			obj[p.name] = v
		case equal(v, obj[p.name]):
			m.mended(here, "says the same as %s", p.name)
		default:
			m.problem(here, "alias", "another name of %s, which is given too; give one", p.name)
		}
	}
}

// remarks are arguments that callers add to any call for human readers. They have no
// effect.
var remarks = [...]string{
	"description", "explanation", "reason", "reasoning", "rationale", "justification", "intent", "purpose",
	"thought", "thoughts", "thinking", "instruction", "instructions", "comment", "tool_summary", "tool_action",
	"task_progress", "security_risk",
}

func isRemark(key string) bool {
	return slices.ContainsFunc(remarks[:], func(r string) bool { return same(key, r) })
}

// unknown removes the keys without a meaning: it drops remarks and refuses the others.
func (m *coercer) unknown(n *node, obj map[string]any, at *location) {
	listed := false
	for _, key := range n.strange(obj) {
		v, here := obj[key], &location{at, shorten(key), -1}
		delete(obj, key)
		if isRemark(key) {
			continue
		}
		if v == nil {
			m.mended(here, "null read as absent")
			continue
		}
		text := "unknown argument"
		if near := m.nearest(n, key, at); near != "" && !same(key, near) {
			text += "; did you mean " + quote(near)
		}
		if !listed {
			text += "; allowed: " + n.allowed()
		}
		listed = true
		m.problem(here, "unknown", "%s", text)
	}
}

// allowed lists the names of the properties.
func (n *node) allowed() string {
	names := make([]string, len(n.props))
	for i, p := range n.props {
		names[i] = p.name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// nearest returns the name that a key was probably meant to be: a property, if the key is
// near to one of its names, or a name of a spelling.
func (m *coercer) nearest(n *node, key string, at *location) string {
	var names []string
	meant := map[string]string{}
	for _, p := range n.props {
		names = append(names, p.name)
	}
	for _, p := range n.props {
		for _, alias := range p.aliases {
			if !strings.HasPrefix(alias, "-") {
				names, meant[alias] = append(names, alias), p.name
			}
		}
	}
	if at == nil {
		for _, s := range m.spellings {
			names = append(names, s.Names...)
		}
	}
	near := Nearest(key, names)
	if own := meant[near]; own != "" {
		return own
	}
	return near
}
