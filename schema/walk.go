package schema

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// MaxLevels is how deep a schema may nest: the root, every nested object and every array's
// items are one level each.
const MaxLevels = 3

// Names of properties and aliases.
const (
	nameRule  = `^[a-z][a-z0-9_]{0,39}$`
	aliasRule = `^-?[A-Za-z][A-Za-z0-9_-]{0,39}$`
)

func isName(s string) bool { return isAlias(s) && s == strings.ToLower(s) && !strings.Contains(s, "-") }

func isAlias(s string) bool {
	s = strings.TrimPrefix(s, "-")
	for i := range len(s) {
		letter := s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z'
		if !letter && (i == 0 || !isDigit(s[i]) && s[i] != '_' && s[i] != '-') {
			return false
		}
	}
	return s != "" && len(s) <= 40
}

var objectType = reflect.TypeFor[Object]()

// field is the Go side of a property's tags, which the schema lacks.
type field struct {
	name    string
	goPath  string
	path    string
	aliases []string
	units   []string
	fields  []field // of the struct, or of the items' struct
}

// walk checks T before the reflector sees it: a recursive type would make invopop overflow
// the stack, and it silently maps many types to unportable schemas.
func walk(t reflect.Type) ([]field, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("schema of %s: not a struct", t)
	}
	var w walker
	if reason := special(t); reason != "" {
		w.fail(t.Name(), "%s", reason)
		return nil, errors.Join(w.errs...)
	}
	fields := w.structure(t, t.Name(), nil, 1)
	w.unique(fields)
	return fields, errors.Join(w.errs...)
}

// reflectable reports whether the reflector ends and does not panic on t: the type is not
// recursive and has no kind that JSON lacks.
func reflectable(t reflect.Type, chain []reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		if slices.Contains(chain, t) {
			return false
		}
		chain = append(slices.Clip(chain), t)
		for f := range t.Fields() {
			seen := f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous)
			if seen && !reflectable(f.Type, chain) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return len(chain) > 0 && reflectable(t.Elem(), chain)
	case reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64, reflect.Complex128, reflect.Uintptr:
		return false
	default:
		return len(chain) > 0
	}
}

type walker struct{ errs []error }

func (w *walker) fail(at, format string, args ...any) {
	w.errs = append(w.errs, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// structure returns the fields of a struct whose schema is at the given level.
func (w *walker) structure(t reflect.Type, at string, chain []reflect.Type, level int) []field {
	if i := slices.Index(chain, t); i >= 0 {
		var names []string
		for _, c := range append(chain[i:], t) {
			names = append(names, c.String())
		}
		w.fail(at, "recursive type: %s", strings.Join(names, " -> "))
		return nil
	}
	if level > MaxLevels {
		w.fail(at, "nested more than %d levels deep", MaxLevels)
		return nil
	}
	chain = append(slices.Clip(chain), t)
	var fields []field
	for f := range t.Fields() {
		if f.Anonymous && f.Tag.Get("json") == "" {
			fields = append(fields, w.embedded(f, at, chain, level)...)
		} else if f, ok := w.property(f, at+"."+f.Name, chain, level); ok {
			fields = append(fields, f)
		}
	}
	return fields
}

// embedded returns the promoted fields, which encoding/json flattens.
func (w *walker) embedded(f reflect.StructField, at string, chain []reflect.Type, level int) []field {
	at += "." + f.Name
	switch {
	case f.Type.Kind() == reflect.Pointer:
		w.fail(at, "embedded pointer: embed the struct itself")
	case f.Type.Kind() != reflect.Struct:
		w.fail(at, "embedded %s without a json name", f.Type)
	case !f.IsExported():
		w.fail(at, "embedded unexported struct: export it")
	default:
		if reason := special(f.Type); reason != "" {
			w.fail(at, "%s", reason)
			return nil
		}
		return w.structure(f.Type, at, chain, level)
	}
	return nil
}

func (w *walker) property(f reflect.StructField, at string, chain []reflect.Type, level int) (field, bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Tag.Get("json") == "-", !f.IsExported():
		return field{}, false
	case name == "":
		w.fail(at, `no json name; write json:"name" or json:"-"`)
		return field{}, false
	case !isName(name):
		w.fail(at, "json name %q does not match %s", name, nameRule)
	}
	optional := false
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty", "omitzero":
			optional = true
		case "":
		default:
			w.fail(at, "json option %q changes the wire format", option)
		}
	}
	if strings.TrimSpace(f.Tag.Get("jsonschema_description")) == "" {
		w.fail(at, "no description; write jsonschema_description")
	}
	el, reason := innermost(f.Type, at, level)
	if reason != "" {
		w.fail(el.at, "%s", reason)
		return field{}, false
	}
	for _, reason := range checkTag(f, el, optional) {
		w.fail(at, "%s", reason)
	}
	out := field{name: name, goPath: at}
	out.path, out.aliases = w.goTags(f, el, at)
	if list, ok := f.Tag.Lookup("unit"); ok {
		if out.units = strings.Split(list, ","); len(out.units) != 2 {
			w.fail(at, "unit tag %q is not two units: of a small bare number, and of a large one", list)
		}
	}
	if el.typ.Kind() == reflect.Struct {
		out.fields = w.structure(el.typ, el.at, chain, el.level)
		w.unique(out.fields)
	}
	return out, true
}

