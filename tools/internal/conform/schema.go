// Package conform holds a JSON document to a JSON Schema, draft 2020-12, and names everything
// in which it does not conform.
//
// It works on the documents of package jsondoc, so that numbers keep their digits and every
// problem has its place in the text. The libraries at hand work on values of Go, which have
// neither, and jsonschema-go stops at the first problem; asking it for each subschema by itself
// would lose what unevaluatedProperties and unevaluatedItems must know of the others.
//
// The keywords of older drafts that 2020-12 replaced (items as a list, additionalItems,
// dependencies, definitions, a Boolean exclusiveMinimum) mean what they meant. As the draft
// says, format is an annotation and is not checked. The package fetches nothing: a [Loader] has
// the schemas that others refer to. It imports jsondoc and nothing else of toolcrib. Start at
// [Compile] and [Schema.Validate].
package conform

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"toolcrib/tools/internal/jsondoc"
)

// Loader returns the document of a URI without fragment.
type Loader func(uri string) (*jsondoc.Node, error)

// Schema is a schema with those that it refers to. It is for one goroutine.
type Schema struct {
	root      *jsondoc.Node
	load      Loader
	resources map[string]*resource         // by URI
	homes     map[*jsondoc.Node]*resource  // of each schema
	patterns  map[string]*regexp.Regexp    // of all schemas
	targets   map[*jsondoc.Node]*reference // of $ref and $dynamicRef, once they were followed
}

// resource is a schema with a URI of its own, and the anchors in it.
type resource struct {
	uri     *url.URL
	root    *jsondoc.Node
	anchors map[string]*jsondoc.Node
	dynamic map[string]bool // anchors that $dynamicRef may replace
}

// reference is where a $ref leads to.
type reference struct {
	target *jsondoc.Node
	anchor string // "" unless it is a dynamic one
}

// SchemaError says what is wrong with a schema.
type SchemaError struct {
	At      int    // byte offset in the text of the schema
	Pointer string // to the keyword
	Msg     string
}

func (e *SchemaError) Error() string { return e.Pointer + ": " + e.Msg }

// Compile reads a schema. uri is the one that references in it are relative to, "" for none.
func Compile(root *jsondoc.Node, uri string, load Loader) (*Schema, error) {
	s := &Schema{
		root: root, load: load,
		resources: map[string]*resource{}, homes: map[*jsondoc.Node]*resource{},
		patterns: map[string]*regexp.Regexp{}, targets: map[*jsondoc.Node]*reference{},
	}
	return s, s.add(root, uri)
}

// add takes in a document.
func (s *Schema) add(root *jsondoc.Node, uri string) error {
	base, err := url.Parse(uri)
	if err != nil {
		return &SchemaError{root.At, "", err.Error()}
	}
	home := &resource{base, root, map[string]*jsondoc.Node{}, map[string]bool{}}
	s.resources[uri] = home
	return s.index(root, home, "")
}

// How keywords have schemas in them.
const (
	single = iota + 1
	list
	named
	singleOrList
)

var applicators = map[string]int{
	"additionalProperties": single, "propertyNames": single, "contains": single, "not": single, "if": single, "then": single, "else": single,
	"unevaluatedItems": single, "unevaluatedProperties": single, "contentSchema": single, "additionalItems": single,
	"items": singleOrList,
	"allOf": list, "anyOf": list, "oneOf": list, "prefixItems": list,
	"properties": named, "patternProperties": named, "dependentSchemas": named, "$defs": named, "definitions": named,
}

// kinds are what other keywords have to be.
var kinds = map[string]jsondoc.Kind{
	"$id": jsondoc.String, "$anchor": jsondoc.String, "$dynamicAnchor": jsondoc.String, "$ref": jsondoc.String, "$dynamicRef": jsondoc.String,
	"enum": jsondoc.Array, "multipleOf": jsondoc.Number, "minimum": jsondoc.Number, "maximum": jsondoc.Number,
	"minLength": jsondoc.Number, "maxLength": jsondoc.Number, "pattern": jsondoc.String,
	"minItems": jsondoc.Number, "maxItems": jsondoc.Number, "uniqueItems": jsondoc.Boolean, "minContains": jsondoc.Number, "maxContains": jsondoc.Number,
	"minProperties": jsondoc.Number, "maxProperties": jsondoc.Number, "required": jsondoc.Array, "dependentRequired": jsondoc.Object, "dependencies": jsondoc.Object,
}

// index checks a schema and those in it, and notes their identifiers and anchors.
func (s *Schema) index(n *jsondoc.Node, home *resource, at string) error {
	if n.Kind == jsondoc.Boolean {
		s.homes[n] = home
		return nil
	}
	if n.Kind != jsondoc.Object {
		return &SchemaError{n.At, at, "a schema is an object, true or false, not " + string(n.Kind)}
	}
	for _, m := range n.Unique() {
		if kind, ok := kinds[m.Key]; ok && m.Value.Kind != kind {
			return &SchemaError{m.Value.At, jsondoc.Pointer(at, m.Key), fmt.Sprintf("is %s, not %s", m.Value.Kind, kind)}
		}
	}
	if id := n.Get("$id"); id != nil && !strings.HasPrefix(id.Text, "#") {
		uri, err := home.uri.Parse(id.Text)
		if err != nil {
			return &SchemaError{id.At, at + "/$id", err.Error()}
		}
		uri.Fragment = ""
		home = &resource{uri, n, map[string]*jsondoc.Node{}, map[string]bool{}}
		s.resources[uri.String()] = home
	}
	s.homes[n] = home
	if a := n.Get("$anchor"); a != nil {
		home.anchors[a.Text] = n
	}
	if a := n.Get("$dynamicAnchor"); a != nil {
		home.anchors[a.Text], home.dynamic[a.Text] = n, true
	}
	for _, m := range n.Unique() {
		if err := s.keyword(m, home, jsondoc.Pointer(at, m.Key)); err != nil {
			return err
		}
	}
	return nil
}

