package settings_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v4"

	"toolcrib/server/config/settings"
)

func compiled(t *testing.T, dst any) *jsonschema.Resolved {
	t.Helper()
	text, err := settings.Schema(dst, "Example")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// What the schema says of a file and what Decode says go together.
func TestSchema(t *testing.T) {
	s := compiled(t, new(example))
	for text, want := range map[string]bool{
		"some_names: [a]\nonly: true\nopen: false\nhow: deny\nsize: 160\nmost: 3": true,
		"only: ${YES}\nmost: ${ONE}\nhow: ${NOPE:-ask}":                           true,
		"token: abc": true, "token: {file: key.txt}": true,
		"rules: [{verdict: deny, tool: [x]}]":                                 true,
		"tool: {grep: {timeout: 1m30s, text: 20, share: 1}}":                  true,
		"tool: {grep: {timeout: '${ONE}s', key: {file: key.txt}, share: .5}}": true,
		"oly: true": false, "private: x": false,
		"only: 1": false, "only: 'true'": false, "how: no": false, "some_names: a": false, "some_names: []": false,
		"some_names: [1]": false, "size: ''": false, "size: [1]": false, "most: 1.5": false, "most: a": false,
		"token: {fil: x}": false, "token: {}": false, "how: {file: key.txt}": false,
		"rules: [{verdict: deny, tool: []}]": false,
		"rules: [{tool: [x]}]":               false, "rules: [{verdict: no}]": false, "rules: [{verdict: deny, x: 1}]": false,
		"tool: {grep: {timeout: 30}}": false, "tool: {grep: {timeout: -1s}}": false, "tool: {grep: {timeout: 1x}}": false,
		"tool: {grep: {text: 9}}": false, "tool: {grep: {text: 101}}": false, "tool: [x]": false,
	} {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			t.Fatal(err)
		}
		invalid := s.Validate(value)
		if _, _, err := decode(text); (err == nil) != want || (invalid == nil) != want {
			t.Errorf("%s\ndecoded: %v\nvalid: %v\nwant both %t", text, err, invalid, want)
		}
	}
}