// element is the type of a field without pointers and slices.
type element struct {
	typ    reflect.Type
	at     string // Go path
	level  int    // of its schema; a scalar that is not an item has the level of its struct
	slices int
}

// innermost returns the element of a field's type, or the reason why no portable schema can
// describe the type.
func innermost(t reflect.Type, at string, level int) (element, string) {
	el := element{typ: t, at: at, level: level}
	for {
		if el.typ.Kind() == reflect.Pointer {
			el.typ = el.typ.Elem()
		}
		if reason := special(el.typ); reason != "" {
			return el, reason
		}
		if el.typ == objectType || el.typ.Kind() != reflect.Slice {
			break
		}
		el.typ, el.at = el.typ.Elem(), el.at+"[]"
		el.level, el.slices = el.level+1, el.slices+1
	}
	switch el.typ.Kind() {
	case reflect.Struct, reflect.Slice: // the latter is an Object
		if el.slices == 0 {
			el.level++
		}
	case reflect.String, reflect.Bool, reflect.Float32, reflect.Float64:
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
	case reflect.Array:
		return el, "fixed-size array: use a slice with minItems and maxItems"
	default:
		return el, "no JSON Schema for " + el.typ.String()
	}
	if el.level > MaxLevels {
		return el, fmt.Sprintf("nested more than %d levels deep", MaxLevels)
	}
	return el, ""
}

// special returns the reason why a type must not be reflected though its kind is allowed.
func special(t reflect.Type) string {
	builtin := t.PkgPath() == "" && (t.Kind() <= reflect.Float64 || t.Kind() == reflect.String)
	if builtin || t == objectType {
		return ""
	}
	p := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time.Time: use a string described as RFC 3339"
	case t == reflect.TypeFor[time.Duration]():
		return "time.Duration is a number of nanoseconds in JSON: use a string described as a duration like 30s"
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return t.String() + " takes anything: use schema.Object or a concrete type"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "bytes are base64 in JSON: use a string"
	case t.Kind() == reflect.Map:
		return t.String() + ": no map is portable: use schema.Object"
	case t.Kind() == reflect.Pointer:
		return "pointer to a pointer"
	case p.Implements(reflect.TypeFor[json.Unmarshaler]()), p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return t.String() + " decodes itself, which no schema shows"
	case p.Implements(reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()),
		p.Implements(reflect.TypeFor[interface{ JSONSchemaExtend(*jsonschema.Schema) }]()),
		p.Implements(reflect.TypeFor[interface{ JSONSchemaAlias() any }]()),
		p.Implements(reflect.TypeFor[interface{ JSONSchemaProperty(string) any }]()):
		return t.String() + " makes its own schema"
	}
	return ""
}

// goTags returns the tags for the Go side: path and alias.
func (w *walker) goTags(f reflect.StructField, el element, at string) (kind string, aliases []string) {
	kind, tagged := f.Tag.Lookup("path")
	switch {
	case tagged && !slices.Contains([]string{"file", "directory", "any"}, kind):
		w.fail(at, "path tag %q is not one of file, directory, any", kind)
	case tagged && el.typ.Kind() != reflect.String:
		w.fail(at, "path tag on %s: only strings and slices of strings are paths", f.Type)
	}
	if list, ok := f.Tag.Lookup("alias"); ok {
		aliases = strings.Split(list, ",")
	}
	for _, a := range aliases {
		if !isAlias(a) {
			w.fail(at, "alias %q does not match %s", a, aliasRule)
		}
	}
	return kind, aliases
}

// unique refuses two fields of one name, or of names that calls cannot tell apart.
// encoding/json would silently drop both, or take the shallower one.
func (w *walker) unique(fields []field) {
	owner := map[string]string{}
	for _, f := range fields {
		for _, name := range append([]string{f.name}, f.aliases...) {
			key := name
			if !strings.HasPrefix(name, "-") {
				key = string(fold(name))
			}
			if other, taken := owner[key]; taken && (other != f.goPath || name == f.name) {
				w.fail(f.goPath, "name %q is taken by %s", name, other)
			}
			owner[key] = f.goPath
		}
	}
}
