package cli_test

import (
	"strings"
	"testing"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

// The fixtures of the conformance suite are served beside the catalog where they
// are asked for, and nobody is told that they can be.
func TestConformanceFixtures(t *testing.T) {
	inProject(t)
	list := func(args ...string) string {
		t.Helper()
		out, stderr, code := invocation{args: args, stdin: strings.NewReader(listTools)}.start(t)
		if code != 0 || !strings.Contains(out, `"name":"echo"`) {
			t.Fatalf("%v: code %d, %s%s", args, code, out, stderr)
		}
		return out
	}
	if out := list("serve", "--preset=all"); strings.Contains(out, `"name":"test_`) {
		t.Error("the fixtures are served without being asked for")
	}
	out := list("serve", "--preset=all", "--conformance-fixtures")
	if first, second := strings.Index(out, `"name":"test_simple_text"`), strings.Index(out, `"name":"echo"`); first < 0 || second < first {
		t.Errorf("the fixtures do not come first: %d, %d", first, second)
	}
	if help, _, _ := (invocation{args: []string{"help", "serve"}}).start(t); strings.Contains(help, "conformance") {
		t.Error("the help shows the flag")
	}
}
