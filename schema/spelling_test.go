package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolcrib/schema"
)

type pageIn struct {
	Offset int      `json:"offset,omitempty" jsonschema:"minimum=0,maximum=100" jsonschema_description:"d"`
	Limit  int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=10" jsonschema_description:"d"`
	Mode   string   `json:"mode,omitempty" jsonschema:"enum=all,enum=names" jsonschema_description:"d"`
	Words  []string `json:"words,omitempty" alias:"terms" jsonschema_description:"d"`
}

// spellings of pageIn: each reads what its names say.
func spellings() []schema.Spelling {
	return []schema.Spelling{
		{Names: []string{"first_line", "last_line"}, Read: func(given map[string]any) (map[string]any, error) {
			first, ok := schema.Int(given["first_line"])
			last, both := schema.Int(given["last_line"])
			switch {
			case !ok:
				return nil, nil
			case !both:
				return map[string]any{"offset": first}, nil
			case last < first:
				return nil, errors.New("the last line is before the first")
			}
			return map[string]any{"offset": first, "limit": last - first + 1}, nil
		}},
		{Names: []string{"mode"}, Read: func(given map[string]any) (map[string]any, error) {
			if given["mode"] == "list" {
				return map[string]any{"mode": "names", "words": []string{"w"}}, nil
			}
			return nil, nil
		}},
		{Names: []string{"color"}, Say: "nothing is in colour", Read: func(given map[string]any) (map[string]any, error) {
			if on, ok := schema.Bool(given["color"]); !ok || on {
				return nil, nil
			}
			return map[string]any{}, nil
		}},
	}
}

func TestDecodeSpellings(t *testing.T) {
	for _, tt := range []struct{ raw, want, mends string }{
		{`{"first_line":3,"last_line":"5"}`, `{"limit":3,"offset":3}`, "/first_line, /last_line: read as limit 3, offset 3"},
		{`{"firstLine":3}`, `{"offset":3}`, "/firstLine: read as offset 3"},
		{`{"first_line":3,"offset":3}`, `{"offset":3}`, "/first_line: read as offset 3"},
		{`{"mode":"list"}`, `{"mode":"names","words":["w"]}`, `/mode: read as mode "names", words ["w"]`},
		{`{"mode":"names"}`, `{"mode":"names"}`, ""},
		{`{"color":"false"}`, `{}`, "/color: nothing is in colour"},
		{`{"color":null}`, `{}`, "/color: null read as absent"},
	} {
		var got json.RawMessage
		args, err := mustFor[pageIn](t).Decode(json.RawMessage(tt.raw), &got, schema.Options{Spellings: spellings()})
		if mends := strings.Join(args.Mends, "\n"); err != nil || string(got) != tt.want || mends != tt.mends {
			t.Errorf("%s: %s, mends %s, %v; want %s, mends %s", tt.raw, got, mends, err, tt.want, tt.mends)
		}
	}
	const allowed = "; allowed: offset, limit, mode, words"
	for _, tt := range []struct{ raw, want string }{
		{`{"first_line":5,"last_line":3}`, "/first_line: the last line is before the first"},
		{`{"first_line":"a"}`, "/first_line: unknown argument" + allowed},
		{`{"first_line":5,"offset":3}`, "/first_line: another way to say offset, which is given too; give one"},
		{`{"first_lin":5}`, `/first_lin: unknown argument; did you mean "first_line"` + allowed},
		{`{"mode":"x"}`, `/mode: "x" is not one of all, names`},
		{`{"color":true}`, "/color: unknown argument" + allowed},
		{`{"term":true}`, `/term: unknown argument; did you mean "words"` + allowed},
	} {
		var got json.RawMessage
		_, err := mustFor[pageIn](t).Decode(json.RawMessage(tt.raw), &got, schema.Options{Spellings: spellings()})
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: %v, want %s", tt.raw, err, tt.want)
		}
	}
}

