package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/schema"
)

type callIn struct {
	Pattern string        `json:"pattern" jsonschema:"minLength=1,maxLength=20" jsonschema_description:"d"`
	Path    string        `json:"path,omitempty" path:"any" alias:"file_path,filePath" jsonschema_description:"d"`
	Paths   []string      `json:"paths,omitempty" path:"file" jsonschema:"maxItems=3" jsonschema_description:"d"`
	Mode    string        `json:"mode,omitempty" jsonschema:"enum=content,enum=files,enum=count,default=content" jsonschema_description:"d"`
	Text    string        `json:"text,omitempty" jsonschema_description:"d"`
	Wait    string        `json:"wait,omitempty" unit:"s,ms" alias:"-w,patience" jsonschema_description:"d"`
	Limit   int           `json:"limit,omitempty" jsonschema:"minimum=1,maximum=2000,default=100" jsonschema_description:"d"`
	Big     int64         `json:"big,omitempty" jsonschema:"minimum=-9223372036854775808,maximum=9223372036854775807" jsonschema_description:"d"`
	Ratio   float64       `json:"ratio,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,multipleOf=0.25" jsonschema_description:"d"`
	Fixed   *bool         `json:"fixed,omitempty" jsonschema_description:"d"`
	Sizes   []int         `json:"sizes,omitempty" jsonschema:"minimum=0,maximum=9,uniqueItems=true" jsonschema_description:"d"`
	Edits   []callEdit    `json:"edits,omitempty" jsonschema:"minItems=1" jsonschema_description:"d"`
	Extra   schema.Object `json:"extra,omitempty" jsonschema_description:"d"`
	Day     string        `json:"day,omitempty" jsonschema:"format=date" jsonschema_description:"d"`
	Word    string        `json:"word,omitempty" jsonschema:"pattern=^[a-z]+$" jsonschema_description:"d"`
}

type callEdit struct {
	File  string `json:"file" path:"file" alias:"path" jsonschema_description:"d"`
	Count int    `json:"count,omitempty" jsonschema:"minimum=1,maximum=9,default=1" jsonschema_description:"d"`
}

// rest is what the defaults add to every call.
const rest = `"limit":100,"mode":"content"`

func decode(t *testing.T, raw string, opt schema.Options) (schema.Args, error) {
	t.Helper()
	var canonical json.RawMessage
	args, err := mustFor[callIn](t).Decode(json.RawMessage(raw), &canonical, opt)
	if err == nil && string(canonical) != string(args.Canonical) {
		t.Errorf("dst %s, Canonical %s", canonical, args.Canonical)
	}
	return args, err
}

