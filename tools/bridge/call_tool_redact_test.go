package bridge_test

import (
	"encoding/json"
	"testing"

	"toolcrib/tools"
)

// A call of call_tool tells what the tool tells that it calls, and changes nothing of
// what that is given.
func TestRedactedCalls(t *testing.T) {
	caller := grown(t)
	call := find(t, caller.All, "call_tool")
	for _, tc := range []struct{ args, want string }{
		{`{"name":"bash","arguments":{"command":"mysql -phunter2"}}`, `{"name":"bash","arguments":{"command":"mysql -p[redacted]","max_output":20000}}`},
		{`{"name":"run_command","arguments":{"cmd":"mysql -phunter2"}}`, `{"name":"run_command","arguments":{"command":"mysql -p[redacted]","max_output":20000}}`},
		{`{"name":"job_input","arguments":{"text":"hunter2"}}`, `{"name":"job_input","arguments":{"text":"[typed into no job: at most 16 characters]"}}`},
		{`{"name":"bash","arguments":{"commander":"mysql -phunter2"}}`, `{"name":"bash","arguments":{"untold":"31 bytes"}}`},
		{`{"name":"hash","arguments":{"command":"mysql -phunter2"}}`, `{"name":"hash","arguments":{"untold":"29 bytes"}}`},
		{`{"name":"call_tool","arguments":{"name":"bash"}}`, `{"name":"call_tool","arguments":{"untold":"15 bytes"}}`},
		{`{"name":"read_file","arguments":{"path":"a"}}`, `{"arguments":{"path":"a"},"name":"read_file"}`},
		{`{"name":"bash","arguments":{"command":"ls"}}`, `{"arguments":{"command":"ls"},"name":"bash"}`},
	} {
		bound, err := call.Bind(json.RawMessage(tc.args))
		if err != nil {
			t.Fatal(err)
		}
		ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local})
		for range 2 {
			if got := string(call.Redacted(ctx, bound)); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.args, got, tc.want)
			}
		}
	}
}