func TestSpellingsMade(t *testing.T) {
	made := []schema.Spelling{
		schema.Flag(map[string]any{"mode": "names"}, map[string]any{"mode": "all"}, "names_only", "-l"),
		schema.Flag(schema.Same(), nil, "recursive"),
		schema.Values("mode", map[string]string{"everything": "all"}),
		schema.AtMost("limit", 10),
		schema.Dropped("always so", "numbered"),
		schema.Refused("there is none", "remote"),
		schema.OnlyWith("it is text", "format", "text"),
	}
	for _, tt := range []struct{ raw, want string }{ // the arguments with their mends, or the error
		{`{"-l":true}`, `{"mode":"names"} /-l: read as mode "names"`},
		{`{"l":"true","namesOnly":true}`, `{"mode":"names"} /namesOnly, /l: read as mode "names"`},
		{`{"names_only":false}`, `{"mode":"all"} /names_only: read as mode "all"`},
		{`{"names_only":false,"-l":true}`, "/names_only: names_only and -l say different things"},
		{`{"names_only":3}`, "/names_only: unknown argument; allowed: offset, limit, mode, words"},
		{`{"recursive":true}`, `{} `},
		{`{"recursive":false}`, "/recursive: unknown argument; allowed: offset, limit, mode, words"},
		{`{"mode":"Every-Thing"}`, `{"mode":"all"} /mode: read as "all"`},
		{`{"limit":11}`, `{"limit":10} /limit: read as 10`},
		{`{"limit":0}`, `{"limit":10} /limit: read as 10`},
		{`{"limit":"7"}`, `{"limit":7} /limit: "7" read as a number`},
		{`{"numbered":[1]}`, `{} /numbered: always so`},
		{`{"remote":false}`, `{} `},
		{`{"remote":"x"}`, "/remote: there is none"},
		{`{"format":"TEXT"}`, `{} `},
		{`{"format":"xml"}`, "/format: it is text"},
	} {
		var args json.RawMessage
		out, err := mustFor[pageIn](t).Decode(json.RawMessage(tt.raw), &args, schema.Options{Spellings: made})
		got := string(args) + " " + strings.Join(out.Mends, "; ")
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.raw, got, tt.want)
		}
	}
}

func TestSpelled(t *testing.T) {
	typ := mustFor[pageIn](t)
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{[]string{"words", "x"}, ""},
		{[]string{"Terms"}, `spelling "Terms" is another name of words already`},
		{[]string{"x", "X"}, `spelling "x" is there twice`},
		{[]string{"-x", "-X"}, ""},
	} {
		err := typ.Spelled([]schema.Spelling{schema.Dropped("", tt.names...)})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || err.Error() != tt.want) {
			t.Errorf("%q: %v, want %s", tt.names, err, tt.want)
		}
	}
}

// A note names only what the caller has sent, and in plain words where the values are none.
func TestSpellingAs(t *testing.T) {
	typ := mustFor[pageIn](t)
	opt := schema.Options{
		Implied: map[string]any{"any_case": true},
		Spellings: []schema.Spelling{{Names: []string{"any_case", "words"}, As: "words in any case", Read: func(given map[string]any) (map[string]any, error) {
			words, _ := schema.Strings(given["words"])
			if given["any_case"] != true || words == nil {
				return map[string]any{}, nil
			}
			return map[string]any{"words": []string{"(?i)" + words[0]}}, nil
		}}},
	}
	for raw, want := range map[string]string{
		`{"words":["x"]}`:                 "/words: read as words in any case",
		`{"any_case":true,"words":["x"]}`: "/any_case, /words: read as words in any case",
		`{}`:                              "",
	} {
		args, err := typ.Decode(json.RawMessage(raw), new(pageIn), opt)
		if got := strings.Join(args.Mends, "\n"); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", raw, got, err, want)
		}
	}
}

func TestValues(t *testing.T) {
	for name, want := range map[string]string{"mode": "all names", "Mode": "all names", "terms": "", "none": ""} {
		if got := strings.Join(mustFor[pageIn](t).Values(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
