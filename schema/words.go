package schema

import (
	"encoding/json"
	"slices"
	"strconv"
)

// maxShown is how many characters of a value a message repeats.
const maxShown = 60

// describe shows a scalar as given, shortened, and names the type of a container.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return quote(v)
	case json.Number:
		return shorten(string(v))
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	case []any:
		return "an array"
	}
	return "an object"
}

// quote shows a text on one line; a cut text says how long it is.
func quote(s string) string {
	if short := shorten(s); short != s {
		return strconv.Quote(short) + " (" + count(len(s), "byte") + ")"
	}
	return strconv.Quote(s)
}

// shorten cuts a text after maxShown characters.
func shorten(s string) string {
	n := 0
	for i := range s {
		if n == maxShown {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

func article(kind string) string {
	if slices.Contains([]string{"integer", "array", "object"}, kind) {
		return "an " + kind
	}
	return "a " + kind
}

func isContainer(v any) bool {
	switch v.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// isA reports whether a value has a schema's type.
func isA(v any, kind string) bool {
	switch v := v.(type) {
	case string:
		return kind == "string"
	case bool:
		return kind == "boolean"
	case json.Number:
		_, _, whole := integral(v)
		return kind == "number" || kind == "integer" && whole
	case []any:
		return kind == "array"
	case map[string]any:
		return kind == "object"
	}
	return false
}
