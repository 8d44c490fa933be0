package redact_test

import (
	"testing"

	"toolcrib/workspace/redact"
)

func TestJSON(t *testing.T) {
	r := redact.New([]string{`quote"and\slash/`, "1234567890123"})
	for _, tc := range []struct{ raw, want string }{
		{``, ``},
		{`{}`, `{}`},
		{`{ "a" : [1, 2.5e3, true, null, "x\u0041"] }`, `{ "a" : [1, 2.5e3, true, null, "x\u0041"] }`},
		{`"quote\"and\\slash\/"`, `"[redacted]"`},
		{`{"quote\u0022and\u005cslash/":"a quote\"and\\slash/ b"}`, `{"[redacted]":"a [redacted] b"}`},
		{`[1234567890123,12345678901234]`, `["[redacted]","[redacted]"]`},
		{`{"password":"x"}`, `{"password":"[redacted:secret-value]"}`},
		{`{"p\u0061ssword" : "hunter2","user":"a"}`, `{"p\u0061ssword" : "[redacted:secret-value]","user":"a"}`},
		{`{"apiKey":["a b",["c"]],"x":"y"}`, `{"apiKey":["[redacted:secret-value]",["[redacted:secret-value]"]],"x":"y"}`},
		{`{"token":98765,"max_tokens":98765}`, `{"token":"[redacted]","max_tokens":98765}`},
		{`{"token":null,"a":"b"}`, `{"token":null,"a":"b"}`},
		{`{"secret":{"name":"kept"}}`, `{"secret":{"name":"kept"}}`},
		{`{"secret":true,"a":["b"]}`, `{"secret":true,"a":["b"]}`},
		{`[{"password":"x"},"kept"]`, `[{"password":"[redacted:secret-value]"},"kept"]`},
		{`{"token":"${TOKEN}"}`, `{"token":"${TOKEN}"}`},
		{`{"in":"{\"password\":\"hunter2\"}"}`, `{"in":"{\"password\":\"[redacted:secret-value]\"}"}`},
		{`not JSON, password=hunter2`, `"not JSON, password=[redacted:secret-value]"`},
	} {
		if got := string(r.JSON([]byte(tc.raw))); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.raw, got, tc.want)
		}
	}
}
