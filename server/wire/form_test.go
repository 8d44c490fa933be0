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
		{"several choices, before there were lists", "2025-06-18", []tools.FormField{{Name: "a", Type: "string", Title: "A", Description: "what", Many: true, Choices: []string{"x", "y"}, Labels: []string{"X"}, Default: raw(`["y"]`)}},
			`{"type":"object","properties":{"a_1":{"type":"boolean","title":"A: X","description":"what","default":false},"a_2":{"type":"boolean","title":"A: y","description":"what","default":true}}}`},
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

// A client of a revision without lists answers each choice; the tool gets a list in all.
func TestJoined(t *testing.T) {
	form := tools.Form{Fields: []tools.FormField{{Name: "a", Many: true, Choices: []string{"x", "y", "z"}}, {Name: "b"}}}
	values := func(text string) (v map[string]json.RawMessage) {
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct{ revision, answer, want string }{
		{"2025-06-18", `{"a_1":true,"a_2":false,"a_3":true,"b":"t"}`, `{"a":["x","z"],"b":"t"}`},
		{"2025-06-18", `{}`, `{"a":[]}`},
		{"2025-11-25", `{"a":["x"]}`, `{"a":["x"]}`},
		{"2025-11-25", `{}`, `{}`},
	} {
		got := wire.Joined(tools.Answer{Action: tools.Accept, Values: values(tt.answer)}, form, tt.revision)
		text, err := json.Marshal(got.Values)
		if err != nil || string(text) != tt.want {
			t.Errorf("%s %s: got %s, want %s, %v", tt.revision, tt.answer, text, tt.want, err)
		}
	}
	if got := wire.Joined(tools.Answer{Action: tools.Accept}, form, "2025-06-18"); got.Values != nil {
		t.Errorf("an answer without values got %v", got.Values)
	}
}
