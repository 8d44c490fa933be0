package conform_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/conform"
	"toolcrib/tools/internal/jsondoc"
	"toolcrib/tools/internal/tooltest"
)

func problems(t *testing.T, schema, doc string) ([]string, error) {
	t.Helper()
	rules, err := jsondoc.Parse(schema)
	if err != nil {
		t.Fatal(err)
	}
	d, err := jsondoc.Parse(doc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := conform.Compile(rules.Root, "", func(uri string) (*jsondoc.Node, error) { return nil, errors.New("not there") })
	if err != nil {
		return nil, err
	}
	found, err := s.Validate(t.Context(), d.Root)
	var lines []string
	for _, p := range found {
		line, column := d.Position(p.At)
		lines = append(lines, fmt.Sprintf("%s %d:%d %s: %s", p.Pointer, line, column, p.Keyword, p.Msg))
	}
	return lines, err
}

// Every problem is found, in the order of the document, at its place.
func TestAllProblems(t *testing.T) {
	got, err := problems(t, `{
		"type": "object", "required": ["id", "name"], "additionalProperties": false, "maxProperties": 3,
		"properties": {
			"name": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
			"tags": {"items": {"enum": ["x", "y"]}, "uniqueItems": true, "maxItems": 2},
			"size": {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
			"any": {"anyOf": [{"type": "string"}, {"properties": {"a": {"type": "null"}}, "type": "object"}]}
		}}`, "{\"name\": \"A\",\n \"tags\": [\"x\", \"z\", \"x\"],\n \"size\": 3, \"any\": {\"a\": 1}, \"more\": true}")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		` 1:1 maxProperties: has 5 properties, at most 3 are allowed`,
		` 1:1 required: the property "id" is missing`,
		`/name 1:10 minLength: has 1 characters, at least 2 are needed`,
		`/name 1:10 pattern: "A" does not match "^[a-z]+$"`,
		`/tags 2:10 maxItems: has 3 items, at most 2 are allowed`,
		`/tags/1 2:16 enum: "z" is none of ["x","y"]`,
		`/tags/2 2:21 uniqueItems: is the same as item 0`,
		`/size 3:10 oneOf: fits schemas 1, 2, but only one is allowed`,
		`/any 3:20 anyOf: fits none of 2 schemas (1: {"a":1} is object, not string; 2: /a 1 is number, not null)`,
		`/more 3:30 additionalProperties: the property "more" is not allowed`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		schema, doc string
		valid       bool
	}{
		{`{"multipleOf": 0.01}`, `19.99`, true},
		{`{"multipleOf": 0.01}`, `19.999`, false},
		{`{"maximum": 12345678901234567890}`, `12345678901234567891`, false},
		{`{"minimum": 9007199254740993}`, `9007199254740992`, false},
		{`{"const": 1.0}`, `1`, true},
		{`{"enum": [0.1]}`, `1e-1`, true},
		{`{"type": "integer"}`, `1e400`, true},
		{`{"type": "integer"}`, `1e-400`, false},
		{`{"type": "integer"}`, `1.0`, true},
		{`{"type": "integer"}`, `1e999999999`, true},
		{`{"maximum": 5}`, `1e999999999`, false},
		{`{"uniqueItems": true}`, `[1, 1.0]`, false},
		{`{"minimum": 3, "exclusiveMinimum": true}`, `3`, false}, // draft 4
		{`{"items": [{"type": "string"}], "additionalItems": false}`, `["a", 1]`, false},
		{`{"dependencies": {"a": ["b"]}}`, `{"a": 1}`, false},
	} {
		got, err := problems(t, c.schema, c.doc)
		if err != nil || c.valid != (len(got) == 0) {
			t.Errorf("%s for %s: %q, %v", c.schema, c.doc, got, err)
		}
	}
}

func TestSchemaErrors(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "strng"}`:                         `/type: "strng" is no type`,
		`{"properties": {"a/b": {"minimum": "1"}}}`: "/properties/a~1b/minimum: is string, not number",
		`{"items": 1}`:                              "/items: a schema is an object, true or false, not number",
		`{"properties": []}`:                        "/properties: is array, not object",
		`{"allOf": {}}`:                             "/allOf: is object, not array",
		`{"pattern": "(?=a)"}`:                      "is no regular expression that can be checked",
		`{"$ref": "#/$defs/x"}`:                     "there is nothing at /$defs/x",
		`{"$ref": "#x"}`:                            "there is no anchor x",
		`{"$ref": "http://example.com/a"}`:          "not there",
		`{"$ref": "#"}`:                             "refers to itself without an end",
		`{"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}`: "refers to itself without an end",
	} {
		got, err := problems(t, schema, `{}`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: got %q, %v, want %s", schema, got, err, want)
		}
	}
}

func TestBombs(t *testing.T) {
	tooltest.Unraced(t)
	chain := `{"$defs": {"a0": {}`
	for i := range 40 {
		chain += fmt.Sprintf(`, "a%d": {"anyOf": [{"allOf": [{"$ref": "#/$defs/a%d"}, false]}, {"$ref": "#/$defs/a%d"}]}`, i+1, i, i)
	}
	chain += `}, "$ref": "#/$defs/a40", "not": {}}`
	if got, err := problems(t, chain, `{}`); err == nil || !strings.Contains(err.Error(), "more than 5000000 steps") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCancelled(t *testing.T) {
	doc, err := jsondoc.Parse(`{}`)
	if err != nil {
		t.Fatal(err)
	}
	s, err := conform.Compile(doc.Root, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Validate(ctx, doc.Root); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
