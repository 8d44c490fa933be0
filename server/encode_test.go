package server_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"toolcrib/server"
	"toolcrib/server/wire"
	"toolcrib/tools/catalog"
)

// TestCallResultEqualsMarshal holds the encoder against mcp-go's own JSON.
func TestCallResultEqualsMarshal(t *testing.T) {
	noted := mcp.NewTextContent("noted")
	noted.Annotations = &mcp.Annotations{Audience: []mcp.Role{mcp.RoleUser}}
	tests := map[string]*mcp.CallToolResult{
		"empty":      {},
		"text":       mcp.NewToolResultText("a <b> & \"c\" \\ \n\r\t\x00\x1f\x7f é 日本 \U0001F600 \u2028 \u2029 \xff \xed\xa0\x80"),
		"error":      mcp.NewToolResultError("no"),
		"structured": {Content: []mcp.Content{mcp.NewTextContent("x")}, RawStructuredContent: json.RawMessage(`{"a":[1,2.50,"<"]}`)},
		"value":      {StructuredContent: map[string]any{"a": 1}},
		"blocks": {Content: []mcp.Content{
			mcp.NewTextContent("one"), noted, mcp.NewImageContent("aGk=", "image/png"), mcp.NewAudioContent("aGk=", "audio/wav"),
			mcp.NewResourceLink("toolcrib://job/1", "job", "", "text/plain"),
		}},
		"meta": {Result: mcp.Result{Meta: mcp.NewMetaFromMap(map[string]any{"toolcrib/code": "<x>"}), ResultType: mcp.ResultTypeComplete}},
		"asking": mcpserver.NewInputRequestBuilder("st\"ate").Elicit("a", mcp.ElicitationParams{
			Message: "sure?", RequestedSchema: map[string]any{"type": "object"},
		}).ToolResult(),
	}
	for name, result := range tests {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			got, err := wire.AppendCallResult(nil, result)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
				t.Errorf("-mcp-go +ours:\n%s", diff)
			}
			if strings.ContainsAny(string(got), "\n\r") {
				t.Errorf("more than one line: %q", got)
			}
		})
	}
}

// TestToolListEqualsMarshal holds the list of every tool of the catalog against
// mcp-go's own JSON.
func TestToolListEqualsMarshal(t *testing.T) {
	list := mcp.ListToolsResult{}
	for _, tool := range catalog.Tools(catalog.All(new(catalog.Services))) {
		def, err := server.Define(tool)
		if err != nil {
			t.Fatal(err)
		}
		list.Tools = append(list.Tools, def)
	}
	list.Tools[0].Meta = mcp.NewMetaFromMap(map[string]any{"a/b": 1})
	list.ResultType = mcp.ResultTypeComplete
	for _, result := range []mcp.ListToolsResult{list, {}} {
		want, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		got, err := wire.AppendToolList(nil, result)
		if err != nil {
			t.Fatal(err)
		}
		if result.Tools == nil {
			want = bytes.Replace(want, []byte("null"), []byte("[]"), 1) // a client expects a list
		}
		if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
			t.Errorf("-mcp-go +ours:\n%s", diff)
		}
	}
}

func TestAppendString(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		b := make([]byte, rng.IntN(40))
		for i := range b {
			b[i] = byte(rng.IntN(256))
			if rng.IntN(2) == 0 {
				b[i] = "\"\\\n\t <>&aé"[rng.IntN(11)]
			}
		}
		got := wire.AppendString(nil, string(b))
		if want := validBytes(b); decode(t, got) != want || !utf8.Valid(got) {
			t.Fatalf("AppendString(%q) = %s", b, got)
		}
	}
}

// validBytes replaces each byte that is not UTF-8, as encoding/json does.
func validBytes(b []byte) string {
	var s strings.Builder
	for _, r := range string(b) {
		s.WriteRune(r)
	}
	return s.String()
}

func decode(tb testing.TB, raw []byte) any {
	tb.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		tb.Fatalf("%s: %v", raw, err)
	}
	return v
}

func BenchmarkCallResult(b *testing.B) {
	result := mcp.NewToolResultText(strings.Repeat("a line of text with <tags> and \"quotes\"\n", 25_000))
	size := int64(len(result.Content[0].(mcp.TextContent).Text))
	b.Run("ours", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if _, err := wire.AppendCallResult(nil, result); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mcp-go", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if _, err := json.Marshal(mcp.NewJSONRPCResultResponse(mcp.NewRequestId(1), result)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestAppendStringAtEachPlace has every kind of character at each place of the eight
// bytes that are looked at together.
func TestAppendStringAtEachPlace(t *testing.T) {
	for _, special := range []string{"\"", "\\", "\n", "\r", "\t", "\x00", "\x1f", "\x7f", "!", "[", "]", "#", "é", "\u2028", "\xff", "\U0001F600", " "} {
		for before := range 18 {
			for after := range 18 {
				text := strings.Repeat("~", before) + special + special + strings.Repeat("a", after) + special
				want, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				var wanted, got string
				if err := json.Unmarshal(want, &wanted); err != nil {
					t.Fatal(err)
				}
				encoded, err := wire.AppendCallResult(nil, mcp.NewToolResultText(text))
				if err != nil {
					t.Fatal(err)
				}
				var result struct{ Content []struct{ Text string } }
				if err := json.Unmarshal(encoded, &result); err != nil {
					t.Fatalf("%q: %v in %q", text, err, encoded)
				}
				if got = result.Content[0].Text; got != wanted {
					t.Fatalf("%q became %q", wanted, got)
				}
			}
		}
	}
}
