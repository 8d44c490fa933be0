package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/schema"
)

// TestWritten checks arguments that are one text.
func TestWritten(t *testing.T) {
	type find struct {
		Pattern string        `json:"pattern" jsonschema_description:"What to find." alias:"query"`
		Paths   []string      `json:"paths,omitempty" jsonschema_description:"Where." path:"any"`
		Limit   int           `json:"limit,omitempty" jsonschema_description:"How many." jsonschema:"minimum=1,maximum=100,default=10"`
		Wait    string        `json:"wait,omitempty" jsonschema_description:"How long." unit:"s,ms"`
		Extra   schema.Object `json:"extra,omitempty" jsonschema_description:"More."`
	}
	type cell struct {
		Code   string `json:"code,omitempty" jsonschema_description:"What to run." alias:"script"`
		Action string `json:"action,omitempty" jsonschema_description:"What to do."`
	}
	type globs struct {
		Pattern []string `json:"pattern" jsonschema_description:"What to find."`
	}
	type move struct {
		From string `json:"from" jsonschema_description:"Source."`
		To   string `json:"to" jsonschema_description:"Destination."`
	}
	type edit struct {
		Old string `json:"old,omitempty" jsonschema_description:"Before."`
		New string `json:"new" jsonschema_description:"After."`
	}
	type edits struct {
		Path  string `json:"path" jsonschema_description:"File."`
		Edits []edit `json:"edits" jsonschema_description:"What to do."`
	}
	type all struct {
		All bool `json:"all,omitempty" jsonschema_description:"All of them."`
	}
	spelled := schema.Options{Spellings: []schema.Spelling{schema.Dropped("", "quiet")}}
	for _, c := range []struct {
		name      string
		typ       *schema.Type
		text      string
		want, say string // the error if want is ""
	}{
		{"JSON", mustFor[find](t), `{"pattern": "x"}`, `{"limit":10,"pattern":"x"}`, "arguments: string of JSON read as an object"},
		{"JSON5", mustFor[find](t), `{pattern: 'x', limit: 3,}`, `{"limit":3,"pattern":"x"}`, "arguments: string of JSON read as an object"},
		{"pairs", mustFor[find](t), `pattern=a+b%26c&limit=3`, `{"limit":3,"pattern":"a b&c"}`, "arguments: key=value read as an object"},
		{"a pair by another name", mustFor[find](t), `query=x`, `{"limit":10,"pattern":"x"}`, "arguments: key=value read as an object"},
		{"a pair with a unit", mustFor[find](t), `pattern=x&wait_ms=1500`, `{"limit":10,"pattern":"x","wait":"1500ms"}`, "arguments: key=value read as an object"},
		{"a pair of a spelling", mustFor[find](t), `pattern=x&quiet=1`, `{"limit":10,"pattern":"x"}`, "arguments: key=value read as an object"},
		{"pairs of a list", mustFor[find](t), `pattern=x&paths=a&paths=b&paths=c`, `{"limit":10,"paths":["a","b","c"],"pattern":"x"}`, "arguments: key=value read as an object"},
		{"a list of one", mustFor[globs](t), `pattern=*.go`, `{"pattern":["*.go"]}`, "arguments: key=value read as an object"},
		{"pairs inside", mustFor[find](t), `{"pattern": "x", "extra": "a=1&b=2"}`, `{"extra":{"a":"1","b":"2"},"limit":10,"pattern":"x"}`, "arguments: string of JSON read as an object"},
		{"not encoded", mustFor[find](t), `pattern=100%`, `{"limit":10,"pattern":"100%"}`, "arguments: key=value read as an object"},
		{"pairs of an element", mustFor[edits](t), `path=a&old=b+c&new=d`, `{"edits":[{"new":"d","old":"b+c"}],"path":"a"}`, "arguments: key=value read as an object"},
		{"pairs with lines", mustFor[move](t), "from=a&to=b\nc", `{"from":"a","to":"b\nc"}`, "arguments: key=value read as an object"},
		{"an unknown key among pairs", mustFor[find](t), `pattern=x&depth=1`, "", "/depth: unknown argument; allowed: pattern, paths, limit, wait, extra"},
		{"two unknown keys", mustFor[find](t), `pattern=x&a=1&b=2`, `{"limit":10,"pattern":"pattern=x&a=1&b=2"}`, "arguments: text read as pattern"},
		{"text", mustFor[find](t), "TODO", `{"limit":10,"pattern":"TODO"}`, "arguments: text read as pattern"},
		{"text of a list", mustFor[globs](t), "*.go", `{"pattern":["*.go"]}`, "arguments: text read as pattern"},
		{"a pair that is none", mustFor[find](t), "x=1", `{"limit":10,"pattern":"x=1"}`, "arguments: text read as pattern"},
		{"code", mustFor[cell](t), "code = 1\nprint(code)", `{"code":"code = 1\nprint(code)"}`, "arguments: text read as code"},
		{"lines that begin like a pair", mustFor[cell](t), "code=1\nprint(code)", `{"code":"code=1\nprint(code)"}`, "arguments: text read as code"},
		{"a number", mustFor[cell](t), "1", `{"code":"1"}`, "arguments: text read as code"},
		{"nothing", mustFor[cell](t), " ", `{}`, ""},
		{"null", mustFor[cell](t), "null", `{}`, "arguments: string of JSON read as an object"},
		{"broken JSON", mustFor[cell](t), `{"code": "1"`, "", "arguments are not JSON: unexpected end at byte 13"},
		{"which of two", mustFor[move](t), "a.txt", "", "arguments are not JSON: unexpected 'a' at byte 1"},
		{"no text", mustFor[all](t), "true", "", "arguments are true, not an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := json.Marshal(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var canonical json.RawMessage
			args, err := c.typ.Decode(raw, &canonical, spelled)
			if c.want == "" {
				if err == nil || err.Error() != c.say {
					t.Errorf("got %s, %v; want the error %q", canonical, err, c.say)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(canonical)); diff != "" {
				t.Error(diff)
			}
			if c.say != "" && (len(args.Mends) == 0 || args.Mends[0] != c.say) || c.say == "" && len(args.Mends) > 0 {
				t.Errorf("mends %q, want first %q", args.Mends, c.say)
			}
		})
	}
}

