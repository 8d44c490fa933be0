package run_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/server/rules"
	"toolcrib/server/run"
	"toolcrib/tools"
)

// A read-only server, and a call that only reads, read documents and save none.
func TestDocumentsAreOnlyRead(t *testing.T) {
	readOnly := func(s *run.Settings, _ *tools.SessionInfo) { s.ReadOnly = true }
	reader := func(_ *run.Settings, info *tools.SessionInfo) {
		info.May = func(t *tools.Tool) bool {
			return t.Access == tools.Read || t.Least == tools.Read || t.Access == tools.Delegates
		}
	}
	denyExternal := func(s *run.Settings, _ *tools.SessionInfo) {
		ruled(s, rules.Rule{Verdict: "deny", Access: []string{"external"}})
	}
	const fine, offToken = "a.txt: text", "the token of this client does not let it be called"
	file, save, web := `{"path":"a.txt"}`, `{"path":"a.txt","save":"b.md"}`, `{"url":"http://169.254.1.1/"}`
	for _, tc := range []struct {
		name string
		set  func(*run.Settings, *tools.SessionInfo)
		by   string
		args string
		want string
	}{
		{"anyone", func(*run.Settings, *tools.SessionInfo) {}, "", save, "saved to b.md"},
		{"read-only", readOnly, "", file, fine},
		{"read-only", readOnly, "", save, "the server is read-only, and this call has the effects workspace"},
		{"read-only", readOnly, "", web, unreachable},
		{"read-only", readOnly, "", `{"url":"http://169.254.1.1/","save":"b.md"}`, "the server is read-only"},
		{"a token that reads", reader, "", file, fine},
		{"a token that reads", reader, "", save, "this call of parse_document with access write: " + offToken},
		{"a token that reads", reader, "", web, offToken},
		{"a rule against external tools", denyExternal, "", file, fine},
		{"a rule against external tools", denyExternal, "", web, "denied"},
		{"call_read_tool", func(*run.Settings, *tools.SessionInfo) {}, "call_read_tool", file, fine},
		{"call_read_tool", func(*run.Settings, *tools.SessionInfo) {}, "call_read_tool", save, "this call of parse_document with access write: call_read_tool calls only what reads (rule called-to-read)"},
		{"call_read_tool", func(*run.Settings, *tools.SessionInfo) {}, "call_read_tool", web, "this call of parse_document with access external: call_read_tool calls only what reads"},
	} {
		w := newWorld(t, "", tc.set)
		if err := os.WriteFile(filepath.Join(w.dir, "a.txt"), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		call := run.Call{Tool: "parse_document", Args: json.RawMessage(tc.args)}
		if tc.by != "" {
			call = run.Call{Tool: tc.by, Args: json.RawMessage(`{"name":"parse_document","arguments":` + tc.args + `}`)}
		}
		if got := w.do(t, call, tools.Decline, nil)[0]; !strings.Contains(got, tc.want) {
			t.Errorf("%s, %s: %s\nwant %q in it", tc.name, tc.args, got, tc.want)
		}
		_, err := os.Stat(filepath.Join(w.dir, "b.md"))
		if saved := err == nil; saved != strings.Contains(tc.want, "saved") {
			t.Errorf("%s, %s: saved is %v", tc.name, tc.args, saved)
		}
	}
}
