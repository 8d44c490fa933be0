package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// MaxSchema is the largest schema that is accepted, in bytes.
const MaxSchema = 64 << 10

// Lint returns what makes a schema unportable, each reason after a JSON pointer; an empty
// list means that every known client and model provider accepts the schema.
func Lint(raw json.RawMessage) []error {
	doc, err := document(raw)
	if err != nil {
		return []error{err}
	}
	return lint(doc)
}

// document reads a schema within its bounds.
func document(raw json.RawMessage) (map[string]any, error) {
	if len(raw) > MaxSchema {
		return nil, fmt.Errorf("schema of %d bytes, the limit is %d", len(raw), MaxSchema)
	}
	v, loose, err := parse(string(raw), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	}
	if loose {
		return nil, errors.New("schema is not strict JSON")
	}
	doc, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("schema is %s, not an object", describe(v))
	}
	return doc, nil
}

func lint(doc map[string]any) []error {
	var l linter
	if doc["type"] != "object" {
		l.fail("", "the root is not of type object")
	}
	l.schema(doc, "", 1)
	return l.reasons
}

type linter struct{ reasons []error }

func (l *linter) fail(at, format string, args ...any) {
	if at == "" {
		at = "(root)"
	}
	l.reasons = append(l.reasons, fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...)))
}

// schema checks one schema; level is that of its object or items.
func (l *linter) schema(s map[string]any, at string, level int) {
	kind, ok := s["type"].(string)
	switch {
	case s["type"] == nil:
		l.fail(at, "no type")
	case !ok:
		l.fail(at+"/type", "list of types; name one")
	case keywordsOf(kind) == nil:
		l.fail(at+"/type", "type %s", quote(kind))
	default:
		l.keywords(s, kind, at)
	}
	for _, keyword := range [...]string{"description", "title"} {
		if text, given := s[keyword]; given {
			if t, ok := text.(string); !ok || strings.TrimSpace(t) == "" {
				l.fail(at+"/"+keyword, "not a text")
			}
		}
	}
	if kind == "integer" && s["enum"] == nil && (s["minimum"] == nil || s["maximum"] == nil) {
		l.fail(at, "integer without minimum and maximum")
	}
	if enum, given := s["enum"]; given {
		l.enum(enum, s["default"], kind, at)
	}
	switch kind {
	case "array":
		items, ok := s["items"].(map[string]any)
		if !ok {
			l.fail(at, "items is not a schema")
			return
		}
		l.nested(items, at+"/items", level)
	case "object":
		l.object(s, at, level)
	}
}

// nested checks a schema that is one level below.
func (l *linter) nested(s map[string]any, at string, level int) {
	if level++; level > MaxLevels {
		l.fail(at, "nested more than %d levels deep", MaxLevels)
		return
	}
	l.schema(s, at, level)
}

// keywords refuses keywords outside of the portable subset. It is a list of allowed
// keywords, since clients differ in what they reject.
func (l *linter) keywords(s map[string]any, kind, at string) {
	var others []string
	for keyword := range s {
		if !slices.Contains(anyKeywords[:], keyword) && !slices.Contains(keywordsOf(kind), keyword) {
			others = append(others, keyword)
		}
	}
	slices.Sort(others)
	for _, keyword := range others {
		if strings.HasPrefix(keyword, "$") || slices.Contains(combining[:], keyword) {
			l.fail(at+"/"+escape(keyword), "%s is refused by some clients; write the schema out", quote(keyword))
		} else {
			l.fail(at+"/"+escape(keyword), "keyword %s is not portable on %s", quote(keyword), article(kind))
		}
	}
}

var (
	anyKeywords = [...]string{"type", "description", "title", "default", "enum"}
	combining   = [...]string{"oneOf", "anyOf", "allOf", "not", "if", "then", "else", "definitions"}
)

// keywordsOf returns the keywords of a type, nil if the type is unknown.
func keywordsOf(kind string) []string {
	switch kind {
	case "object":
		return []string{"properties", "required", "additionalProperties"}
	case "array":
		return []string{"items", "minItems", "maxItems", "uniqueItems"}
	case "string":
		return []string{"minLength", "maxLength", "pattern", "format"}
	case "integer", "number":
		return []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
	case "boolean":
		return []string{}
	}
	return nil
}

func (l *linter) object(s map[string]any, at string, level int) {
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		l.fail(at, "no properties; write properties {} if there are none")
	}
	switch s["additionalProperties"] {
	case false:
	case true:
		if len(properties) > 0 {
			l.fail(at+"/additionalProperties", "true next to properties; only free-form JSON (properties {}) allows more")
		}
	default:
		l.fail(at, "no additionalProperties: false")
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		where := at + "/properties/" + escape(name)
		if !isName(name) {
			l.fail(where, "name does not match %s", nameRule)
		}
		p, ok := properties[name].(map[string]any)
		if !ok {
			l.fail(where, "not a schema object")
			continue
		}
		if p["description"] == nil {
			l.fail(where, "no description")
		}
		if p["type"] == "object" {
			l.nested(p, where, level)
		} else {
			l.schema(p, where, level)
		}
	}
	l.required(s, properties, at+"/required")
}

func (l *linter) required(s, properties map[string]any, at string) {
	list, ok := s["required"].([]any)
	if !ok && s["required"] != nil {
		l.fail(at, "not a list of names")
	}
	for i, v := range list {
		name, ok := v.(string)
		if _, known := properties[name]; !ok || !known {
			l.fail(at+"/"+strconv.Itoa(i), "%s is not a property", describe(v))
		} else if p, ok := properties[name].(map[string]any); ok && p["default"] != nil {
			l.fail(at+"/"+strconv.Itoa(i), "%s has a default and is required", quote(name))
		}
	}
}

func (l *linter) enum(enum, fallback any, kind, at string) {
	list, ok := enum.([]any)
	if !ok || len(list) == 0 {
		l.fail(at+"/enum", "not a list of values")
		return
	}
	known := fallback == nil
	for i, v := range list {
		if !isA(v, kind) {
			l.fail(at+"/enum/"+strconv.Itoa(i), "%s is not %s", describe(v), article(kind))
		}
		known = known || !isContainer(v) && !isContainer(fallback) && v == fallback
	}
	if !known {
		l.fail(at+"/default", "%s is not in the enum", describe(fallback))
	}
}

// escape writes a key as a token of a JSON pointer.
func escape(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
