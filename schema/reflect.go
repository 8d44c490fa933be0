package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/invopop/jsonschema"
)

// reflectSchema returns the schema of a struct that walk has passed, as compact
// bytes that are the same every time: keywords in the order of appendSchema,
// properties in the order of the struct.
func reflectSchema(t reflect.Type) (json.RawMessage, error) {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, Mapper: mapObject}
	return appendSchema(make([]byte, 0, 1024), r.ReflectFromType(t))
}

func mapObject(t reflect.Type) *jsonschema.Schema {
	if t != objectType {
		return nil
	}
	return &jsonschema.Schema{
		Type: "object", Properties: jsonschema.NewProperties(), AdditionalProperties: jsonschema.TrueSchema,
	}
}

// appendSchema writes the portable subset. It drops the root's $schema, which invopop
// always sets; anything else outside of the subset is an error.
func appendSchema(b []byte, s *jsonschema.Schema) ([]byte, error) {
	if s.Type == "" || s.Ref != "" || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.Not != nil || s.Extras != nil {
		return nil, fmt.Errorf("the reflector made a schema that is not portable: %+v", s)
	}
	b = appendString(append(b, `{"type":`...), s.Type)
	if s.Description != "" {
		b = appendString(append(b, `,"description":`...), s.Description)
	}
	if s.Enum != nil {
		b = appendValue(append(b, `,"enum":`...), s.Enum)
	}
	var err error
	if b, err = appendDefault(b, s); err != nil {
		return nil, err
	}
	for _, k := range []struct {
		name  string
		value json.Number
	}{
		{"minimum", s.Minimum}, {"maximum", s.Maximum},
		{"exclusiveMinimum", s.ExclusiveMinimum}, {"exclusiveMaximum", s.ExclusiveMaximum},
		{"multipleOf", s.MultipleOf},
	} {
		if k.value != "" {
			b = append(append(b, `,"`+k.name+`":`...), k.value...)
		}
	}
	for _, k := range []struct {
		name  string
		value *uint64
	}{
		{"minLength", s.MinLength}, {"maxLength", s.MaxLength}, {"minItems", s.MinItems}, {"maxItems", s.MaxItems},
	} {
		if k.value != nil {
			b = strconv.AppendUint(append(b, `,"`+k.name+`":`...), *k.value, 10)
		}
	}
	if s.UniqueItems {
		b = append(b, `,"uniqueItems":true`...)
	}
	if s.Pattern != "" {
		b = appendString(append(b, `,"pattern":`...), s.Pattern)
	}
	if s.Format != "" {
		b = appendString(append(b, `,"format":`...), s.Format)
	}
	if s.Items != nil {
		if b, err = appendSchema(append(b, `,"items":`...), s.Items); err != nil {
			return nil, err
		}
	}
	if s.Type == "object" {
		if b, err = appendProperties(b, s); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendProperties(b []byte, s *jsonschema.Schema) ([]byte, error) {
	b = append(b, `,"properties":{`...)
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		if p != s.Properties.Oldest() {
			b = append(b, ',')
		}
		var err error
		if b, err = appendSchema(append(appendString(b, p.Key), ':'), p.Value); err != nil {
			return nil, err
		}
	}
	b = append(b, '}')
	if len(s.Required) > 0 {
		b = append(b, `,"required":[`...)
		for i, name := range s.Required {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, name)
		}
		b = append(b, ']')
	}
	free := s.AdditionalProperties == jsonschema.TrueSchema
	return strconv.AppendBool(append(b, `,"additionalProperties":`...), free), nil
}

// appendDefault gives the defaults of an array, which invopop keeps as strings,
// the type of its items.
func appendDefault(b []byte, s *jsonschema.Schema) ([]byte, error) {
	if s.Default == nil {
		return b, nil
	}
	b = append(b, `,"default":`...)
	list, ok := s.Default.([]any)
	if !ok {
		return appendValue(b, s.Default), nil
	}
	for i, v := range list {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("default %v of an array", v)
		}
		switch s.Items.Type {
		case "boolean":
			list[i] = text == "true"
		case "integer", "number":
			list[i] = json.Number(text)
		}
	}
	return appendValue(b, list), nil
}
