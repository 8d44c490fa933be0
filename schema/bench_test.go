package schema_test

import (
	"encoding/json"
	"testing"

	"toolcrib/schema"
)

type grepIn struct {
	Pattern string   `json:"pattern" jsonschema:"minLength=1,maxLength=4000" jsonschema_description:"RE2 pattern to look for"`
	Path    string   `json:"path,omitempty" jsonschema:"default=." path:"any" alias:"file_path,filePath" jsonschema_description:"file or directory"`
	Glob    []string `json:"glob,omitempty" jsonschema_description:"only files that match one of these, e.g. *.go"`
	Mode    string   `json:"mode,omitempty" jsonschema:"enum=content,enum=files,enum=count,default=content" jsonschema_description:"what to print"`
	Case    string   `json:"case,omitempty" jsonschema:"enum=smart,enum=sensitive,enum=insensitive,default=smart" jsonschema_description:"how case counts"`
	Fixed   bool     `json:"fixed,omitempty" jsonschema_description:"take the pattern literally"`
	Before  int      `json:"before,omitempty" jsonschema:"minimum=0,maximum=100,default=0" jsonschema_description:"lines before"`
	After   int      `json:"after,omitempty" jsonschema:"minimum=0,maximum=100,default=0" jsonschema_description:"lines after"`
	Limit   int      `json:"limit,omitempty" jsonschema:"minimum=1,maximum=2000,default=100" jsonschema_description:"most matches"`
	Offset  int64    `json:"offset,omitempty" jsonschema:"minimum=0,maximum=9223372036854775807" jsonschema_description:"matches to skip"`
}

func BenchmarkFor(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.For[grepIn](); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		t, err := schema.For[grepIn]()
		if err != nil {
			b.Fatal(err)
		}
		if err := t.Compile(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	typ := mustFor[grepIn](b)
	for _, bc := range []struct{ name, raw string }{
		{"valid", `{"pattern":"func main","path":"cmd","limit":20}`},
		{"mended", `{"pattern":"func main","file_path":"cmd","limit":"20"}`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			raw := json.RawMessage(bc.raw)
			b.ReportAllocs()
			for b.Loop() {
				var in grepIn
				if _, err := typ.Decode(raw, &in, schema.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func mustFor[T any](t testing.TB) *schema.Type {
	t.Helper()
	typ, err := schema.For[T]()
	if err != nil {
		t.Fatal(err)
	}
	return typ
}
