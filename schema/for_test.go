package schema_test

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"toolcrib/schema"
)

type edit struct {
	Path string `json:"path" path:"file" jsonschema_description:"file to change"`
	New  string `json:"new_text,omitempty" jsonschema_description:"new text"`
}

// Page is embedded: its fields are flattened.
type Page struct {
	Limit  int  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100,default=10" jsonschema_description:"most results"`
	Offset *int `json:"offset,omitempty" jsonschema:"minimum=0,maximum=1000" jsonschema_description:"results to skip"`
}

type sampleIn struct {
	Zeta  string `json:"zeta" jsonschema:"pattern=^[a-z]{1\\,3}$" jsonschema_description:"first, with a comma"`
	Edits []edit `json:"edits,omitempty" jsonschema:"minItems=1" jsonschema_description:"changes"`
	Page
	Paths  []string      `json:"paths,omitempty" path:"any" jsonschema_description:"where to look"`
	Sizes  []int         `json:"sizes,omitempty" jsonschema:"minimum=1,maximum=9,default=1,default=2" jsonschema_description:"sizes"`
	Ratio  float64       `json:"ratio,omitempty" jsonschema:"minimum=0.5,default=1.5" jsonschema_description:"ratio"`
	Force  bool          `json:"force,omitempty" jsonschema:"default=true" jsonschema_description:"force it"`
	Extra  schema.Object `json:"extra,omitempty" jsonschema_description:"anything"`
	Where  *edit         `json:"where,omitzero" jsonschema_description:"one change"`
	Hidden string        `json:"-"`
	inner  int
}

const sampleSchema = `{"type":"object","properties":{
"zeta":{"type":"string","description":"first, with a comma","pattern":"^[a-z]{1,3}$"},
"edits":{"type":"array","description":"changes","minItems":1,"items":{"type":"object","properties":{
"path":{"type":"string","description":"file to change"},
"new_text":{"type":"string","description":"new text"}},"required":["path"],"additionalProperties":false}},
"limit":{"type":"integer","description":"most results","default":10,"minimum":1,"maximum":100},
"offset":{"type":"integer","description":"results to skip","minimum":0,"maximum":1000},
"paths":{"type":"array","description":"where to look","items":{"type":"string"}},
"sizes":{"type":"array","description":"sizes","default":[1,2],"items":{"type":"integer","minimum":1,"maximum":9}},
"ratio":{"type":"number","description":"ratio","default":1.5,"minimum":0.5},
"force":{"type":"boolean","description":"force it","default":true},
"extra":{"type":"object","description":"anything","properties":{},"additionalProperties":true},
"where":{"type":"object","description":"one change","properties":{
"path":{"type":"string","description":"file to change"},
"new_text":{"type":"string","description":"new text"}},"required":["path"],"additionalProperties":false}
},"required":["zeta"],"additionalProperties":false}`

func TestForWritesTheSameBytesEveryTime(t *testing.T) {
	want := strings.ReplaceAll(sampleSchema, "\n", "")
	for range 20 {
		typ := mustFor[sampleIn](t)
		if diff := cmp.Diff(want, string(typ.JSON())); diff != "" {
			t.Fatal(diff)
		}
		if reasons := schema.Lint(typ.JSON()); reasons != nil {
			t.Fatal(reasons)
		}
		if err := typ.Compile(); err != nil {
			t.Fatal(err)
		}
	}
	if (sampleIn{}).inner != 0 {
		t.Fatal("the unexported field is there to be left out")
	}
}

// The enum of a slice is at its items; a default does not make a field
// optional and omitempty alone does; a pointer is optional, not nullable.
func TestForTags(t *testing.T) {
	typ := mustFor[struct {
		Kinds []string `json:"kinds" jsonschema:"enum=a,enum=b,maxItems=2" jsonschema_description:"one, two, three"`
		Level uint8    `json:"level" jsonschema:"enum=1,enum=2" jsonschema_description:"d"`
		Flag  *bool    `json:"flag" jsonschema_description:"d"`
		Zero  string   `json:"zero,omitzero" jsonschema_description:"d"`
	}](t)
	want := `{"type":"object","properties":{` +
		`"kinds":{"type":"array","description":"one, two, three","maxItems":2,"items":{"type":"string","enum":["a","b"]}},` +
		`"level":{"type":"integer","description":"d","enum":[1,2]},` +
		`"flag":{"type":"boolean","description":"d"},` +
		`"zero":{"type":"string","description":"d"}},` +
		`"required":["kinds","level","flag"],"additionalProperties":false}`
	if diff := cmp.Diff(want, string(typ.JSON())); diff != "" {
		t.Fatal(diff)
	}
}