// A schema from outside has no order, so that only a required argument can be meant.
func TestWrittenForeign(t *testing.T) {
	for doc, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"string","description":"d"},"b":{"type":"string","description":"d"}},"additionalProperties":false}`:                  "",
		`{"type":"object","properties":{"a":{"type":"string","description":"d"},"b":{"type":"string","description":"d"}},"required":["b"],"additionalProperties":false}`: `{"b":"x"}`,
	} {
		typ, err := schema.Parse(json.RawMessage(doc))
		if err != nil {
			t.Fatal(err)
		}
		var got json.RawMessage
		if _, err := typ.Decode(json.RawMessage(`"x"`), &got, schema.Options{}); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %s, %v", doc, got, err)
		}
	}
}

func TestImplied(t *testing.T) {
	type find struct {
		Pattern []string `json:"pattern" jsonschema_description:"What to find." alias:"name"`
		Hidden  bool     `json:"hidden,omitempty" jsonschema_description:"Too." jsonschema:"default=false"`
	}
	opt := schema.Options{
		Implied:   map[string]any{"pattern": []string{"*"}, "visible": false},
		Spellings: []schema.Spelling{schema.Flag(schema.Same(), map[string]any{"hidden": true}, "visible")},
	}
	for raw, want := range map[string]string{
		`{}`:                 `{"hidden":true,"pattern":["*"]}`,
		`{"name":"a"}`:       `{"hidden":true,"pattern":["a"]}`,
		`{"name":null}`:      `{"hidden":true,"pattern":["*"]}`,
		`{"visible":"true"}`: `{"hidden":false,"pattern":["*"]}`,
	} {
		var got json.RawMessage
		if _, err := mustFor[find](t).Decode(json.RawMessage(raw), &got, opt); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v; want %s", raw, got, err, want)
		}
	}
}

func TestPeek(t *testing.T) {
	for raw, want := range map[string]any{
		`{"action": "list"}`:   "list",
		`{"Action": "list"}`:   "list",
		`"{action: 'list'}"`:   "list",
		`"action=list&name=x"`: "list",
		`{"action": null}`:     nil,
		`{"name": "list"}`:     nil,
		`"list"`:               nil,
		`[1]`:                  nil,
		`{"action"`:            nil,
	} {
		if got := schema.Peek([]byte(raw), "action"); got != want {
			t.Errorf("%s: got %v, want %v", raw, got, want)
		}
	}
}