func TestDecodeMends(t *testing.T) {
	for _, tt := range []struct{ name, raw, want, mends string }{
		{"nothing to mend", `{"pattern":"x"}`, `{` + rest + `,"pattern":"x"}`, ""},
		{"keys sorted, compact", `{ "pattern" : "x", "mode":"files","limit" :5 }`, `{"limit":5,"mode":"files","pattern":"x"}`, ""},
		{"number as string", `{"pattern":"x","limit":" 20 "}`, `{"limit":20,"mode":"content","pattern":"x"}`, `/limit: " 20 " read as a number`},
		{"integer as string of a float", `{"pattern":"x","limit":"2e1"}`, `{"limit":20,"mode":"content","pattern":"x"}`, `/limit: "2e1" read as a number`},
		{"float as string", `{"pattern":"x","ratio":"0.50"}`, `{` + rest + `,"pattern":"x","ratio":0.50}`, `/ratio: "0.50" read as a number`},
		{"boolean as string", `{"pattern":"x","fixed":"True"}`, `{"fixed":true,` + rest + `,"pattern":"x"}`, `/fixed: "True" read as a boolean`},
		{"boolean false as string", `{"pattern":"x","fixed":"false"}`, `{"fixed":false,` + rest + `,"pattern":"x"}`, `/fixed: "false" read as a boolean`},
		{"integral float", `{"pattern":"x","limit":3.0}`, `{"limit":3,"mode":"content","pattern":"x"}`, `/limit: 3.0 read as the integer 3`},
		{"integral exponent", `{"pattern":"x","limit":1e3}`, `{"limit":1000,"mode":"content","pattern":"x"}`, `/limit: 1e3 read as the integer 1000`},
		{"minus zero", `{"pattern":"x","sizes":[-0]}`, `{` + rest + `,"pattern":"x","sizes":[0]}`, `/sizes/0: -0 read as the integer 0`},
		{"array as string", `{"pattern":"x","sizes":"[1, 2]"}`, `{` + rest + `,"pattern":"x","sizes":[1,2]}`, `/sizes: string of JSON read as an array`},
		{"array of strings as string", `{"pattern":"x","paths":"['a',\"b\",]"}`, `{` + rest + `,"paths":["a","b"],"pattern":"x"}`, `/paths: string of JSON read as an array`},
		{"array of objects as string", `{"pattern":"x","edits":"[{\"file\":\"a\",\"count\":\"2\"}]"}`, `{"edits":[{"count":2,"file":"a"}],` + rest + `,"pattern":"x"}`,
			"/edits: string of JSON read as an array\n/edits/0/count: \"2\" read as a number"},
		{"raw line break in a string of JSON", `{"pattern":"x","edits":"[{\"file\":\"a\nb\"}]"}`, `{"edits":[{"count":1,"file":"a\nb"}],` + rest + `,"pattern":"x"}`, "/edits: string of JSON read as an array"},
		{"object as string", `{"pattern":"x","extra":"{a: 1.50}"}`, `{"extra":{"a":1.50},` + rest + `,"pattern":"x"}`, `/extra: string of JSON read as an object`},
		{"bare string for an array", `{"pattern":"x","paths":"a.go"}`, `{` + rest + `,"paths":["a.go"],"pattern":"x"}`, `/paths: "a.go" read as an array of one`},
		{"a glob that looks like an array", `{"pattern":"x","paths":"[12]"}`, `{` + rest + `,"paths":["[12]"],"pattern":"x"}`, `/paths: "[12]" read as an array of one`},
		{"bare number for an array", `{"pattern":"x","sizes":7}`, `{` + rest + `,"pattern":"x","sizes":[7]}`, `/sizes: 7 read as an array of one`},
		{"bare number as string for an array", `{"pattern":"x","sizes":"7"}`, `{` + rest + `,"pattern":"x","sizes":[7]}`, "/sizes: \"7\" read as an array of one\n/sizes/0: \"7\" read as a number"},
		{"null for an absent optional", `{"pattern":"x","limit":null,"text":null}`, `{` + rest + `,"pattern":"x"}`, "/text: null read as absent\n/limit: null read as absent"},
		{"empty string where the enum has none", `{"pattern":"x","mode":""}`, `{` + rest + `,"pattern":"x"}`, `/mode: "" read as absent`},
		{"empty string for a path", `{"pattern":"x","path":""}`, `{` + rest + `,"pattern":"x"}`, `/path: "" read as absent`},
		{"empty string for other types", `{"pattern":"x","limit":"","fixed":"","paths":"","extra":""}`, `{` + rest + `,"pattern":"x"}`,
			"/paths: \"\" read as absent\n/limit: \"\" read as absent\n/fixed: \"\" read as absent\n/extra: \"\" read as absent"},
		{"empty string where it is valid", `{"pattern":"x","text":""}`, `{` + rest + `,"pattern":"x","text":""}`, ""},
		{"alias", `{"pattern":"x","file_path":"a"}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/file_path: read as path`},
		{"alias next to null", `{"pattern":"x","filePath":"a","path":null}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/filePath: read as path`},
		{"another spelling", `{"pattern":"x","Path":"a"}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/Path: read as path`},
		{"a flag", `{"pattern":"x","-w":"5s"}`, `{` + rest + `,"pattern":"x","wait":"5s"}`, `/-w: read as wait`},
		{"a flag without its dash", `{"pattern":"x","w":"5s"}`, `{` + rest + `,"pattern":"x","wait":"5s"}`, `/w: read as wait`},
		{"an alias in another spelling", `{"pattern":"x","FilePath":"a"}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/FilePath: read as path`},
		{"both names, one value", `{"pattern":"x","path":"a","file_path":"a"}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/file_path: says the same as path`},
		{"remarks", `{"pattern":"x","description":"d","toolSummary":"s","edits":[{"file":"a","reason":"r"}]}`, `{"edits":[{"count":1,"file":"a"}],` + rest + `,"pattern":"x"}`, ""},
		{"seconds", `{"pattern":"x","wait":999}`, `{` + rest + `,"pattern":"x","wait":"999s"}`, `/wait: 999 read as 999s`},
		{"milliseconds", `{"pattern":"x","wait":1e3}`, `{` + rest + `,"pattern":"x","wait":"1000ms"}`, `/wait: 1000 read as 1000ms`},
		{"seconds as text", `{"pattern":"x","wait":" 1.5 "}`, `{` + rest + `,"pattern":"x","wait":"1.5s"}`, `/wait: 1.5 read as 1.5s`},
		{"the unit in the name", `{"pattern":"x","waitMs":5}`, `{` + rest + `,"pattern":"x","wait":"5ms"}`, `/waitMs: read as wait`},
		{"the unit in the name of an alias", `{"pattern":"x","patience_seconds":"5000"}`, `{` + rest + `,"pattern":"x","wait":"5000s"}`, `/patience_seconds: read as wait`},
		{"an array of one path", `{"pattern":"x","path":["a"]}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/path: an array of one read as "a"`},
		{"number for a text", `{"pattern":4.0}`, `{` + rest + `,"pattern":"4.0"}`, `/pattern: 4.0 read as text`},
		{"an enum in another case", `{"pattern":"x","mode":"Files"}`, `{"limit":100,"mode":"files","pattern":"x"}`, `/mode: "Files" read as "files"`},
		{"null alias", `{"pattern":"x","filePath":null,"path":"a"}`, `{` + rest + `,"path":"a","pattern":"x"}`, `/filePath: null read as absent`},
		{"nested alias", `{"pattern":"x","edits":[{"path":"a"}]}`, `{"edits":[{"count":1,"file":"a"}],` + rest + `,"pattern":"x"}`, `/edits/0/path: read as file`},
		{"JSON5", "{pattern: 'it\\'s', // the one\n limit: 0x10, ratio: +.5,}", `{"limit":16,"mode":"content","pattern":"it's","ratio":0.5}`, `arguments: JSON5 read as JSON`},
		{"string of JSON", `"{\"pattern\":\"x\"}"`, `{` + rest + `,"pattern":"x"}`, `arguments: string of JSON read as an object`},
		{"string of JSON5", `"{pattern:'x'}"`, `{` + rest + `,"pattern":"x"}`, "arguments: string of JSON read as an object\narguments: JSON5 read as JSON"},
		{"exact integers", `{"pattern":"x","big":9223372036854775807}`, `{"big":9223372036854775807,` + rest + `,"pattern":"x"}`, ""},
		{"exact integers of JSON5", `{pattern:"x","big":-9223372036854775808}`, `{"big":-9223372036854775808,` + rest + `,"pattern":"x"}`, "arguments: JSON5 read as JSON"},
		{"free-form JSON is left alone", `{"pattern":"x","extra":{"n":12345678901234567890.0,"a":"1","b":null,"c":""}}`,
			`{"extra":{"a":"1","b":null,"c":"","n":12345678901234567890.0},` + rest + `,"pattern":"x"}`, ""},
		{"valid strings are left alone", `{"pattern":"[1]","text":"true"}`, `{` + rest + `,"pattern":"[1]","text":"true"}`, ""},
		{"NUL characters", `{"pattern":"a\u0000b"}`, `{` + rest + `,"pattern":"a\u0000b"}`, ""},
		{"surrogate pair", `{"pattern":"\ud83d\ude00<&>"}`, `{` + rest + `,"pattern":"😀<&>"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args, err := decode(t, tt.raw, schema.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(args.Canonical)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.mends, strings.Join(args.Mends, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	const allowed = "pattern, path, paths, mode, text, wait, limit, big, ratio, fixed, sizes, edits, extra, day, word"
	for _, tt := range []struct{ name, raw, want string }{
		{"missing", `{}`, "/pattern: required, missing"},
		{"required null", `{"pattern":null}`, "/pattern: null is not a string"},
		{"required empty", `{"pattern":""}`, "/pattern: must not be empty, at least 1 character"},
		{"too much", `{"pattern":"x","limit":5000}`, "/limit: 5000 is more than the maximum 2000"},
		{"too little", `{"pattern":"x","limit":0}`, "/limit: 0 is less than the minimum 1"},
		{"over int64", `{"pattern":"x","big":9223372036854775808}`, "/big: 9223372036854775808 is more than the maximum 9223372036854775807"},
		{"enum", `{"pattern":"x","mode":"contents"}`, `/mode: "contents" is not one of content, files, count; did you mean "content"`},
		{"enum without a near one", `{"pattern":"x","mode":"zzz"}`, `/mode: "zzz" is not one of content, files, count`},
		{"boolean for a string", `{"pattern":true}`, "/pattern: true is not a string"},
		{"array for a string", `{"pattern":["x"]}`, "/pattern: an array is not a string"},
		{"several paths for one", `{"pattern":"x","path":["a","b"]}`, "/path: an array is not a string; give one, and call once for each"},
		{"no path for one", `{"pattern":"x","path":[]}`, "/path: an array is not a string; give one, and call once for each"},
		{"a unit that is not of the argument", `{"pattern":"x","limit_ms":5}`, `/limit_ms: unknown argument; did you mean "limit"; allowed: ` + allowed},
		{"a flag in another case", `{"pattern":"x","-W":5}`, "/-W: unknown argument; allowed: " + allowed},
		{"near another name", `{"pattern":"x","file_paht":"a"}`, `/file_paht: unknown argument; did you mean "path"; allowed: ` + allowed},
		{"a required one misspelled", `{"patern":"x"}`, `/patern: unknown argument; did you mean "pattern"; allowed: ` + allowed + "; /pattern: required, missing"},
		{"word for a number", `{"pattern":"x","limit":"many"}`, `/limit: "many" is not an integer`},
		{"fraction for an integer", `{"pattern":"x","limit":2.5}`, "/limit: 2.5 is not an integer"},
		{"fraction as string", `{"pattern":"x","limit":"2.5"}`, `/limit: "2.5" is not an integer`},
		{"hex as string", `{"pattern":"x","limit":"0x10"}`, `/limit: "0x10" is not an integer`},
		{"number for a boolean", `{"pattern":"x","fixed":1}`, "/fixed: 1 is not a boolean"},
		{"yes for a boolean", `{"pattern":"x","fixed":"yes"}`, `/fixed: "yes" is not a boolean`},
		{"object for an array", `{"pattern":"x","sizes":{}}`, "/sizes: an object is not an array"},
		{"scalar for an array of objects", `{"pattern":"x","edits":"a"}`, `/edits: "a" is not an array`},
		{"array for an object", `{"pattern":"x","extra":[]}`, "/extra: an array is not an object"},
		{"wrong bare item", `{"pattern":"x","sizes":true}`, "/sizes: true is not an array"},
		{"null item", `{"pattern":"x","paths":[null]}`, "/paths/0: null is not a string"},
		{"too long", `{"pattern":"` + strings.Repeat("x", 21) + `"}`, "/pattern: 21 characters, at most 20 allowed"},
		{"too many items", `{"pattern":"x","paths":["a","b","c","d"]}`, "/paths: 4 items, at most 3 allowed"},
		{"too few items", `{"pattern":"x","edits":[]}`, "/edits: 0 items, at least 1 wanted"},
		{"equal items", `{"pattern":"x","sizes":[1,2,1.0]}`, "/sizes: items 0 and 2 are equal"},
		{"exclusive minimum", `{"pattern":"x","ratio":0}`, "/ratio: 0 must be more than 0"},
		{"exclusive maximum", `{"pattern":"x","ratio":1}`, "/ratio: 1 must be less than 1"},
		{"multiple", `{"pattern":"x","ratio":0.3}`, "/ratio: 0.3 is not a multiple of 0.25"},
		{"pattern", `{"pattern":"x","word":"A"}`, `/word: "A" does not match the pattern ^[a-z]+$`},
		{"format", `{"pattern":"x","day":"2024-13-01"}`, `/day: "2024-13-01" is not a valid date`},
		{"unknown", `{"pattern":"x","paht":"a","zzz":1}`, `/paht: unknown argument; did you mean "path"; allowed: ` + allowed + `; /zzz: unknown argument`},
		{"another spelling, both", `{"pattern":"x","path":"a","Path":"b"}`, "/Path: another name of path, which is given too; give one"},
		{"nested unknown", `{"pattern":"x","edits":[{"file":"a","nr":1}]}`, "/edits/0/nr: unknown argument; allowed: file, count"},
		{"nested missing", `{"pattern":"x","edits":[{}]}`, "/edits/0/file: required, missing"},
		{"both names", `{"pattern":"x","path":"a","file_path":"b"}`, "/file_path: another name of path, which is given too; give one"},
		{"two aliases", `{"pattern":"x","filePath":"a","file_path":"b"}`, "/file_path: another name of path, which is given too; give one"},
		{"several", `{"limit":0,"mode":1}`, `/limit: 0 is less than the minimum 1; /mode: 1 is not a string; /pattern: required, missing`},
		{"pointer of a strange key", `{"pattern":"x","a/b~":1}`, "/a~1b~0: unknown argument; allowed: " + allowed},

		{"array of arguments", `[]`, "arguments are an array, not an object"},
		{"number", `7`, "arguments are 7, not an object"},
		{"string twice", `"\"{}\""`, `arguments are "{}", not an object`},
		{"half an object", `{"pattern":`, "arguments are not JSON: unexpected end at byte 12"},
		{"trailing data", `{"pattern":"x"} {}`, `arguments are not JSON: trailing data: unexpected '{' at byte 17`},
		{"duplicate key", `{"pattern":"x","pattern":"y"}`, `arguments are not JSON: duplicate key "pattern" at byte 16`},
		{"escaped duplicate key", `{"pattern":"x","p\u0061ttern":"y"}`, `arguments are not JSON: duplicate key "pattern" at byte 16`},
		{"duplicate key in free-form JSON", `{"pattern":"x","extra":{"a":1,"a":2}}`, `arguments are not JSON: duplicate key "a" at byte 31`},
		{"invalid UTF-8", "{\"pattern\":\"\xff\"}", "arguments are not JSON: not valid UTF-8"},
		{"lone surrogate", `{"pattern":"\ud83dx"}`, "arguments are not JSON: half of a surrogate pair at byte 13"},
		{"two first surrogates", `{"pattern":"\ud83d\ud83d"}`, "arguments are not JSON: half of a surrogate pair at byte 13"},
		{"swapped surrogates", `{"pattern":"\ude00\ud83d"}`, "arguments are not JSON: half of a surrogate pair at byte 13"},
		{"unescaped backslash", `{"pattern":"\d+"}`, `arguments are not JSON: invalid escape \d (a backslash is written \\) at byte 13`},
		{"short escape", `{"pattern":"\u00`, `arguments are not JSON: invalid escape \u at byte 13`},
		{"signed escape", `{"pattern":"\u+123"}`, `arguments are not JSON: invalid escape \u at byte 13`},
		{"no end of string", `{"pattern":"x`, "arguments are not JSON: string without an end at byte 14"},
		{"no end of comment", `{/* `, "arguments are not JSON: comment without an end at byte 2"},
		{"leading zero", `{"limit":012}`, "arguments are not JSON: number with a leading zero at byte 10"},
		{"NaN", `{"limit":NaN}`, `arguments are not JSON: unexpected 'N' at byte 10`},
		{"no digits", `{"limit":-}`, `arguments are not JSON: unexpected '}' at byte 11`},
		{"no exponent", `{"limit":1e}`, `arguments are not JSON: unexpected '}' at byte 12`},
		{"no hex digits", `{"limit":0x}`, `arguments are not JSON: unexpected '}' at byte 12`},
		{"huge exponent", `{"limit":1e999999999}`, "arguments are not JSON: number out of range at byte 10"},
		{"tiny exponent", `{"limit":1e-999999999}`, "arguments are not JSON: number out of range at byte 10"},
		{"endless exponent", `{"limit":1e99999999999999999999}`, "arguments are not JSON: number out of range at byte 10"},
		{"endless digits", `{"limit":1` + strings.Repeat("0", 500) + `}`, "arguments are not JSON: number out of range at byte 10"},
		{"endless fraction", `{"ratio":0.` + strings.Repeat("5", 500) + `}`, "arguments are not JSON: number out of range at byte 10"},
		{"endless hex digits", `{"limit":0x1` + strings.Repeat("0", 500) + `}`, "arguments are not JSON: number out of range at byte 10"},
		{"deep arrays", `{"extra":{"a":` + strings.Repeat("[", 200_000), "arguments are not JSON: nested more than 64 levels deep at byte 77"},
		{"deep objects", strings.Repeat(`{"a":`, 200_000), "arguments are not JSON: nested more than 64 levels deep at byte 321"},
		{"deep inside a string", `{"pattern":"x","extra":"{\"a\":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}"}`,
			`/extra: "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…" (132 bytes) is not an object`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := decode(t, tt.raw, schema.Options{})
			if _, ok := errors.AsType[*schema.Error](err); !ok {
				t.Fatalf("got %v", err)
			}
			if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecodeWithoutArguments(t *testing.T) {
	typ := mustFor[edit](t)
	for _, raw := range []string{"", " \n", "null", " null ", `""`, `"null"`} {
		_, err := typ.Decode(json.RawMessage(raw), new(edit), schema.Options{})
		if err == nil || err.Error() != "/path: required, missing" {
			t.Errorf("%q: %v", raw, err)
		}
	}
	if _, err := mustFor[Page](t).Decode(nil, new(Page), schema.Options{}); err != nil {
		t.Error(err)
	}
}

func TestDecodeIntoStruct(t *testing.T) {
	raw := `{"pattern":"x","big":"9007199254740993","fixed":"false","edits":[{"file":"a"}],"extra":{"n":9007199254740993}}`
	var in callIn
	if _, err := mustFor[callIn](t).Decode(json.RawMessage(raw), &in, schema.Options{}); err != nil {
		t.Fatal(err)
	}
	want := callIn{
		Pattern: "x", Mode: "content", Limit: 100, Big: 9007199254740993, Fixed: new(bool),
		Edits: []callEdit{{File: "a", Count: 1}}, Extra: schema.Object(`{"n":9007199254740993}`),
	}
	if diff := cmp.Diff(want, in); diff != "" {
		t.Fatal(diff)
	}
}

func TestDecodeCollectsPaths(t *testing.T) {
	args, err := decode(t, `{"pattern":"x","edits":[{"file":"b"},{"path":"c"}],"paths":["d","e"],"path":"a"}`, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []schema.PathArg{
		{Pointer: "/path", Value: "a", Kind: "any"},
		{Pointer: "/paths/0", Value: "d", Kind: "file"},
		{Pointer: "/paths/1", Value: "e", Kind: "file"},
		{Pointer: "/edits/0/file", Value: "b", Kind: "file"},
		{Pointer: "/edits/1/file", Value: "c", Kind: "file"},
	}
	if diff := cmp.Diff(want, args.Paths); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeCapsProblems(t *testing.T) {
	// 50 items that are no integers, of which two are equal
	_, err := decode(t, `{"pattern":"x","sizes":[`+strings.Repeat(`"x",`, 49)+`"x"]}`, schema.Options{})
	e, ok := errors.AsType[*schema.Error](err)
	if !ok || len(e.Problems) != 21 {
		t.Fatalf("got %v", err)
	}
	if diff := cmp.Diff(schema.Problem{Rule: "more", Msg: "and 31 more"}, e.Problems[20]); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeShortensValues(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	_, err := decode(t, `{"pattern":"`+long+`","mode":"`+long+`","`+long+`":1,"limit":"`+long+`"}`, schema.Options{})
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "(1048576 bytes)") {
		t.Fatalf("%.2000s", fmt.Sprint(err))
	}
	args, err := decode(t, `{"pattern":"x","text":"`+long+`"}`, schema.Options{})
	if err != nil || len(args.Canonical) < len(long) {
		t.Fatal(err)
	}
}

func TestDecodeWantsItsType(t *testing.T) {
	typ := mustFor[edit](t)
	for _, dst := range []any{nil, edit{}, new(callIn), new(map[string]any)} {
		_, err := typ.Decode(json.RawMessage(`{"path":"a"}`), dst, schema.Options{})
		if _, ofCall := errors.AsType[*schema.Error](err); err == nil || ofCall {
			t.Errorf("%T: %v", dst, err)
		}
	}
}

func TestDecodeConcurrently(t *testing.T) {
	typ := mustFor[callIn](t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			var in callIn
			args, err := typ.Decode(fmt.Appendf(nil, `{"pattern":"x","limit":"%d","sizes":"[1]"}`, i+1), &in, schema.Options{})
			if err != nil || in.Limit != i+1 || len(args.Mends) != 2 {
				t.Error(i, in.Limit, args.Mends, err)
			}
		})
	}
	wg.Wait()
}

func TestDecodeReadsEmptyAsAbsentWhereItIsTooShort(t *testing.T) {
	typ := mustFor[struct {
		A string `json:"a,omitempty" jsonschema:"minLength=1" jsonschema_description:"d"`
		B string `json:"b,omitempty" jsonschema:"minLength=0" jsonschema_description:"d"`
	}](t)
	var dst json.RawMessage
	args, err := typ.Decode(json.RawMessage(`{"a":"","b":""}`), &dst, schema.Options{})
	if err != nil || string(dst) != `{"b":""}` {
		t.Fatal(string(dst), err)
	}
	if diff := cmp.Diff([]string{`/a: "" read as absent`}, args.Mends); diff != "" {
		t.Fatal(diff)
	}
}
