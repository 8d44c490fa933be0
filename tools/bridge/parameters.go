package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolcrib/tools"
)

// parameter is an argument of a tool, as its schema has it.
type parameter struct {
	name        string
	required    bool
	values      []string // of an enum
	Type        string
	Description string
	Default     json.RawMessage
	Enum        []json.RawMessage
	Items       *parameter
	Properties  json.RawMessage // of an object
	Required    []string        // likewise
}

// parametersOf returns the arguments of a tool in the order of its schema.
func parametersOf(t tools.Tool) ([]parameter, error) {
	in, err := t.Input()
	if err != nil {
		return nil, err
	}
	var root parameter
	if err := json.Unmarshal(in.JSON(), &root); err != nil {
		return nil, fmt.Errorf("tool %q: %w", t.Name, err)
	}
	return root.inner()
}

// inner returns the properties of an object.
func (p parameter) inner() ([]parameter, error) {
	if len(p.Properties) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(p.Properties))
	if _, err := dec.Token(); err != nil { // the brace
		return nil, err
	}
	var list []parameter
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var q parameter
		if err := dec.Decode(&q); err != nil {
			return nil, err
		}
		q.name, _ = name.(string)
		q.required = slices.Contains(p.Required, q.name)
		for _, v := range q.Enum {
			q.values = append(q.values, strings.Trim(string(v), `"`))
		}
		list = append(list, q)
	}
	return list, nil
}

// signature returns the arguments of a tool in a line: name, type or values, and whether each
// is required.
func signature(t tools.Tool) (string, error) {
	params, err := parametersOf(t)
	if err != nil {
		return "", err
	}
	if len(params) == 0 {
		return "no arguments", nil
	}
	params = required(params)
	words := make([]string, len(params))
	for i, p := range params {
		words[i] = p.String()
	}
	return strings.Join(words, ", "), nil
}

// explained returns a line for each argument, the required ones first: its name, type or
// values, whether it is required, its default, and what it means. The fields of objects
// follow, further in.
func explained(params []parameter, indent string) string {
	if len(params) == 0 && indent == "  " {
		return indent + "no arguments\n"
	}
	var b strings.Builder
	for _, p := range required(params) {
		kind, fields := p.kind(), p.fields()
		if len(fields) > 0 {
			kind = "object" + strings.Repeat("[]", p.depth())
		}
		fmt.Fprintf(&b, "%s%s: %s", indent, p.name, kind)
		if p.required {
			b.WriteString(" required")
		}
		if len(p.Default) > 0 {
			fmt.Fprintf(&b, " (default %s)", strings.Trim(string(p.Default), `"`))
		}
		if p.Description != "" {
			b.WriteString(" - " + cut(p.Description, maxMeaning))
		}
		b.WriteString("\n" + explained(fields, indent+"  "))
	}
	return b.String()
}

// maxMeaning is the most bytes of the description of an argument.
const maxMeaning = 200

// required puts required arguments first.
func required(params []parameter) []parameter {
	params = slices.Clone(params)
	slices.SortStableFunc(params, func(a, b parameter) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return params
}

// fields returns the properties of an object, or of the objects of a list.
func (p parameter) fields() []parameter {
	for p.Items != nil {
		p = *p.Items
	}
	list, err := p.inner()
	if err != nil {
		return nil // parametersOf has read the same schema
	}
	return list
}

// depth returns how many lists are around a value.
func (p parameter) depth() (n int) {
	for ; p.Items != nil; p = *p.Items {
		n++
	}
	return n
}

// String returns text such as "sort: name|size" or "path: string, required".
func (p parameter) String() string {
	text := p.name + ": " + p.kind()
	if p.required {
		text += " required"
	}
	return text
}

func (p parameter) kind() string {
	switch {
	case len(p.values) > 0:
		return strings.Join(p.values, "|")
	case p.Items != nil:
		return p.Items.kind() + "[]"
	case p.Type == "object":
		fields, err := p.inner()
		if err != nil || len(fields) == 0 {
			return "object"
		}
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.String()
		}
		return "{" + strings.Join(names, ", ") + "}"
	}
	return p.Type
}

// maxSignature is the most bytes of a signature that are shown.
const maxSignature = 1500

// cut shortens a line and says so.
func cut(line string, most int) string {
	line = strings.Join(strings.Fields(line), " ")
	if len(line) <= most {
		return line
	}
	for most--; !utf8.RuneStart(line[most]); most-- {
	}
	return line[:most] + "…"
}
