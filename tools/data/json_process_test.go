package data_test

import (
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools/data"
	"toolcrib/tools/internal/tooltest"
)

// The indents and paths of a deep document with many values are far longer than it is.
func TestDeepJSON(t *testing.T) {
	tooltest.Unraced(t)
	deep := func(item string) *string {
		return new(strings.Repeat(`{"key":[`, 400) + strings.Repeat(item+",", 100_000) + "0" + strings.Repeat("]}", 400))
	}
	many := func() string { // keys
		var b strings.Builder
		for i := range 100_000 {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		return strings.Repeat(`{"key":`, 400) + "{" + b.String() + `"k":0` + strings.Repeat("}", 401)
	}
	call := caller[data.JSONProcessIn](t, "json_process", nil)
	for _, in := range []data.JSONProcessIn{
		{Operation: "format", Text: deep("1")},
		{Operation: "parse", Text: deep("1")},
		{Operation: "query", Filter: ".", Indent: new(8), Text: deep("1")},
		{Operation: "keys", Text: new(many())},
		{Operation: "diff", Text: deep("1"), Other: deep("2")},
	} {
		if got := call(in); !strings.HasPrefix(got, "too_large: the result has more than 84 MB") {
			t.Errorf("%s: %.200s", in.Operation, got)
		}
	}
	if got := call(data.JSONProcessIn{Operation: "format", Indent: new(0), Text: deep("1")}); !strings.HasPrefix(got, `{"key":[`) {
		t.Errorf("without indents: %.200s", got)
	}
}

// One step of each filter takes any time or memory, and cannot be interrupted.
func TestJQBombs(t *testing.T) {
	tooltest.Unraced(t)
	call := caller[data.JSONProcessIn](t, "json_process", nil)
	for _, filter := range []string{
		"reduce range(60) as $i (1; [., .])",
		"reduce range(60) as $i (1; [., .]) | tojson",
		`"x" * 30000000 | gsub("x"; "yyyyyyyy") | length`,
		"9999999999999999999999 | reduce range(25) as $i (.; . * .) | tostring | length",
	} {
		if got := call(data.JSONProcessIn{Operation: "query", Text: new("1"), Filter: filter}); !strings.HasPrefix(got, "too_large: the filter takes ") {
			t.Errorf("%s: %.200s", filter, got)
		}
	}
}

// The memory of a large document does not count as the filter's.
func TestJQLarge(t *testing.T) {
	tooltest.Unraced(t)
	var b strings.Builder
	for i := range 250_000 {
		fmt.Fprintf(&b, `{"id":%d,"v":"x%d"}`+"\n", i, i)
	}
	call := caller[data.JSONProcessIn](t, "json_process", nil)
	if got := call(data.JSONProcessIn{Operation: "query", Text: new(b.String()), Filter: "map(.id) | add"}); !strings.HasSuffix(got, "\n31249875000") {
		t.Errorf("%.300s", got)
	}
}
