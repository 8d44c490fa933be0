package server_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server"
	"toolcrib/tools"
)

// What tools/list shows depends on the name that the client gives, with the request or
// with its handshake, and on nothing else. Everything can be called by everybody.
func TestTailoredList(t *testing.T) {
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"%NAME%","version":"1"}}`
	srv := newServer(t, func(opt *server.Options) {
		opt.Tailored = map[string][]tools.Tool{"coder": opt.Tools[1:2]}
	})
	all := toolNames(t, srv, modern, "somebody")
	if len(all) < 2 {
		t.Fatalf("%d tools are listed", len(all))
	}
	for range 2 { // what was asked before changes nothing
		for name, want := range map[string][]string{"coder": all[1:2], "somebody": all, "": all, "Coder": all} {
			if diff := cmp.Diff(want, toolNames(t, srv, modern, name)); diff != "" {
				t.Errorf("stateless, %q (-want +got):\n%s", name, diff)
			}
			if diff := cmp.Diff(want, toolNames(t, srv, "", name)); diff != "" {
				t.Errorf("session, %q (-want +got):\n%s", name, diff)
			}
		}
	}
}

func toolNames(t *testing.T, srv *server.Server, meta, client string) (names []string) {
	t.Helper()
	lines := []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + strings.ReplaceAll(meta, "%NAME%", client) + `}}`}
	if meta == "" {
		lines = []string{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + client + `","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			lines[0],
		}
	}
	var out bytes.Buffer
	if err := srv.ServeStdio(t.Context(), strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var m struct {
			ID     int
			Result struct{ Tools []struct{ Name string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.ID == 1 {
			for _, tool := range m.Result.Tools {
				names = append(names, tool.Name)
			}
		}
	}
	return names
}

// A client whose list is tailored gets the instructions about it, in both eras.
func TestInstructed(t *testing.T) {
	srv := newServer(t, func(opt *server.Options) {
		opt.Instructions, opt.Instructed = "for everybody", map[string]string{"coder*": "for coders"}
	})
	for name, want := range map[string]string{"coder": "for coders", "coder-at-work": "for coders", "somebody": "for everybody", "": "for everybody"} {
		for _, line := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + name + `","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"` + name + `","version":"1"}}}}`,
		} {
			var out bytes.Buffer
			if err := srv.ServeStdio(t.Context(), strings.NewReader(line+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			var m struct{ Result struct{ Instructions string } }
			if err := json.Unmarshal(out.Bytes(), &m); err != nil || m.Result.Instructions != want {
				t.Errorf("%q is told %q, want %q (%v): %s", name, m.Result.Instructions, want, err, line)
			}
		}
	}
}
