package jsondoc_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/internal/jsondoc"
)

// What is JSON is written as it was; what is not has the place of the error.
func TestParse(t *testing.T) {
	for _, text := range []string{
		`{"b":12345678901234567890,"a":[1e400,0.10,-0,1E+2],"s":"\u00e9\/\ud83d\ude00","b":null}`, `[]`, `{}`, `true`, `"x"`, `[[],{}]`, `"\ud800"`,
	} {
		doc, err := jsondoc.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := doc.Root.Format(jsondoc.Style{}); got != text {
			t.Errorf("got %s, want %s", got, text)
		}
	}
	for text, want := range map[string]string{
		"":                               "1:1: unexpected end",
		"{\n  \"a\": 01}":                "2:9: unexpected '1': \"a\": 01}",
		"[1,]":                           "1:4: unexpected ']': [1,]",
		"{a:1}":                          "1:2: unexpected 'a'",
		"\"a\tb\"":                       `1:3: control character '\t' in a string`,
		`"\x"`:                           "1:2: invalid escape",
		`"abc`:                           "1:1: string without an end",
		"1 2":                            "1:3: unexpected '2'",
		"[é]":                            "1:2: unexpected 'é'",
		"\"\xff\"":                       "1:2: not valid UTF-8",
		strings.Repeat("[", 100_000):     "nested more than 1000 levels deep",
		strings.Repeat(`{"a":`, 100_000): "nested more than 1000 levels deep",
		"{\"é\": 1, \"é\": tru}":         "1:15: unexpected 't'",
	} {
		if _, err := jsondoc.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

// JSONTestSuite says of each file whether a parser must take it (y_), must refuse it (n_) or
// may do either (i_).
func TestJSONTestSuite(t *testing.T) {
	dir := os.Getenv("JSON_TEST_SUITE")
	if dir == "" {
		t.Skip("needs: JSON_TEST_SUITE: a checkout of JSONTestSuite")
	}
	files, err := filepath.Glob(filepath.Join(dir, "test_parsing", "*.json"))
	if err != nil || len(files) < 300 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	must := map[byte]int{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind := filepath.Base(file)[0]
		doc, err := jsondoc.Parse(string(data))
		if kind == 'y' && err != nil || kind == 'n' && err == nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
		} else {
			must[kind]++
		}
		if err == nil && !json.Valid(data) && kind != 'i' {
			t.Errorf("%s: encoding/json refuses it", filepath.Base(file))
		}
		if err == nil {
			doc.Root.Format(jsondoc.Style{Indent: " ", Sorted: true})
		}
		if _, err := jsondoc.Repair(string(data)); err != nil && kind == 'y' {
			t.Errorf("%s: %v", filepath.Base(file), err)
		}
	}
	t.Logf("JSONTestSuite: %d y_ and %d n_ right, %d i_", must['y'], must['n'], must['i'])
}

func TestRepair(t *testing.T) {
	for _, c := range []struct{ text, want, notes string }{
		{"{'a': 1, b: True, c: None,}", `{"a":1,"b":true,"c":null}`, "1:2 string in '…'; 1:10 key b without quotes; 1:13 True read as true; 1:19 key c without quotes; 1:22 None read as null; 1:27 comma before the end left out"},
		{"```json\n{\"a\": 1}\n```", `{"a":1}`, "1:1 code fence left out"},
		{"Here it is:\n```json\n{\"a\": 1}\n```\nHope it helps", `{"a":1}`, "2:1 code fence left out"},
		{`Sure: {"a": 1} done`, `{"a":1}`, "1:1 text before the document left out; 1:16 text after the document left out"},
		{`{"a": 1 "b": 2}`, `{"a":1,"b":2}`, "1:9 missing comma"},
		{`[1 2 3]`, `[1,2,3]`, "1:4 missing comma; 1:6 missing comma"},
		{"[\"a\"\n\"b\"]", `["a","b"]`, "2:1 missing comma"},
		{`[1,2,,3`, `[1,2,3]`, "1:6 comma left out; 1:8 missing ']' at the end"},
		{`{"a": "he said "hi" to me", "b": 2}`, `{"a":"he said \"hi\" to me","b":2}`, "1:16 quote in a string kept; 1:19 quote in a string kept"},
		{"{\"a\":1}\n{\"b\":2}\n", `[{"a":1},{"b":2}]`, "1:1 2 documents read as an array"},
		{`{"p": "C:\dir\new"}`, `{"p":"C:\\dir\\new"}`, "1:7 backslashes of a Windows path kept"},
		{`{"p": "\d+\n"}`, `{"p":"\\d+\n"}`, "1:8 backslash that is no escape kept"},
		{`{a: .5, b: +1, c: 0xFF, d: NaN, e: 5., f: 007, g: 1_000, h: -Infinity}`, `{"a":0.5,"b":1,"c":255,"d":null,"e":5,"f":7,"g":1000,"h":null}`, "…"},
		{`[-NaN, +NaN, -nan, +inf]`, `[null,null,null,null]`, "1:2 -NaN read as null; 1:8 +NaN read as null; 1:14 -nan read as null; 1:20 +inf read as null"},
		{"{\"a\": \"foo,\n \"b\": 1}", `{"a":"foo","b":1}`, "1:7 string without an end"},
		{"{“a”: “b”}", `{"a":"b"}`, "1:2 string in “…”; 1:7 string in “…”"},
		{"// c\n{\"a\": /* x */ 1} # end", `{"a":1}`, "1:1 comment left out; 2:7 comment left out; 2:18 comment left out"},
		{`{"a": [1, 2}`, `{"a":[1,2]}`, "1:12 missing ']'"},
		{`[1, 2}`, `[1,2]`, `1:6 '}' read as ']'`},
		{`{"a":1}}`, `{"a":1}`, "1:8 '}' after the document left out"},
		{`{"a": 2024-01-01, "b": http://x.y/z}`, `{"a":"2024-01-01","b":"http://x.y/z"}`, "…"},
		{"{\"a\": \"line1\nline2\"}", `{"a":"line1\nline2"}`, `1:13 control character '\n' in a string kept`},
		{`{"a":`, `{"a":null}`, `1:6 missing value of "a" read as null; 1:6 missing '}' at the end`},
		{`{"a": {"b": "c`, `{"a":{"b":"c"}}`, "1:13 string without an end; 1:15 missing '}' at the end"},
		{`{"a" => 1; 'b' = 2}`, `{"a":1,"b":2}`, "…"},
		{`{'it\'s': 'don\'t'}`, `{"it's":"don't"}`, "…"},
		{"\ufeff{}", `{}`, "1:1 byte order mark left out"},
		{`True`, `true`, "1:1 True read as true"},
		{`{"a":1,"a":2}`, `{"a":1,"a":2}`, `1:8 duplicate key "a", first at 1:2`},
		{"The list is empty: [].", `[]`, "1:1 text before the document left out; 1:22 text after the document left out"},
		{"<json>{a: 1}</json>", `{"a":1}`, "…"},
		{"'a\\\nb'", `"ab"`, "1:1 string in '…'"},
	} {
		doc, err := jsondoc.Repair(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		got := doc.Root.Format(jsondoc.Style{})
		var said []string
		for _, n := range append(doc.Repairs, doc.Twice...) {
			line, column := doc.Position(n.At)
			said = append(said, fmt.Sprintf("%d:%d %s", line, column, n.Say))
		}
		if got != c.want || !json.Valid([]byte(got)) || c.notes != "…" && strings.Join(said, "; ") != c.notes {
			t.Errorf("%q\n got %s: %s\nwant %s: %s", c.text, got, strings.Join(said, "; "), c.want, c.notes)
		}
	}
	for text, want := range map[string]string{
		"": "1:1: unexpected end", "hello": "1:1: no JSON in this text: hello", "]": "1:1: unexpected ']'", "12:30": "1:1: no JSON in this text", "\xff{}": "unexpected",
		"<!DOCTYPE html>\n<html><script>var a = {};</script></html>": "1:1: HTML or XML, no JSON",
		"\n<HTML><p>{\"a\": 1}":               "2:1: HTML or XML, no JSON",
		`<?xml version="1.0"?><a b="{}"/>`:    "1:1: HTML or XML, no JSON",
		"<div>{}</div>":                       "1:1: no JSON in this text",
		"see [the docs](http://x.y) for more": "1:1: no JSON in this text",
		"body { color: red; }":                "1:1: no JSON in this text",
		"use {} or {name} here":               "1:1: no JSON in this text",
		strings.Repeat("{a:", 2000):           "nested more than 1000 levels deep",
	} {
		if _, err := jsondoc.Repair(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

// Texts that would be looked at again and again end soon.
func TestRepairBounds(t *testing.T) {
	const size = 1 << 18
	for name, text := range map[string]string{
		"quotes": "[" + strings.Repeat("\"a\n", size/3), "words": "[" + strings.Repeat("1 ", size/2), "keys": "{" + strings.Repeat(`"a":1,`, size/6), "commas": strings.Repeat(",", size), "spaces": "[" + strings.Repeat("\" ", size/2),
		"brackets": strings.Repeat("]", size), "fences": strings.Repeat("```\n", size/4), "comments": "[" + strings.Repeat("/*", size/2), "backslashes": "'" + strings.Repeat(`\`, size), "documents": strings.Repeat("{}", size/2),
	} {
		begin := time.Now()
		_, err := jsondoc.Repair(text)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: %s, %v", name, took, err)
		}
	}
}

func TestDiff(t *testing.T) {
	a, b := parse(t, `{"a":[1,2,3,{"x":1}],"b":1.0,"c":"x","k":{"y":1,"z":2}}`), parse(t, `{"k":{"z":2,"y":1},"b":1,"a":[0,1,3,{"x":2},5],"d":null}`)
	var got []string
	for _, d := range jsondoc.Diff(a, b, 1000) {
		line := d.Pointer
		if d.Old != nil {
			line += " -" + d.Old.Raw
		}
		if d.New != nil {
			line += " +" + d.New.Raw
		}
		got = append(got, line)
	}
	want := []string{"/a/0 +0", "/a/1 -2", "/a/3/x -1 +2", "/a/4 +5", `/c -"x"`, "/d +null"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, same := range [][2]string{{`1e2`, `100`}, {`"\u0061"`, `"a"`}, {`{"a":1,"a":2}`, `{"a":2}`}, {`1e999999999`, `1e999999999`}, {`[]`, `[ ]`}} {
		if found := jsondoc.Diff(parse(t, same[0]), parse(t, same[1]), 1000); len(found) > 0 {
			t.Errorf("%v: %d differences", same, len(found))
		}
	}
}

func parse(t *testing.T, text string) *jsondoc.Node {
	t.Helper()
	doc, err := jsondoc.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Root
}

// What was repaired is JSON, and what is JSON stays as it is.
func FuzzRepair(f *testing.F) {
	for _, seed := range []string{`{"a": [1, 2}`, "{'a': True, b: .5,}", "```json\n[1 2]\n```", "{\"a\": \"x\n \"b\": 1}", `"\ud800\u0000"`, "[“a”, 0x1F, 2024-01-01; 'it\\'s']", "{}{}", `{"a":`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := jsondoc.Repair(text)
		if strict, no := jsondoc.Parse(text); no == nil {
			if err != nil || len(doc.Repairs) > 0 || !jsondoc.Equal(strict.Root, doc.Root) || !json.Valid([]byte(text)) {
				t.Fatalf("%q: is JSON, but %v %v", text, err, doc)
			}
		}
		if err != nil {
			return
		}
		out := doc.Root.Format(jsondoc.Style{Indent: "  "})
		again, err := jsondoc.Parse(out)
		if err != nil || !jsondoc.Equal(again.Root, doc.Root) {
			t.Fatalf("%q became %q: %v", text, out, err)
		}
	})
}
