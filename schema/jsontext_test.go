package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/schema"
)

// An object where a string is wanted is most often content that is JSON.
func TestDecodeObjectForString(t *testing.T) {
	for raw, hint := range map[string]bool{`{"path":{"a":1},"edits":[{"new_text":"y"}]}`: true, `{"path":[1],"edits":[{"new_text":"y"}]}`: false, `{"path":"a","edits":[{"new_text":{"a":1}}]}`: true} {
		var canonical json.RawMessage
		_, err := mustFor[flatIn](t).Decode(json.RawMessage(raw), &canonical, schema.Options{})
		if err == nil || strings.Contains(err.Error(), "is not a string; send the JSON as one string") != hint {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
