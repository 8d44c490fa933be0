package settings

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
)

// variablePattern matches a value that refers to a variable.
const variablePattern = `\$\{[A-Za-z_]`

// durationPattern matches a time such as 1m30s.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$|` + variablePattern

// object is a JSON Schema, or a part of one.
type object map[string]any

// Schema returns the JSON Schema (2020-12) of the files that [Decode] reads into the
// struct that dst points to, indented. A file that Decode accepts is valid by it; what
// it cannot know is left to Decode: variables, files of secrets, names of tools.
func Schema(dst any, title string) ([]byte, error) {
	properties := object{}
	for _, f := range Fields(dst) {
		s := schemaOf(f.Value.Type(), f.rules)
		s["description"] = f.Help
		properties[f.Key] = s
	}
	return json.MarshalIndent(object{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title,
		"type": "object", "properties": properties, "additionalProperties": false,
	}, "", "  ")
}

func schemaOf(t reflect.Type, r rules) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem(), r)
	case t == durationType:
		return object{"type": "string", "pattern": durationPattern}
	case r.secret:
		file := object{"type": "string", "description": "the file that holds it, relative to this one; nobody else may read it"}
		return object{"anyOf": []object{
			{"type": "string", "minLength": 1},
			{"type": "object", "properties": object{"file": file}, "required": []string{"file"}, "additionalProperties": false},
		}}
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Slice:
		return listSchema(t, r)
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), rules{})}
	case reflect.Struct:
		return structSchema(t)
	case reflect.String:
		return stringSchema(r)
	case reflect.Bool:
		return orVariable(object{"type": "boolean"})
	}
	number := object{"type": "integer"}
	if k := t.Kind(); k == reflect.Float32 || k == reflect.Float64 {
		number["type"] = "number"
	}
	if r.min != "" {
		number["minimum"] = json.Number(r.min)
	} else if k := t.Kind(); k >= reflect.Uint && k <= reflect.Uint64 {
		number["minimum"] = 0
	}
	if r.max != "" {
		number["maximum"] = json.Number(r.max)
	}
	return orVariable(number)
}

func listSchema(t reflect.Type, r rules) object {
	s := object{"type": "array"}
	if r.some {
		s["minItems"] = 1
	}
	r.text, r.some = false, false
	s["items"] = schemaOf(t.Elem(), r)
	return s
}

func stringSchema(r rules) object {
	switch {
	case len(r.enum) > 0:
		var values []any
		for _, value := range r.enum {
			values = append(values, value)
		}
		if r.text && slices.Contains(r.enum, "true") {
			values = append(values, true, false)
		}
		return orVariable(object{"enum": values})
	case r.text: // as a flag is written
		return object{"type": []string{"string", "number", "boolean"}, "minLength": 1}
	}
	return object{"type": "string"}
}

// orVariable also allows a reference to a variable for a value that is no free text.
func orVariable(s object) object {
	return object{"anyOf": []object{s, {"type": "string", "pattern": variablePattern}}}
}

func structSchema(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, m := range members(t) {
		s := schemaOf(m.typ, m.rules)
		if m.help != "" {
			s["description"] = m.help
		}
		properties[m.key] = s
		if m.required {
			required = append(required, m.key)
		}
	}
	s := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}