// keyword checks a keyword and the schemas in it.
func (s *Schema) keyword(m jsondoc.Member, home *resource, at string) error {
	v, how := m.Value, applicators[m.Key]
	switch {
	case how == single, how == singleOrList && v.Kind != jsondoc.Array:
		return s.index(v, home, at)
	case how == list || how == singleOrList:
		if v.Kind != jsondoc.Array {
			return &SchemaError{v.At, at, "is " + string(v.Kind) + ", not array"}
		}
		for i, item := range v.Items {
			if err := s.index(item, home, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case how == named:
		if v.Kind != jsondoc.Object {
			return &SchemaError{v.At, at, "is " + string(v.Kind) + ", not object"}
		}
		for _, item := range v.Unique() {
			if m.Key == "patternProperties" {
				if err := s.pattern(item.Key); err != nil {
					return &SchemaError{item.At, at, err.Error()}
				}
			}
			if err := s.index(item.Value, home, jsondoc.Pointer(at, item.Key)); err != nil {
				return err
			}
		}
	case m.Key == "pattern":
		if err := s.pattern(v.Text); err != nil {
			return &SchemaError{v.At, at, err.Error()}
		}
	case m.Key == "type":
		for _, t := range oneOrMore(v) {
			if !slices.Contains(types, t.Text) {
				return &SchemaError{t.At, at, fmt.Sprintf("%s is no type; there are: %s", t.Raw, strings.Join(types, ", "))}
			}
		}
	case m.Key == "dependencies":
		for _, d := range v.Unique() {
			if d.Value.Kind != jsondoc.Array {
				if err := s.index(d.Value, home, jsondoc.Pointer(at, d.Key)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

func oneOrMore(n *jsondoc.Node) []*jsondoc.Node {
	if n.Kind == jsondoc.Array {
		return n.Items
	}
	return []*jsondoc.Node{n}
}

var unicodeEscape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u([0-9a-fA-F]{4})`) })

// pattern compiles a regular expression. Those of ECMAScript are nearly those of RE2.
func (s *Schema) pattern(text string) error {
	if s.patterns[text] != nil {
		return nil
	}
	re, err := regexp.Compile(unicodeEscape().ReplaceAllString(text, `\x{$1}`))
	if err != nil {
		return fmt.Errorf("the pattern %s is no regular expression that can be checked (RE2): %w", jsondoc.Quote(text), err)
	}
	s.patterns[text] = re
	return nil
}

// follow returns where a reference of a schema leads to.
func (s *Schema) follow(n, ref *jsondoc.Node) (*reference, error) {
	if r := s.targets[ref]; r != nil {
		return r, nil
	}
	fail := func(format string, args ...any) (*reference, error) {
		return nil, &SchemaError{ref.At, "$ref " + ref.Text, fmt.Sprintf(format, args...)}
	}
	uri, err := s.homes[n].uri.Parse(ref.Text)
	if err != nil {
		return fail("%v", err)
	}
	fragment := uri.Fragment
	uri.Fragment, uri.RawFragment = "", ""
	home := s.resources[uri.String()]
	if home == nil {
		document, err := s.load(uri.String())
		if err != nil {
			return fail("%v", err)
		}
		if err := s.add(document, uri.String()); err != nil {
			return nil, err
		}
		home = s.resources[uri.String()]
	}
	r := &reference{target: home.root}
	switch {
	case strings.HasPrefix(fragment, "/"):
		if r.target, err = s.at(home, fragment); err != nil {
			return fail("%v", err)
		}
	case fragment != "":
		if r.target = home.anchors[fragment]; r.target == nil {
			return fail("there is no anchor %s", fragment)
		}
		if home.dynamic[fragment] {
			r.anchor = fragment
		}
	}
	s.targets[ref] = r
	return r, nil
}

// at returns the schema at a pointer.
func (s *Schema) at(home *resource, pointer string) (*jsondoc.Node, error) {
	n := home.root
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		var next *jsondoc.Node
		if i, err := strconv.Atoi(token); n.Kind == jsondoc.Array && err == nil && i >= 0 && i < len(n.Items) {
			next = n.Items[i]
		} else if n.Kind == jsondoc.Object {
			next = n.Get(token)
		}
		if next == nil {
			return nil, fmt.Errorf("there is nothing at %s", pointer)
		}
		if n = next; s.homes[n] != nil {
			home = s.homes[n]
		}
	}
	if s.homes[n] == nil { // in a keyword that is not known
		return n, s.index(n, home, pointer)
	}
	return n, nil
}
