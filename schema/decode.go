package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// Decode coerces, validates and decodes raw into dst, a *T (or a *json.RawMessage, which
// gets the canonical JSON). No arguments (nothing, or null) are {}. If the arguments are
// wrong, the error is an *Error that lists every problem, and dst is unchanged; any other
// error means that the schema or dst is wrong.
func (t *Type) Decode(raw json.RawMessage, dst any, opt Options) (Args, error) {
	if err := t.checkTarget(dst); err != nil {
		return Args{}, err
	}
	if err := t.compiled(); err != nil {
		return Args{}, err
	}
	schema, err := t.model()
	if err != nil {
		return Args{}, err
	}
	m := coercer{spellings: opt.Spellings}
	args, err := m.arguments(schema.root, string(raw))
	if err != nil {
		return Args{}, &Error{[]Problem{{Rule: "json", Msg: err.Error()}}}
	}
	m.implied = schema.root.imply(args, opt.Implied)
	m.object(schema.root, args, nil)
	if problems := schema.root.check(args, nil, m.problems); len(problems) > 0 {
		return Args{}, tell(problems)
	}
	fill(schema.root, args)
	out := Args{Canonical: appendValue(make([]byte, 0, len(raw)+64), args), Mends: m.mends}
	if schema.root.hasPaths {
		out.Paths = collectPaths(schema.root, args, "", nil)
	}
	if target, ok := dst.(*json.RawMessage); ok {
		*target = bytes.Clone(out.Canonical)
		return out, nil
	}
	if err := json.Unmarshal(out.Canonical, dst); err != nil {
		return Args{}, fmt.Errorf("the schema admits what %T does not hold: %w", dst, err)
	}
	return out, nil
}

func (t *Type) checkTarget(dst any) error {
	if _, ok := dst.(*json.RawMessage); ok {
		return nil
	}
	if t.goType == nil || reflect.TypeOf(dst) != reflect.PointerTo(t.goType) {
		return fmt.Errorf("decode into %T: want *%v or *json.RawMessage", dst, t.goType)
	}
	return nil
}

// imply gives arguments that are absent under all of their names the implied values, and
// returns their names.
func (n *node) imply(args map[string]any, implied map[string]any) (names []string) {
	for name, v := range implied {
		given := slices.ContainsFunc(slices.Collect(maps.Keys(args)), func(key string) bool {
			p := n.named[key]
			if p == nil {
				p = n.called(key)
			}
			return args[key] != nil && (key == name || p != nil && p.name == name)
		})
		if !given {
			args[name] = plainJSON(v)
			names = append(names, name)
		}
	}
	return names
}

// fill gives absent optional arguments their defaults, which Compile has proved valid, in
// every object that exists.
func fill(n *node, v any) {
	switch v := v.(type) {
	case []any:
		if n.items.kind == "object" || n.items.kind == "array" {
			for _, item := range v {
				fill(n.items, item)
			}
		}
	case map[string]any:
		for _, p := range n.props {
			if value, given := v[p.name]; given {
				fill(p, value)
			} else if fallback, ok := p.doc["default"]; ok {
				v[p.name] = fallback
			}
		}
	}
}

// collectPaths returns the path-tagged values in the order of the struct.
func collectPaths(n *node, v any, at string, all []PathArg) []PathArg {
	switch v := v.(type) {
	case string:
		if n.path != "" {
			all = append(all, PathArg{Pointer: at, Value: v, Kind: n.path})
		}
	case []any:
		for i, item := range v {
			all = collectPaths(n.items, item, at+"/"+strconv.Itoa(i), all)
		}
	case map[string]any:
		for _, p := range n.props {
			if value, ok := v[p.name]; ok && p.hasPaths {
				all = collectPaths(p, value, at+"/"+p.name, all)
			}
		}
	}
	return all
}