func TestForWithoutFields(t *testing.T) {
	typ := mustFor[struct{}](t)
	want := `{"type":"object","properties":{},"additionalProperties":false}`
	if got := string(typ.JSON()); got != want {
		t.Fatalf("got %s", got)
	}
}

func TestKeyword(t *testing.T) {
	typ := mustFor[sampleIn](t)
	for _, tt := range []struct {
		property, keyword string
		want              any
		ok                bool
	}{
		{"limit", "maximum", json.Number("100"), true},
		{"limit", "default", json.Number("10"), true},
		{"sizes", "maximum", json.Number("9"), true}, // of the items
		{"edits", "minItems", json.Number("1"), true},
		{"force", "default", true, true},
		{"limit", "pattern", nil, false},
		{"none", "maximum", nil, false},
	} {
		got, ok := typ.Keyword(tt.property, tt.keyword)
		if got != tt.want || ok != tt.ok {
			t.Errorf("Keyword(%q, %q) = %v, %v", tt.property, tt.keyword, got, ok)
		}
	}
}

func TestPathFields(t *testing.T) {
	want := []schema.PathArg{
		{Pointer: "/edits/*/path", Kind: "file"},
		{Pointer: "/paths/*", Kind: "any"},
		{Pointer: "/where/path", Kind: "file"},
	}
	if diff := cmp.Diff(want, mustFor[sampleIn](t).PathFields()); diff != "" {
		t.Fatal(diff)
	}
}

type recursive struct {
	Children []*recursive `json:"children,omitempty" jsonschema_description:"d"`
}

type ping struct {
	Pong *pong `json:"pong,omitempty" jsonschema_description:"d"`
}

type pong struct {
	Ping []ping `json:"ping,omitempty" jsonschema_description:"d"`
}

type level4 struct {
	A []struct {
		B []struct {
			C []string `json:"c" jsonschema_description:"d"`
		} `json:"b" jsonschema_description:"d"`
	} `json:"a" jsonschema_description:"d"`
}

type textual string

func (*textual) UnmarshalText([]byte) error { return nil }

type selfMade struct{}

func (*selfMade) UnmarshalJSON([]byte) error { return nil }

type ownSchema struct{}

func (ownSchema) JSONSchema() *jsonschema.Schema { return jsonschema.TrueSchema }

type number int

// Number is embedded under its own name.
type Number int

func refused[T any]() func() error {
	return func() error {
		typ, err := schema.For[T]()
		if err == nil {
			err = typ.Compile()
		}
		return err
	}
}

func TestForRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func() error
		want string // part of the error
	}{
		{"no struct", refused[[]string](), "not a struct"},
		{"map at the root", refused[schema.Object](), "not a struct"},
		{"pointer at the root", refused[*edit](), "not a struct"},
		{"time at the root", refused[time.Time](), "time.Time"},
		{"recursion", refused[recursive](), "recursive.Children[]: recursive type: schema_test.recursive -> schema_test.recursive"},
		{"recursion over two types", refused[ping](), "ping.Pong.Ping[]: recursive type: schema_test.ping -> schema_test.pong -> schema_test.ping"},
		{"four levels", refused[level4](), "level4.A[].B[].C[]: nested more than 3 levels deep"},
		{"any", refused[struct {
			A any `json:"a" jsonschema_description:"d"`
		}](), ".A: interface {} takes anything"},
		{"interface", refused[struct {
			A io.Reader `json:"a" jsonschema_description:"d"`
		}](), ".A: io.Reader takes anything"},
		{"raw message", refused[struct {
			A json.RawMessage `json:"a" jsonschema_description:"d"`
		}](), ".A: json.RawMessage takes anything"},
		{"map", refused[struct {
			A map[string]string `json:"a" jsonschema_description:"d"`
		}](), ".A: map[string]string: no map is portable: use schema.Object"},
		{"time", refused[struct {
			A time.Time `json:"a" jsonschema_description:"d"`
		}](), ".A: time.Time"},
		{"pointer to a time", refused[struct {
			A *time.Time `json:"a" jsonschema_description:"d"`
		}](), ".A: time.Time"},
		{"duration", refused[struct {
			A time.Duration `json:"a" jsonschema:"minimum=0,maximum=9" jsonschema_description:"d"`
		}](), ".A: time.Duration is a number of nanoseconds"},
		{"bytes", refused[struct {
			A []byte `json:"a" jsonschema_description:"d"`
		}](), ".A: bytes are base64"},
		{"array", refused[struct {
			A [3]string `json:"a" jsonschema_description:"d"`
		}](), ".A: fixed-size array"},
		{"channel", refused[struct {
			A chan int `json:"a" jsonschema_description:"d"`
		}](), ".A: no JSON Schema for chan int"},
		{"complex", refused[struct {
			A []complex128 `json:"a" jsonschema_description:"d"`
		}](), ".A[]: no JSON Schema for complex128"},
		{"pointer to a pointer", refused[struct {
			A **int `json:"a" jsonschema_description:"d"`
		}](), ".A: pointer to a pointer"},
		{"decodes itself", refused[struct {
			A textual `json:"a" jsonschema_description:"d"`
		}](), ".A: schema_test.textual decodes itself"},
		{"decodes its JSON itself", refused[struct {
			A []*selfMade `json:"a" jsonschema_description:"d"`
		}](), ".A[]: schema_test.selfMade decodes itself"},
		{"schema of its own", refused[struct {
			A ownSchema `json:"a" jsonschema_description:"d"`
		}](), ".A: schema_test.ownSchema makes its own schema"},
		{"no json name", refused[struct {
			A string `jsonschema_description:"d"`
		}](), ".A: no json name"},
		{"only json options", refused[struct {
			A string `json:",omitempty" jsonschema_description:"d"`
		}](), ".A: no json name"},
		{"json name -", refused[struct {
			A string `json:"-," jsonschema_description:"d"` //nolint:staticcheck // the wrong tag is what is tested
		}](), `json name "-" does not match`},
		{"camel case", refused[struct {
			A string `json:"filePath" jsonschema_description:"d"`
		}](), `json name "filePath" does not match`},
		{"json string option", refused[struct {
			A int `json:"a,string" jsonschema:"minimum=0,maximum=1" jsonschema_description:"d"`
		}](), `json option "string"`},
		{"no description", refused[struct {
			A string `json:"a"`
		}](), ".A: no description"},
		{"embedded pointer", refused[struct{ *Page }](), ".Page: embedded pointer"},
		{"embedded unexported", refused[struct{ edit }](), ".edit: embedded unexported struct"},
		{"embedded integer", refused[struct{ Number }](), ".Number: embedded schema_test.Number without a json name"},
		{"name taken", refused[struct {
			Page
			L string `json:"limit" jsonschema_description:"d"`
		}](), `.L: name "limit" is taken by .Page.Limit`},
		{"alias taken", refused[struct {
			A string `json:"a" jsonschema_description:"d"`
			B string `json:"b" alias:"a" jsonschema_description:"d"`
		}](), `.B: name "a" is taken by .A`},
		{"alias with a space", refused[struct {
			A string `json:"a" alias:"b, c" jsonschema_description:"d"`
		}](), `alias " c" does not match`},
		{"path kind", refused[struct {
			A string `json:"a" path:"dir" jsonschema_description:"d"`
		}](), `path tag "dir" is not one of file, directory, any`},
		{"path on an integer", refused[struct {
			A bool `json:"a" path:"any" jsonschema_description:"d"`
		}](), ".A: path tag on bool"},
		{"integer without bounds", refused[struct {
			A []number `json:"a" jsonschema_description:"d"`
		}](), ".A: an integer needs minimum and maximum"},
		{"integer bounds swapped", refused[struct {
			A int `json:"a" jsonschema:"minimum=5,maximum=4" jsonschema_description:"d"`
		}](), ".A: minimum 5 is above maximum 4"},
		{"integer bounds too wide", refused[struct {
			A int8 `json:"a" jsonschema:"minimum=0,maximum=128" jsonschema_description:"d"`
		}](), ".A: bounds 0 to 128 do not fit into int8"},
		{"unsigned below zero", refused[struct {
			A uint64 `json:"a" jsonschema:"minimum=-1,maximum=1" jsonschema_description:"d"`
		}](), ".A: bounds -1 to 1 do not fit into uint64"},
		{"unknown keyword", refused[struct {
			A string `json:"a" jsonschema:"minLenght=1" jsonschema_description:"d"`
		}](), `.A: jsonschema keyword "minLenght" has no effect on string`},
		{"keyword of another type", refused[struct {
			A bool `json:"a" jsonschema:"enum=true" jsonschema_description:"d"`
		}](), `keyword "enum" has no effect on bool`},
		{"description in the tag", refused[struct {
			A string `json:"a" jsonschema:"description=the mode, with comma"`
		}](), "description in the jsonschema tag is cut at a comma"},
		{"required in the tag", refused[struct {
			A string `json:"a,omitempty" jsonschema:"required" jsonschema_description:"d"`
		}](), `jsonschema tag "required" is not keyword=value`},
		{"nullable", refused[struct {
			A string `json:"a,omitempty" jsonschema:"nullable" jsonschema_description:"d"`
		}](), `jsonschema tag "nullable" is not keyword=value`},
		{"hidden from the schema", refused[struct {
			A string `json:"a" jsonschema:"-" jsonschema_description:"d"`
		}](), `jsonschema tag "-" is not keyword=value`},
		{"oneof_required", refused[struct {
			A string `json:"a" jsonschema:"oneof_required=x" jsonschema_description:"d"`
		}](), `keyword "oneof_required" has no effect`},
		{"extras", refused[struct {
			A string `json:"a" jsonschema_extras:"x=y" jsonschema_description:"d"`
		}](), "jsonschema_extras is not portable"},
		{"default of a required field", refused[struct {
			A string `json:"a" jsonschema:"default=x" jsonschema_description:"d"`
		}](), ".A: a default needs omitempty"},
		{"default out of the enum", refused[struct {
			A string `json:"a,omitempty" jsonschema:"enum=x,default=y" jsonschema_description:"d"`
		}](), `/properties/a/default: "y" is not in the enum`},
		{"default of another type", refused[struct {
			A bool `json:"a,omitempty" jsonschema:"default=yes" jsonschema_description:"d"`
		}](), `jsonschema tag "default=yes": not a value of bool`},
		{"empty default", refused[struct {
			A string `json:"a,omitempty" jsonschema:"default=" jsonschema_description:"d"`
		}](), `jsonschema tag "default=" has no value`},
		{"number that is none", refused[struct {
			A float64 `json:"a" jsonschema:"minimum=0x1" jsonschema_description:"d"`
		}](), `jsonschema tag "minimum=0x1": not a value of float64`},
		{"length that is none", refused[struct {
			A string `json:"a" jsonschema:"maxLength=-1" jsonschema_description:"d"`
		}](), `jsonschema tag "maxLength=-1"`},
		{"pattern that does not compile", refused[struct {
			A string `json:"a" jsonschema:"pattern=[" jsonschema_description:"d"`
		}](), `jsonschema tag "pattern=["`},
		{"items value with =", refused[struct {
			A []string `json:"a" jsonschema:"enum=a=b" jsonschema_description:"d"`
		}](), `jsonschema tag "enum=a=b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.make()
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func TestForNamesEveryField(t *testing.T) {
	err := refused[struct {
		A any    `json:"a" jsonschema_description:"d"`
		B string `json:"b"`
		C []struct {
			D int `json:"d" jsonschema_description:"d"`
		} `json:"c" jsonschema_description:"d"`
	}]()()
	for _, want := range []string{".A: ", ".B: ", ".C[].D: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

func TestCompileProvesDefaults(t *testing.T) {
	typ := mustFor[struct {
		A int `json:"a,omitempty" jsonschema:"minimum=1,maximum=9,default=10" jsonschema_description:"d"`
	}](t)
	if err := typ.Compile(); err == nil || !strings.Contains(err.Error(), "/a: default: 10 is more than the maximum 9") {
		t.Fatal(err)
	}
	var dst json.RawMessage
	if _, err := typ.Decode(nil, &dst, schema.Options{}); err == nil {
		t.Fatal("decoded with a schema that does not compile")
	}
}
