package wire_test

import (
	"encoding/json"
	"testing"

	"toolcrib/server/wire"
	"toolcrib/tools"
)

func TestFormSchema(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tt := range []struct {
		name, revision string
		fields         []tools.FormField
		want           string
	}{
		{"consent", "2025-11-25", nil, `{"type":"object","properties":{}}`},
		{"order and required", "2025-11-25", []tools.FormField{{Name: "z", Type: "integer", Required: true}, {Name: "a", Type: "boolean"}, {Name: `q"`, Type: "number", Required: true}},
			`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"boolean"},"q\"":{"type":"number"}},"required":["z","q\""]}`},
		{"words and defaults", "2025-11-25", []tools.FormField{
			{Name: "a", Type: "string", Title: "A", Description: "what", Format: "uri", Default: raw(`"x:y"`)},
			{Name: "b", Type: "boolean", Default: raw(`false`)}, {Name: "c", Type: "integer", Default: raw(`0`)},
		}, `{"type":"object","properties":{"a":{"type":"string","title":"A","description":"what","format":"uri","default":"x:y"},"b":{"type":"boolean","default":false},"c":{"type":"integer","default":0}}}`},
		{"choices", "2025-06-18", []tools.FormField{{Name: "a", Type: "string", Choices: []string{"x", "y"}, Default: raw(`"y"`)}},
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"default":"y"}}}`},
		{"titled choices", "2025-11-25", []tools.FormField{{Name: "a", Type: "string", Choices: []string{"x", "y"}, Labels: []string{"X", "Y"}}},
			`{"type":"object","properties":{"a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]}}}`},
		{"titled choices, before there were titles", "2025-06-18", []tools.FormField{{Name: "a", Type: "string", Choices: []string{"x", "y"}, Labels: []string{"X"}}},
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"enumNames":["X","y"]}}}`},
		{"several choices", "2026-07-28", []tools.FormField{{Name: "a", Type: "string", Many: true, Choices: []string{"x", "y"}, Default: raw(`["x"]`)}},
			`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string","enum":["x","y"]},"default":["x"]}}}`},
		{"several titled choices", "2026-07-28", []tools.FormField{{Name: "a", Type: "string", Many: true, Choices: []string{"x"}, Labels: []string{"X"}}},
			`{"type":"object","properties":{"a":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}}}`},
	} {
		got, err := json.Marshal(wire.FormSchema(tools.Form{Fields: tt.fields}, tt.revision))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
