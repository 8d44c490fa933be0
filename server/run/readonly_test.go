package run_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolcrib/server/run"
	"toolcrib/tools"
)

// What the calls of a tool end in on a read-only server that reads the web. The address is one
// that no call reaches.
const unreachable = "the address is private"

func refusedFor(effects string) string {
	return "the server is read-only, and this call has the effects " + effects + " (rule read-only-server)"
}

// onReadOnly calls a tool of the catalog on a read-only server, in each way: args has what each
// call ends in.
func onReadOnly(t *testing.T, tool string, args map[string]string) {
	t.Helper()
	w := newWorld(t, "", func(s *run.Settings, _ *tools.SessionInfo) { s.ReadOnly = true })
	for args, want := range args {
		for _, way := range ways {
			if got := w.do(t, way.call(tool, json.RawMessage(args)), tools.Decline, nil)[0]; !strings.Contains(got, want) {
				t.Errorf("%s %s, %s:\n%s\nwant %q in it", tool, args, way.name, got, want)
			}
		}
	}
}
