package conformance_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// message is a line of the server.
type message struct {
	ID     any    `json:"id"`
	Method string `json:"method"`
	Params struct {
		Meta map[string]any `json:"_meta"`
	} `json:"params"`
	raw string
}

// next reads a line.
func (c *client) next() message {
	c.t.Helper()
	line, err := c.lines.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	m := message{raw: line}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		c.t.Fatalf("%v: %s", err, line)
	}
	return m
}

// send writes a message.
func (c *client) send(m map[string]any) {
	c.t.Helper()
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// A client of the handshake's era is asked while the call runs.
func TestAskedDuringTheCall(t *testing.T) {
	c := connect(t)
	c.send(map[string]any{"id": "hello", "method": "initialize", "params": map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": c.caps, "clientInfo": map[string]any{"name": "test", "version": "1"},
	}})
	c.next()
	c.send(map[string]any{"method": "notifications/initialized"})
	for _, tc := range []struct {
		tool, asks string
		args       map[string]any
		answer     map[string]any
		says       string
	}{
		{"test_sampling", "sampling/createMessage", map[string]any{"prompt": "capital"},
			map[string]any{"role": "assistant", "model": "m", "content": map[string]any{"type": "text", "text": "Paris"}}, "Paris"},
		{"test_elicitation", "elicitation/create", map[string]any{"message": "who"},
			map[string]any{"action": "accept", "content": map[string]any{"username": "ann", "email": "a@b"}}, "ann"},
		{"test_elicitation_sep1330_enums", "elicitation/create", nil, map[string]any{"action": "decline"}, "action=decline"},
		{"test_input_required_result_list_roots", "roots/list", nil,
			map[string]any{"roots": []any{map[string]any{"uri": "file:///root"}}}, "file:///root"},
	} {
		params := map[string]any{"name": tc.tool}
		if tc.args != nil {
			params["arguments"] = tc.args
		}
		c.send(map[string]any{"id": tc.tool, "method": "tools/call", "params": params})
		var last message
		for last = c.next(); last.ID != tc.tool; last = c.next() {
			switch last.Method {
			case "roots/list": // the server also asks each client that declares roots for them
				c.send(map[string]any{"id": last.ID, "result": map[string]any{"roots": []any{map[string]any{"uri": "file:///root"}}}})
			case tc.asks:
				c.send(map[string]any{"id": last.ID, "result": tc.answer})
			default:
				t.Fatalf("%s: %s", tc.tool, last.raw)
			}
		}
		if !strings.Contains(strings.ReplaceAll(last.raw, `\/`, "/"), tc.says) {
			t.Errorf("%s: want %q in %s", tc.tool, tc.says, last.raw)
		}
	}
}

// A client that listens hears of what the triggers announce, and of nothing else.
func TestTriggers(t *testing.T) {
	const subscription = "io.modelcontextprotocol/subscriptionId"
	c := connect(t)
	meta := map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}
	for listener, wants := range map[string]string{"tools": "toolsListChanged", "prompts": "promptsListChanged"} {
		c.send(map[string]any{"id": listener, "method": "subscriptions/listen", "params": map[string]any{
			"_meta": meta, "notifications": map[string]any{wants: true},
		}})
		if m := c.next(); m.Method != "notifications/subscriptions/acknowledged" || m.Params.Meta[subscription] != listener {
			t.Fatalf("%s: %s", listener, m.raw)
		}
	}
	for _, tc := range []struct{ tool, method, listener string }{
		{"test_trigger_prompt_change", "notifications/prompts/list_changed", "prompts"},
		{"test_trigger_tool_change", "notifications/tools/list_changed", "tools"},
	} {
		c.send(map[string]any{"id": tc.tool, "method": "tools/call", "params": map[string]any{"_meta": meta, "name": tc.tool}})
		heard := 0
		for answered := false; !answered || heard == 0; {
			m := c.next()
			switch {
			case m.ID == tc.tool:
				answered = true
			case m.Method == tc.method && m.Params.Meta[subscription] == tc.listener:
				heard++
			default:
				t.Fatalf("%s: %s", tc.tool, m.raw)
			}
		}
		if heard != 1 {
			t.Errorf("%s: heard %d times", tc.tool, heard)
		}
	}
}
