package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/schema"
)

type flatIn struct {
	Path  string     `json:"path" jsonschema_description:"d"`
	Edits []flatEdit `json:"edits" jsonschema:"minItems=1" jsonschema_description:"d"`
	Dry   bool       `json:"dry,omitempty" jsonschema_description:"d"`
}

type flatEdit struct {
	Old   string `json:"old_text,omitempty" alias:"old_string" jsonschema_description:"d"`
	New   string `json:"new_text" alias:"new_string" jsonschema_description:"d"`
	Count int    `json:"count,omitempty" jsonschema:"minimum=1,maximum=9" jsonschema_description:"d"`
}

func TestDecodeFlatItem(t *testing.T) {
	for _, tt := range []struct{ name, raw, want, mends string }{
		{"names", `{"path":"a","old_text":"x","new_text":"y"}`, `{"edits":[{"new_text":"y","old_text":"x"}],"path":"a"}`, "/edits: one item made of new_text, old_text"},
		{"aliases", `{"path":"a","old_string":"x","new_string":"y","dry":true}`, `{"dry":true,"edits":[{"new_text":"y","old_text":"x"}],"path":"a"}`,
			"/edits: one item made of new_string, old_string\n/edits/0/new_string: read as new_text\n/edits/0/old_string: read as old_text"},
		{"other spellings", `{"Path":"a","oldText":"x","newText":"y"}`, `{"edits":[{"new_text":"y","old_text":"x"}],"path":"a"}`,
			"/Path: read as path\n/edits: one item made of newText, oldText\n/edits/0/newText: read as new_text\n/edits/0/oldText: read as old_text"},
		{"next to a remark", `{"path":"a","new_text":"y","explanation":"e"}`, `{"edits":[{"new_text":"y"}],"path":"a"}`, "/edits: one item made of new_text"},
		{"next to null", `{"path":"a","edits":null,"new_text":"y"}`, `{"edits":[{"new_text":"y"}],"path":"a"}`, "/edits: one item made of new_text"},
		{"a number as a string", `{"path":"a","new_text":"y","count":"2"}`, `{"edits":[{"count":2,"new_text":"y"}],"path":"a"}`,
			"/edits: one item made of count, new_text\n/edits/0/count: \"2\" read as a number"},
		{"an object for an array of objects", `{"path":"a","edits":{"new_string":"y"}}`, `{"edits":[{"new_text":"y"}],"path":"a"}`,
			"/edits: an object read as an array of one\n/edits/0/new_string: read as new_text"},
	} {
		var canonical json.RawMessage
		args, err := mustFor[flatIn](t).Decode(json.RawMessage(tt.raw), &canonical, schema.Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := string(canonical); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if got := strings.Join(args.Mends, "\n"); got != tt.mends {
			t.Errorf("%s: mends\n%s\nwant\n%s", tt.name, got, tt.mends)
		}
	}
	for _, tt := range []struct{ name, raw, want string }{
		{"a key that no item has", `{"path":"a","old_text":"x","new_text":"y","zzz":1}`, "/zzz: unknown argument; allowed: path, edits, dry"},
		{"the array is there", `{"path":"a","new_text":"y","edits":[{"new_text":"z"}]}`, "/new_text: unknown argument; allowed: path, edits, dry"},
		{"nothing of an item", `{"path":"a"}`, "/edits: required, missing"},
		{"an incomplete item", `{"path":"a","old_text":"x"}`, "/edits/0/new_text: required, missing"},
	} {
		var canonical json.RawMessage
		_, err := mustFor[flatIn](t).Decode(json.RawMessage(tt.raw), &canonical, schema.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}
