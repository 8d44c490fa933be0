package schema_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/schema"
)

// FuzzDecode proves that no bytes make Decode panic, and that what it accepts is
// settled: the canonical form decodes again to itself and needs no mend.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"pattern":"x"}`, `{"pattern":"x","limit":"20","fixed":"true","sizes":"[1]","paths":"a"}`,
		`{pattern:'x',/* c */ratio:+.5,big:0x7f,sizes:[1.0,-0],}`, `"{\"pattern\":\"x\"}"`,
		`{"pattern":"\ud83d\ude00\u0000","mode":"","path":"","text":null}`, `{"pattern":"x","file_path":"a"}`,
		`{"pattern":"x","edits":"[{\"path\":\"a\",\"count\":\"3\"}]"}`, `{"pattern":"x","zzz":1,"Path":2}`,
		`{"pattern":"x","extra":"{a:1e3,b:[[null]],'c':\"\"}"}`, "\ufeff{\"pattern\":\"a\\\nb\"}",
		`{"pattern":"x","big":9223372036854775808,"limit":1e400}`, `{"a":{"a":{"a":[[[`, `null`, ``, `{"pattern":"x"}x`,
		`{"pattern":0,"path":[""]}`, `{"pattern":5,"waitMs":"1e3","path":["a"],"mode":"Files","reason":"r"}`, `{"pattern":"x","-w":5000}`,
	} {
		f.Add([]byte(seed))
	}
	typ := mustFor[callIn](f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		var first, second callIn
		args, err := typ.Decode(raw, &first, schema.Options{})
		if err != nil {
			if _, ok := errors.AsType[*schema.Error](err); !ok || err.Error() == "" {
				t.Fatalf("not the caller's fault: %v", err)
			}
			return
		}
		again, err := typ.Decode(args.Canonical, &second, schema.Options{})
		if err != nil {
			t.Fatalf("%s: %v", args.Canonical, err)
		}
		if again.Mends != nil || !bytes.Equal(again.Canonical, args.Canonical) {
			t.Fatalf("%s\n%s\n%v", args.Canonical, again.Canonical, again.Mends)
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(args.Paths, again.Paths); diff != "" {
			t.Fatal(diff)
		}
		if err := uniqueKeys(json.NewDecoder(bytes.NewReader(args.Canonical))); err != nil {
			t.Fatalf("%s: %v", args.Canonical, err)
		}
	})
}

// uniqueKeys reads one value with the standard library's tokens.
func uniqueKeys(dec *json.Decoder) error {
	token, err := dec.Token()
	if err != nil {
		return err
	}
	seen := map[json.Token]bool{}
	if delim, ok := token.(json.Delim); ok {
		for dec.More() {
			if delim == '{' {
				key, err := dec.Token()
				if err != nil {
					return err
				}
				if seen[key] {
					return fmt.Errorf("key %q twice", key)
				}
				seen[key] = true
			}
			if err := uniqueKeys(dec); err != nil {
				return err
			}
		}
		_, err = dec.Token()
	}
	return err
}

// TestValidInputNeverChanges makes valid calls out of values that tempt a mend.
func TestValidInputNeverChanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func(values ...any) any { return values[rng.IntN(len(values))] }
	text := func() any {
		return pick("", "true", "20", "[1]", `["a"]`, "null", "{}", `{"a":1}`, " ", "a,b", "\x00", "'", "3.0", "日本", "\\d")
	}
	path := func() any { return pick("a", "true", "[12]", "{a,b}", " ", "null", "1") }
	someOf := func(value func() any) any {
		list := make([]any, rng.IntN(4))
		for i := range list {
			list[i] = value()
		}
		return list
	}
	optional := map[string]func() any{
		"path":  path,
		"paths": func() any { return someOf(path) },
		"mode":  func() any { return pick("content", "files", "count") },
		"text":  text,
		"wait":  func() any { return pick("", "5s", "20 ms", "soon") },
		"limit": func() any { return 1 + rng.IntN(2000) },
		"big":   func() any { return pick(int64(-1<<63), int64(1<<63-1), rng.Int64()) },
		"ratio": func() any { return pick(json.Number("0.5"), json.Number("2.50e-1"), json.Number("0.750")) },
		"fixed": func() any { return pick(true, false) },
		"sizes": func() any { return pick([]int{}, []int{0}, []int{1, 2, 3}) },
		"edits": func() any { return []any{map[string]any{"file": path(), "count": 1 + rng.IntN(9)}} },
		"extra": func() any { return map[string]any{"limit": "20", "file_path": "", "n": nil, "x": text()} },
		"word":  func() any { return pick("true", "null") },
	}
	typ := mustFor[callIn](t)
	for range 2000 {
		in := map[string]any{"pattern": pick("true", "20", "[1]", "{}", "null", " ", "\x00")}
		for name, value := range optional {
			if rng.IntN(2) == 0 {
				in[name] = value()
			}
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out callIn
		args, err := typ.Decode(raw, &out, schema.Options{})
		if err != nil || args.Mends != nil {
			t.Fatalf("%s: %v %v", raw, args.Mends, err)
		}
		for name, fallback := range map[string]any{"mode": "content", "limit": 100} {
			if _, given := in[name]; !given {
				in[name] = fallback
			}
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(in); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(bytes.TrimSpace(want.Bytes())), string(args.Canonical)); diff != "" {
			t.Fatal(diff)
		}
	}
}
