package cli_test

import (
	"strings"
	"testing"

	"toolcrib/server/conformance"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

// The fixtures of the conformance suite come before the catalog where a program has some.
func TestConformanceFixtures(t *testing.T) {
	inProject(t)
	out, stderr, code := invocation{
		args: []string{"serve", "--preset=all"}, stdin: strings.NewReader(listTools), fixtures: conformance.New(),
	}.start(t)
	if code != 0 {
		t.Fatalf("code %d, %s%s", code, out, stderr)
	}
	if first, second := strings.Index(out, `"name":"test_simple_text"`), strings.Index(out, `"name":"echo"`); first < 0 || second < first {
		t.Errorf("the fixtures do not come first: %d, %d", first, second)
	}
}
