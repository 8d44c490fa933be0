package conformance_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server"
	"toolcrib/server/conformance"
	"toolcrib/server/run"
	"toolcrib/tools"
	"toolcrib/workspace"
)

// What goes through the contract holds to its rules.
func TestDeclarations(t *testing.T) {
	f := conformance.New()
	all := slices.Clone(f.Tools)
	for _, s := range f.Sources {
		all = append(all, s.Read)
	}
	if err := tools.Validate(all); err != nil {
		t.Error(err)
	}
}

// client speaks to the fixtures on an in-memory stdio session.
type client struct {
	t     *testing.T
	in    io.Writer
	lines *bufio.Reader
	last  int
	caps  map[string]any
}

func connect(t *testing.T) *client {
	f := conformance.New()
	ws, err := workspace.Open([]string{t.TempDir()}, workspace.Options{StateBase: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Options{
		Name: "fixtures", Version: "1", Tools: f.Tools, Sources: f.Sources, Prompts: f.Prompts, Native: f.Native,
		Runner: run.New(run.Config{Settings: run.Settings{Tools: f.Tools}}), Workspace: ws, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	stdin, in := io.Pipe()
	out, stdout := io.Pipe()
	done := make(chan error, 1)
	go func() {
		defer stdout.Close()
		done <- s.ServeStdio(t.Context(), stdin, stdout)
	}()
	lines := bufio.NewReader(out)
	t.Cleanup(func() {
		go func() { _, _ = io.Copy(io.Discard, lines) }() // what it says at the end; ends with the server
		in.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return &client{t: t, in: in, lines: lines, caps: map[string]any{
		"elicitation": map[string]any{}, "sampling": map[string]any{}, "roots": map[string]any{},
	}}
}

// answer is what a request got, and the notifications before it.
type answer struct {
	Result struct {
		Type     string `json:"resultType"`
		State    string `json:"requestState"`
		Requests map[string]struct {
			Method string `json:"method"`
		} `json:"inputRequests"`
		IsError bool `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code int `json:"code"`
	} `json:"error"`
	raw   string
	notes []string // their methods
}

// call makes one request.
func (c *client) call(method string, params map[string]any) answer {
	c.t.Helper()
	c.last++
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": c.caps,
		"io.modelcontextprotocol/logLevel": "debug", "progressToken": c.last,
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
	var notes []string
	for {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			c.t.Fatal(err)
		}
		var m struct{ Method string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Fatalf("%v: %s", err, line)
		}
		if m.Method != "" {
			notes = append(notes, m.Method)
			continue
		}
		a := answer{raw: line, notes: notes}
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			c.t.Fatalf("%v: %s", err, line)
		}
		return a
	}
}

// settle makes a request and gives the answers that it asks for, and returns how
// often it asked.
func (c *client) settle(method string, params map[string]any) (a answer, asked int) {
	c.t.Helper()
	for a = c.call(method, params); a.Result.Type == "input_required" && asked < 5; asked++ {
		given := map[string]any{"unknown": map[string]any{}}
		for id, r := range a.Result.Requests {
			given[id] = map[string]any{
				"elicitation/create":     map[string]any{"action": "accept", "content": map[string]any{"name": "Alice"}},
				"sampling/createMessage": map[string]any{"role": "assistant", "model": "m", "content": map[string]any{"type": "text", "text": "Paris"}},
				"roots/list":             map[string]any{"roots": []any{map[string]any{"uri": "file:///root"}}},
			}[r.Method]
		}
		params["inputResponses"] = given
		delete(params, "requestState")
		if a.Result.State != "" {
			params["requestState"] = a.Result.State
		}
		a = c.call(method, params)
	}
	return a, asked
}

func TestTools(t *testing.T) {
	c := connect(t)
	want := map[string]struct {
		args  map[string]any
		asked int    // rounds
		says  string // somewhere in the answer
		notes []string
	}{
		"test_simple_text":                           {says: "This is a simple text response for testing."},
		"test_image_content":                         {says: `"mimeType":"image/png"`},
		"test_audio_content":                         {says: `"mimeType":"audio/wav"`},
		"test_embedded_resource":                     {says: `"type":"resource"`},
		"test_multiple_content_types":                {says: "test://mixed-content-resource"},
		"test_reconnection":                          {says: "Reconnection"},
		"test_error_handling":                        {says: `"isError":true`},
		"test_missing_capability":                    {says: "offers its model"},
		"test_tool_with_progress":                    {says: "executed", notes: slices.Repeat([]string{"notifications/progress"}, 3)},
		"test_tool_with_logging":                     {says: "executed", notes: slices.Repeat([]string{"notifications/message"}, 3)},
		"test_logging_tool":                          {says: "executed", notes: slices.Repeat([]string{"notifications/message"}, 3)},
		"test_elicitation":                           {args: map[string]any{"message": "who"}, asked: 1, says: "action=accept"},
		"test_elicitation_sep1034_defaults":          {asked: 1, says: "action=accept"},
		"test_elicitation_sep1330_enums":             {asked: 1, says: "action=accept"},
		"test_streaming_elicitation":                 {asked: 1, says: "action=accept"},
		"test_sampling":                              {args: map[string]any{"prompt": "capital"}, asked: 1, says: "Paris"},
		"test_input_required_result_request_state":   {asked: 1, says: "state-ok"},
		"test_input_required_result_multi_round":     {asked: 2, says: "Answers"},
		"test_input_required_result_elicitation":     {asked: 1, says: "Alice"},
		"test_input_required_result_sampling":        {asked: 1, says: "Paris"},
		"test_input_required_result_list_roots":      {asked: 1, says: "file:///root"},
		"test_input_required_result_multiple_inputs": {asked: 1, says: "file:///root"},
		"test_input_required_result_capabilities":    {asked: 1, says: "Paris"},
		"test_input_required_result_tampered_state":  {asked: 1, says: "Alice"},
		"json_schema_2020_12_tool":                   {args: map[string]any{"phone": "1"}, says: "accepted"},
		"test_header_param":                          {args: map[string]any{"region": "x"}, says: "accepted"},
		"greet":                                      {args: map[string]any{"name": "World"}, says: "Hello, World!"},
		"slow_compute":                               {args: map[string]any{"seconds": 0}, says: "0 seconds"},
		"failing_job":                                {says: `"code":-32021`},
		"protocol_error_job":                         {says: `"code":-32021`},
		"confirm_delete":                             {args: map[string]any{"filename": "a"}, asked: 1, says: "action=accept"},
		"multi_input":                                {asked: 1, says: "Answers: action=accept"},
		"test_tool_with_task":                        {asked: 1, says: "Alice"},
		"test_trigger_tool_change":                   {says: "Announced"},
		"test_trigger_prompt_change":                 {says: "Announced"},
	}
	var list struct {
		Result struct {
			Tools []struct{ Name, Description string }
		}
	}
	if err := json.Unmarshal([]byte(c.call("tools/list", map[string]any{}).raw), &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Result.Tools) != len(want) {
		t.Errorf("%d tools are listed, %d are tried", len(list.Result.Tools), len(want))
	}
	for _, tool := range list.Result.Tools {
		w, ok := want[tool.Name]
		if !ok || tool.Description == "" {
			t.Errorf("%s: tried %t, description %q", tool.Name, ok, tool.Description)
			continue
		}
		t.Run(tool.Name, func(t *testing.T) {
			t.Parallel() // some take seconds
			params := map[string]any{"name": tool.Name}
			if w.args != nil {
				params["arguments"] = w.args
			}
			a, asked := connect(t).settle("tools/call", params)
			if (a.Error != nil) != strings.Contains(w.says, "-32021") || asked != w.asked || !strings.Contains(strings.ReplaceAll(a.raw, `\/`, "/"), w.says) {
				t.Errorf("asked %d times, want %d; want %q in %s", asked, w.asked, w.says, a.raw)
			}
			if diff := cmp.Diff(w.notes, a.notes); diff != "" {
				t.Errorf("notifications (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPromptsAndResources(t *testing.T) {
	c := connect(t)
	for _, tc := range []struct {
		method string
		params map[string]any
		says   string
	}{
		{"prompts/get", map[string]any{"name": "test_simple_prompt"}, "simple prompt"},
		{"prompts/get", map[string]any{"name": "test_prompt_with_arguments", "arguments": map[string]any{"arg1": "a", "arg2": "b"}}, "arg1='a', arg2='b'"},
		{"prompts/get", map[string]any{"name": "test_prompt_with_embedded_resource", "arguments": map[string]any{"resourceUri": "test://x"}}, `"uri":"test://x"`},
		{"prompts/get", map[string]any{"name": "test_prompt_with_image"}, `"type":"image"`},
		{"prompts/get", map[string]any{"name": "test_input_required_result_prompt"}, "Alice"},
		{"prompts/list", map[string]any{}, "test_input_required_result_prompt"},
		{"resources/list", map[string]any{}, "test://watched-resource"},
		{"resources/templates/list", map[string]any{}, "test://template/{id}/data"},
		{"resources/read", map[string]any{"uri": "test://static-text"}, "static text resource"},
		{"resources/read", map[string]any{"uri": "test://static-binary"}, `"blob":"iVBOR`},
		{"resources/read", map[string]any{"uri": "test://watched-resource"}, "watched resource"},
		{"resources/read", map[string]any{"uri": "test://template/1%2F3/data"}, `Data for ID: 1/3`},
		{"completion/complete", map[string]any{
			"ref":      map[string]any{"type": "ref/prompt", "name": "test_prompt_with_arguments"},
			"argument": map[string]any{"name": "arg1", "value": "testV"},
		}, `["testValue1","testValue2"]`},
		{"completion/complete", map[string]any{
			"ref":      map[string]any{"type": "ref/resource", "uri": "test://template/{id}/data"},
			"argument": map[string]any{"name": "id", "value": "123"},
		}, `["123"]`},
	} {
		if a, _ := c.settle(tc.method, tc.params); a.Error != nil || !strings.Contains(a.raw, tc.says) {
			t.Errorf("%s %v: want %q in %s", tc.method, tc.params, tc.says, a.raw)
		}
	}
	for _, uri := range []string{"test://nothing", "test://template//data", "test://template/a/b/data", "test://template/%zz/data", "test://template/1"} {
		if a := c.call("resources/read", map[string]any{"uri": uri}); a.Error == nil || a.Error.Code != -32602 {
			t.Errorf("%s: %s", uri, a.raw)
		}
	}
}

// What the questions of mcp-go's definitions hold to beyond the suite.
func TestQuestions(t *testing.T) {
	c := connect(t)
	ask := func(name string, more map[string]any) answer {
		params := map[string]any{"name": name}
		maps.Copy(params, more)
		return c.call("tools/call", params)
	}
	accepted := map[string]any{"action": "accept", "content": map[string]any{"ok": "yes"}}

	state := ask("test_input_required_result_tampered_state", nil).Result.State
	if state == "" {
		t.Fatal("no state")
	}
	for _, changed := range []string{state + "0", "x", state[1:]} {
		a := ask("test_input_required_result_tampered_state", map[string]any{"requestState": changed, "inputResponses": map[string]any{"confirm": accepted}})
		if a.Error == nil {
			t.Errorf("state %q: %s", changed, a.raw)
		}
	}
	for _, bad := range []any{12345, nil, map[string]any{}} {
		a := ask("test_input_required_result_elicitation", map[string]any{"inputResponses": map[string]any{"user_name": bad}})
		if a.Result.Type != "input_required" {
			t.Errorf("answer %v: %s", bad, a.raw)
		}
	}
	for _, tc := range []struct {
		caps  map[string]any
		asked string // the kinds, sorted
	}{
		{map[string]any{"sampling": map[string]any{}}, "[sampling/createMessage]"},
		{map[string]any{"elicitation": map[string]any{}}, "[elicitation/create]"},
		{map[string]any{"roots": map[string]any{}}, "[]"},
	} {
		c.caps = tc.caps
		a := ask("test_input_required_result_capabilities", nil)
		asked := []string{}
		for _, r := range a.Result.Requests {
			asked = append(asked, r.Method)
		}
		slices.Sort(asked)
		if fmt.Sprint(asked) != tc.asked || a.Result.IsError != (tc.asked == "[]") {
			t.Errorf("with %v: asked %v: %s", tc.caps, asked, a.raw)
		}
	}
	c.caps = map[string]any{}
	if a := ask("test_missing_capability", nil); a.Error == nil || a.Error.Code != -32021 {
		t.Errorf("missing capability: %s", a.raw)
	}
}
