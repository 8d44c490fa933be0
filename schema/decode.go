package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
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
	args, err := m.arguments(raw)
	if err != nil {
		return Args{}, &Error{[]Problem{{Rule: "json", Msg: err.Error()}}}
	}
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

// arguments reads the object of arguments, which some clients send as a string of JSON.
func (m *coercer) arguments(raw json.RawMessage) (map[string]any, error) {
	text := string(raw)
	for encoded := false; ; encoded = true {
		if strings.TrimSpace(text) == "" {
			return map[string]any{}, nil
		}
		v, loose, err := parse(text, maxDepth)
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
			if !encoded {
				m.mended(nil, "string of JSON read as an object")
				text = v
				continue
			}
		}
		return nil, fmt.Errorf("arguments are %s, not an object", describe(v))
	}
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
