package schema

import (
	"maps"
	"slices"
	"strings"
)

// flat gives an absent required array of objects one item, made of the keys next to it that
// only an item has: models write {"path", "old", "new"} for {"path", "edits": [{"old",
// "new"}]}.
func (m *coercer) flat(n *node, obj map[string]any, at *location) {
	i := slices.IndexFunc(n.props, func(p *node) bool {
		return p.flattens() && obj[p.name] == nil
	})
	if i < 0 {
		return
	}
	list := n.props[i]
	item := map[string]any{}
	for key, v := range obj {
		switch {
		case n.named[key] != nil:
			continue
		case list.items.knows(key):
			item[key] = v
		}
	}
	if len(item) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(item))
	for _, name := range names {
		delete(obj, name)
	}
	m.mended(&location{at, list.name, -1}, "one item made of %s", strings.Join(names, ", "))
	obj[list.name] = []any{item}
}

// flattens reports whether the keys of one item may stand next to a list.
func (n *node) flattens() bool {
	return n.required && n.kind == "array" && n.items.kind == "object" && !n.items.free
}

// knows reports whether an object takes a key, by its own or another name.
func (n *node) knows(key string) bool { return n.named[key] != nil || n.called(key) != nil }
