package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolcrib/schema"
)

// with is a portable schema with one property.
func with(property string) string {
	return `{"type":"object","properties":{"a":` + property + `},"additionalProperties":false}`
}

func TestLint(t *testing.T) {
	for _, tt := range []struct{ name, raw, want string }{
		{"portable", with(`{"type":"string","description":"d"}`), ""},
		{"free-form", `{"type":"object","properties":{},"additionalProperties":true}`, ""},
		{"not JSON", `{`, "schema is not JSON"},
		{"JSON5", `{type:"object"}`, "schema is not strict JSON"},
		{"true", `true`, "schema is true, not an object"},
		{"too big", `{"type":"` + strings.Repeat("x", schema.MaxSchema) + `"}`, "the limit is 65536"},
		{"too deep", strings.Repeat(`{"items":`, 100), "nested more than 64 levels deep"},
		{"duplicate key", `{"type":"object","type":"object"}`, `duplicate key "type"`},
		{"root array", `{"type":"array","items":{"type":"string"}}`, "(root): the root is not of type object"},
		{"no properties", `{"type":"object","additionalProperties":false}`, "(root): no properties"},
		{"open", `{"type":"object","properties":{}}`, "(root): no additionalProperties: false"},
		{"additional schema", `{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, "no additionalProperties: false"},
		{"free next to properties", `{"type":"object","properties":{"a":{"type":"string","description":"d"}},"additionalProperties":true}`, "/additionalProperties: true next to properties"},
		{"$schema", `{"$schema":"x","type":"object","properties":{},"additionalProperties":false}`, `/$schema: "$schema" is refused`},
		{"$defs", `{"$defs":{},"type":"object","properties":{},"additionalProperties":false}`, "/$defs: "},
		{"$ref", with(`{"$ref":"file:///etc/passwd","type":"string","description":"d"}`), "/properties/a/$ref: "},
		{"$ref alone", with(`{"$ref":"#/x","description":"d"}`), "/properties/a: no type"},
		{"oneOf", with(`{"type":"string","description":"d","oneOf":[]}`), "/properties/a/oneOf: "},
		{"anyOf", with(`{"type":"string","description":"d","anyOf":[]}`), "/properties/a/anyOf: "},
		{"allOf", `{"type":"object","properties":{},"additionalProperties":false,"allOf":[]}`, "/allOf: "},
		{"not", with(`{"type":"string","description":"d","not":{}}`), "/properties/a/not: "},
		{"const", with(`{"type":"string","description":"d","const":"x"}`), `/properties/a/const: keyword "const" is not portable on a string`},
		{"patternProperties", `{"type":"object","properties":{},"additionalProperties":false,"patternProperties":{}}`, "/patternProperties: "},
		{"type list", with(`{"type":["string","null"],"description":"d"}`), "/properties/a/type: list of types"},
		{"type null", with(`{"type":"null","description":"d"}`), `/properties/a/type: type "null"`},
		{"boolean schema", with(`true`), "/properties/a: not a schema object"},
		{"boolean items", with(`{"type":"array","description":"d","items":true}`), "/properties/a: items is not a schema"},
		{"no items", with(`{"type":"array","description":"d"}`), "/properties/a: items is not a schema"},
		{"no description", with(`{"type":"string"}`), "/properties/a: no description"},
		{"empty description", with(`{"type":"string","description":" "}`), "/properties/a/description: not a text"},
		{"integer without bounds", with(`{"type":"integer","description":"d","minimum":1}`), "/properties/a: integer without minimum and maximum"},
		{"items without bounds", with(`{"type":"array","description":"d","items":{"type":"integer"}}`), "/properties/a/items: integer without"},
		{"enum of another type", with(`{"type":"string","description":"d","enum":["x",1]}`), "/properties/a/enum/1: 1 is not a string"},
		{"empty enum", with(`{"type":"string","description":"d","enum":[]}`), "/properties/a/enum: not a list"},
		{"name", `{"type":"object","properties":{"a/B":{"type":"string","description":"d"}},"additionalProperties":false}`, "/properties/a~1B: name does not match"},
		{"required unknown", `{"type":"object","properties":{},"required":["x"],"additionalProperties":false}`, `/required/0: "x" is not a property`},
		{"required twisted", `{"type":"object","properties":{},"required":"x","additionalProperties":false}`, "/required: not a list"},
		{"required with default", `{"type":"object","properties":{"a":{"type":"string","description":"d","default":"x"}},"required":["a"],"additionalProperties":false}`, `"a" has a default and is required`},
		{"three levels", with(nest(2)), ""},
		{"four levels", with(nest(3)), "nested more than 3 levels deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			reasons := schema.Lint(json.RawMessage(tt.raw))
			_, err := schema.Parse(json.RawMessage(tt.raw))
			if tt.want == "" {
				if reasons != nil || err != nil {
					t.Fatal(reasons, err)
				}
				return
			}
			if !strings.Contains(fmt.Sprint(reasons), tt.want) || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Lint %v\nParse %v\nwant %s", reasons, err, tt.want)
			}
		})
	}
}

// nest is an array of arrays.
func nest(n int) string {
	s := `{"type":"string"}`
	for range n {
		s = `{"type":"array","items":` + s + `}`
	}
	return strings.TrimSuffix(s, "}") + `,"description":"d"}`
}

func TestLintListsEveryReason(t *testing.T) {
	raw := `{"$id":"x","type":"object","properties":{"B":{"type":"integer"},"c":false}}`
	if reasons := schema.Lint(json.RawMessage(raw)); len(reasons) != 6 {
		t.Fatalf("%d reasons: %v", len(reasons), reasons)
	}
}

func TestParseRefusesWhatDoesNotCompile(t *testing.T) {
	for _, property := range []string{
		`{"type":"string","description":"d","pattern":"["}`,
		`{"type":"integer","description":"d","minimum":"x","maximum":1}`,
		`{"type":"string","description":"d","minLength":-1}`,
		`{"type":"string","description":"d","default":null}`,
		`{"type":"string","description":"d","maxLength":1,"default":"long"}`,
	} {
		if _, err := schema.Parse(json.RawMessage(with(property))); err == nil {
			t.Errorf("%s: accepted", property)
		}
	}
}

func TestParseCompacts(t *testing.T) {
	typ, err := schema.Parse(json.RawMessage("{ \"type\": \"object\",\n \"properties\": {}, \"additionalProperties\": true }"))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(typ.JSON()); got != `{"type":"object","properties":{},"additionalProperties":true}` {
		t.Fatal(got)
	}
}
