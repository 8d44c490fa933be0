package data_test

import (
	"fmt"
	"strings"
	"testing"

	"toolcrib/tools/data"
)

// The indents and paths of a deep document with many values are far longer than it is.
func TestDeepJSON(t *testing.T) {
	deep := func(item string, items int) *string {
		return new(strings.Repeat(`{"key":[`, 400) + strings.Repeat(item+",", items) + "0" + strings.Repeat("]}", 400))
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
		{Operation: "format", Text: deep("1", 100_000)},
		{Operation: "parse", Text: deep("1", 100_000)},
		{Operation: "query", Filter: ".", Indent: new(8), Text: deep("1", 20_000)},
		{Operation: "keys", Text: new(many())},
		{Operation: "diff", Text: deep("1", 100_000), Other: deep("2", 100_000)},
	} {
		if got := call(in); !strings.HasPrefix(got, "too_large: the result has more than 84 MB") {
			t.Errorf("%s: %.200s", in.Operation, got)
		}
	}
	if got := call(data.JSONProcessIn{Operation: "format", Indent: new(0), Text: deep("1", 100_000)}); !strings.HasPrefix(got, `{"key":[`) {
		t.Errorf("without indents: %.200s", got)
	}
}
