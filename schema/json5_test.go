package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/schema"
)

func freeForm(t *testing.T) *schema.Type {
	t.Helper()
	typ, err := schema.Parse(json.RawMessage(`{"type":"object","properties":{},"additionalProperties":true}`))
	if err != nil {
		t.Fatal(err)
	}
	return typ
}

func TestJSON5(t *testing.T) {
	typ := freeForm(t)
	for _, tt := range []struct {
		name, raw, want string
		strict          bool
	}{
		{"numbers as written", `{"a":[0,-1.50,1E+2,1e-2,12345678901234567890]}`, `{"a":[0,-1.50,1E+2,1e-2,12345678901234567890]}`, true},
		{"escapes of JSON", `{"a":"\"\\\/\b\f\n\r\t\u00e9"}`, `{"a":"\"\\/\u0008\u000c\n\r\té"}`, true},
		{"literals and containers", `{"a":[true,false,null,{},[]],"A":{"":""}}`, `{"A":{"":""},"a":[true,false,null,{},[]]}`, true},
		{"spaces of JSON", "\t{\r\n \"a\" :1 }\n", `{"a":1}`, true},
		{"numbers of JSON5", `{"a":[+1,.5,5.,-.5e1,5.e1,0XfF,-0x10]}`, `{"a":[1,0.5,5,-0.5e1,5e1,255,-16]}`, false},
		{"hex beyond float64's digits", `{"a":0xFFFFFFFFFFFFFFFF}`, `{"a":18446744073709551615}`, false},
		{"keys", `{a:1,$b_2:2,'c':3,d\u00e9:4}`, "", false},
		{"unquoted keys", `{a:1,$b_2:2,'c d':3,été:4}`, `{"$b_2":2,"a":1,"c d":3,"été":4}`, false},
		{"key starting with a digit", `{1a:1}`, "", false},
		{"trailing commas", `{"a":[1,],}`, `{"a":[1]}`, false},
		{"only a comma", `{"a":[,]}`, "", false},
		{"two commas", `{"a":[1,,2]}`, "", false},
		{"missing comma", `{"a":1 "b":2}`, "", false},
		{"missing colon", `{"a" 1}`, "", false},
		{"comments", "// x\n{/* y */\"a\"/**/:/* * */1// z\r\n}// end", `{"a":1}`, false},
		{"half a comment", `{"a":1}/`, "", false},
		{"spaces of JSON5", "\ufeff{\u00a0\"a\"\v:\f1\u2028}\u3000", `{"a":1}`, false},
		{"single quotes", `{'a':'"it\'s"'}`, `{"a":"\"it's\""}`, false},
		{"hex escape", `{"a":"\x41\xe9"}`, `{"a":"Aé"}`, false},
		{"short hex escape", `{"a":"\x4"}`, "", false},
		{"continued lines", "{\"a\":\"\\\nb\\\r\nc\\\rd\"}", `{"a":"bcd"}`, false},
		{"line break in a string", "{\"a\":\"b\n\tc\"}", `{"a":"b\n\tc"}`, false},
		{"backslash at the end", `{"a":"\`, "", false},
		{"words of other languages", `{"a":None}`, "", false},
		{"word that goes on", `{"a":truest}`, "", false},
		{"other separators", `{"a"=1}`, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var dst json.RawMessage
			args, err := typ.Decode(json.RawMessage(tt.raw), &dst, schema.Options{})
			if tt.want == "" {
				if err == nil {
					t.Fatalf("accepted as %s", dst)
				}
				return
			}
			if err != nil || string(dst) != tt.want {
				t.Fatalf("got  %s %v\nwant %s", dst, err, tt.want)
			}
			if strict := args.Mends == nil; strict != tt.strict {
				t.Errorf("mends %q", args.Mends)
			}
		})
	}
}

// The depth limit counts containers at every position.
func TestDepth(t *testing.T) {
	typ := freeForm(t)
	for _, tt := range []struct {
		levels int
		ok     bool
	}{{63, true}, {64, false}} {
		raw := `{"a":` + strings.Repeat("[", tt.levels) + strings.Repeat("]", tt.levels) + `}`
		var dst json.RawMessage
		if _, err := typ.Decode(json.RawMessage(raw), &dst, schema.Options{}); (err == nil) != tt.ok {
			t.Errorf("%d levels inside the arguments: %v", tt.levels, err)
		}
	}
}
