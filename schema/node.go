package schema

import (
	"maps"
	"slices"
)

// node is one schema of the document, in the shape that Decode needs.
type node struct {
	name     string // of the property
	kind     string // the schema's type
	doc      map[string]any
	required bool // by the object that has the property
	aliases  []string
	units    []string // of a string that is a number with a unit: that of a small bare number, and of a large one
	path     string   // the path tag
	hasPaths bool     // here or below

	props []*node // of an object: in the order of the struct, or sorted
	named map[string]*node
	main  string // of an object: the property that a text alone is the value of; "" = none
	free  bool   // an object of free-form JSON
	items *node  // of an array
	rules rules  // set by compile
}

func newNode(doc map[string]any, fields []field) *node {
	n := &node{doc: doc}
	n.kind, _ = doc["type"].(string)
	n.free, _ = doc["additionalProperties"].(bool)
	if items, ok := doc["items"].(map[string]any); ok {
		n.items = newNode(items, fields)
	}
	properties, _ := doc["properties"].(map[string]any)
	if len(properties) == 0 {
		return n
	}
	ordered := fields != nil
	if !ordered {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			fields = append(fields, field{name: name})
		}
	}
	n.named = make(map[string]*node, len(fields))
	n.props = make([]*node, 0, len(fields))
	for _, f := range fields {
		prop := newNode(properties[f.name].(map[string]any), f.fields)
		prop.name, prop.aliases, prop.units = f.name, f.aliases, f.units
		prop.tagPath(f.path)
		n.hasPaths = n.hasPaths || prop.hasPaths
		n.named[f.name] = prop
		n.props = append(n.props, prop)
	}
	if required, ok := doc["required"].([]any); ok {
		for _, name := range required {
			n.named[name.(string)].required = true
		}
	}
	n.main = n.mainProperty(ordered)
	return n
}

// mainProperty returns the name of the property that is meant if a call gives only a text:
// the one that is required, or the first of a struct that requires none. It takes a text or a
// list of texts.
func (n *node) mainProperty(ordered bool) string {
	var main *node
	for i, p := range n.props {
		switch {
		case p.required && main != nil && main.required:
			return ""
		case p.required, i == 0 && ordered:
			main = p
		}
	}
	if main == nil || main.kind != "string" && (main.kind != "array" || main.items.kind != "string") {
		return ""
	}
	return main.name
}

// tagPath sets the path tag on the string: the property or its items.
func (n *node) tagPath(kind string) {
	switch {
	case kind == "":
		n.hasPaths = n.hasPaths || n.items != nil && n.items.hasPaths
		return
	case n.items != nil:
		n.items.tagPath(kind)
	default:
		n.path = kind
	}
	n.hasPaths = true
}

func (n *node) pathFields(at string, all []PathArg) []PathArg {
	if n.path != "" {
		all = append(all, PathArg{Pointer: at, Kind: n.path})
	}
	if n.items != nil {
		all = n.items.pathFields(at+"/*", all)
	}
	for _, p := range n.props {
		all = p.pathFields(at+"/"+p.name, all)
	}
	return all
}
