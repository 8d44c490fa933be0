// Package schema turns Go structs into portable JSON Schemas and JSON arguments
// into those structs.
//
// It is the only importer of invopop/jsonschema, and imports nothing of toolcrib. It
// validates by itself: the portable subset is small, and existing validators are slow to
// start and slower for a call. Start at [For] and [Type.Decode].
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
)

// Type is the schema of a struct, or of arguments that no struct describes. It
// is safe for concurrent use.
type Type struct {
	raw      json.RawMessage
	goType   reflect.Type           // nil for a schema from outside
	model    func() (*model, error) // made at its first use
	compiled func() error
}

// model is a schema that was found portable, as Decode walks it.
type model struct {
	doc  map[string]any
	root *node
}

// Object is the text of a JSON object inside a struct, with whatever members; nil = none. It is
// the only free-form type that [For] accepts.
type Object json.RawMessage

// UnmarshalJSON keeps the text of an object.
func (o *Object) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		*o = nil
	case data[0] != '{':
		return errors.New("schema: not a JSON object")
	default:
		*o = bytes.Clone(data)
	}
	return nil
}

// MarshalJSON returns the text.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// Arguments returns the object as the arguments of a call, {} if there is none.
func (o Object) Arguments() json.RawMessage {
	if o == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(o)
}

// Options extends what Decode accepts beyond the schema.
type Options struct {
	Spellings []Spelling // the first that reads an argument wins
	// Implied are values of arguments that the call leaves out, by the names of properties or
	// spellings.
	Implied map[string]any
}

// Args is Decode's account of a call's arguments.
type Args struct {
	// Canonical is the validated arguments: slips corrected, absent optional arguments with
	// a default filled in, keys sorted, numbers as written.
	Canonical json.RawMessage
	// Mends are the corrected slips, one line each, for the result's _meta: `/limit: "20"
	// read as a number`.
	Mends []string
	// Paths are the arguments tagged `path`, in the order of the struct.
	Paths []PathArg
}

// PathArg is one path among the arguments.
type PathArg struct {
	Pointer string // JSON pointer of the argument
	Value   string
	Kind    string // the tag: file, directory or any
}

// Problem is one rule that the arguments break.
type Problem struct {
	Pointer string // JSON pointer; "" is the arguments as a whole
	Rule    string // keyword of the schema (required, type, enum, maximum ...), or json, unknown, alias, more
	Msg     string // for a model: the fault and the allowed values
}

// Error is every problem of one call's arguments, in the order of their pointers. Beyond 20
// problems the last one, of the rule "more", counts the rest.
type Error struct{ Problems []Problem }

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		if lines[i] = p.Msg; p.Pointer != "" {
			lines[i] = p.Pointer + ": " + p.Msg
		}
	}
	return strings.Join(lines, "; ")
}

// For returns the schema of T, which must be a struct whose fields all have a json name and
// a description. It does only what listing a tool needs; [Type.Compile] proves that the
// schema is portable. An error names every field that no portable schema can describe, by
// its Go path.
func For[T any]() (*Type, error) {
	t := reflect.TypeFor[T]()
	if !reflectable(t, nil) {
		if _, err := walk(t); err != nil {
			return nil, err
		}
	}
	raw, err := reflectSchema(t)
	if err != nil {
		if _, better := walk(t); better != nil {
			err = better
		}
		return nil, fmt.Errorf("schema of %s: %w", t, err)
	}
	return newType(raw, t, func() (*model, error) {
		fields, err := walk(t)
		if err != nil {
			return nil, err
		}
		m, err := newModel(raw, fields)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t, err)
		}
		return m, nil
	}), nil
}

// Parse returns the type of a schema from outside. The error of an unportable schema has
// every reason of [Lint]; a schema that does not compile is an error too.
func Parse(raw json.RawMessage) (*Type, error) {
	m, err := newModel(raw, nil)
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	t := newType(compact.Bytes(), nil, func() (*model, error) { return m, nil })
	return t, t.Compile()
}

func newModel(raw json.RawMessage, fields []field) (*model, error) {
	doc, err := document(raw)
	if err == nil {
		err = errors.Join(lint(doc)...)
	}
	if err != nil {
		return nil, err
	}
	return &model{doc, newNode(doc, fields)}, nil
}

func newType(raw json.RawMessage, t reflect.Type, make func() (*model, error)) *Type {
	once := sync.OnceValues(make)
	return &Type{
		raw: raw, goType: t, model: once,
		compiled: sync.OnceValue(func() error {
			m, err := once()
			if err != nil {
				return err
			}
			return m.root.compile("")
		}),
	}
}

// JSON returns the schema; the caller must not change it.
func (t *Type) JSON() json.RawMessage { return t.raw }

// Compile proves that the schema is portable, prepares the validator and checks patterns
// and defaults; Decode does this at its first use.
func (t *Type) Compile() error {
	return t.compiled()
}

// Keyword returns a keyword of a property: Keyword("limit", "maximum"). Numbers are
// json.Number. A keyword that an array lacks is taken from its items. A type that does not
// compile has no keywords.
func (t *Type) Keyword(property, keyword string) (any, bool) {
	m, err := t.model()
	if err != nil {
		return nil, false
	}
	n, ok := m.root.named[property]
	if !ok {
		return nil, false
	}
	v, ok := n.doc[keyword]
	if !ok && n.items != nil {
		v, ok = n.items.doc[keyword]
	}
	return v, ok
}

// Names returns the names of the properties in their order. A type that does not compile has
// none.
func (t *Type) Names() (names []string) {
	m, err := t.model()
	if err != nil {
		return nil
	}
	for _, p := range m.root.props {
		names = append(names, p.name)
	}
	return names
}

// Values returns the texts that an argument can be, by any of its names; nil if there is no
// fixed set of them.
func (t *Type) Values(name string) (values []string) {
	if t.compiled() != nil {
		return nil
	}
	m, err := t.model()
	if err != nil {
		return nil
	}
	p := m.root.called(name)
	switch {
	case p == nil:
		return nil
	case p.kind == "boolean":
		return []string{"false", "true"}
	}
	for _, v := range p.rules.enum {
		if text, ok := v.(string); ok {
			values = append(values, text)
		}
	}
	return values
}

// PathFields returns the path-tagged fields: Pointer holds "*" for an index. A
// type that does not compile has none.
func (t *Type) PathFields() []PathArg {
	m, err := t.model()
	if err != nil {
		return nil
	}
	return m.root.pathFields("", nil)
}
