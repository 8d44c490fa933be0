package model_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools/agents/internal/model"
)

// sent returns the body that an endpoint is sent for a request.
func sent(t *testing.T, e model.Endpoint, r model.Request) map[string]any {
	t.Helper()
	var body map[string]any
	synctest.Test(t, func(t *testing.T) {
		s := &service{answers: []answer{{status: 400}}}
		_, _, _ = s.client(t).Turn(t.Context(), []model.Endpoint{e}, r, nil)
		if len(s.bodies) != 1 {
			t.Fatalf("%d requests were sent", len(s.bodies))
		}
		if err := json.Unmarshal([]byte(s.bodies[0]), &body); err != nil {
			t.Fatal(err)
		}
	})
	return body
}

func wantJSON(t *testing.T, got any, want string) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Error(diff)
	}
}

// conversation has a turn of two calls, of which one has a result.
func conversation(from string) []model.Message {
	return []model.Message{
		{Role: model.User, Blocks: []model.Block{{Text: "count"}}},
		{Role: model.Assistant, Blocks: []model.Block{
			{Thinking: &model.Thinking{Text: "hm", Signature: "s", From: from}}, {Text: "I look."},
			{Call: &model.Call{ID: "c.1", Name: "grep", Arguments: []byte(`{"a":1}`), From: from, Extra: []byte(`{"google":{"thought_signature":"g"}}`)}},
			{Call: &model.Call{ID: "c.2", Name: "glob", Arguments: []byte(`{}`), From: from}},
		}},
		{Role: model.User, Blocks: []model.Block{{Text: "go on"}, {Result: &model.Result{ID: "c.2", Text: "no such file", Error: true}}, {Result: &model.Result{ID: "other", Text: "?"}}}},
	}
}

var tools = []model.Tool{{Name: "glob", Description: "Finds files.", Schema: []byte(`{"type":"object"}`)}}

func TestChatRequest(t *testing.T) {
	e := model.Endpoint{Provider: "deepseek", URL: "http://chat.example/v1", Model: "m"}
	body := sent(t, e, model.Request{System: "S", Messages: conversation(e.String()), Tools: tools, Last: true, MaxOutput: 99, Temperature: new(0.5), Thinking: "off"})
	wantJSON(t, body, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":99,"temperature":0.5,"thinking":{"type":"disabled"},"tool_choice":"none",
		"tools":[{"type":"function","function":{"name":"glob","description":"Finds files.","parameters":{"type":"object"}}}],
		"messages":[{"role":"system","content":"S"},{"role":"user","content":"count"},
		{"role":"assistant","content":"I look.","reasoning_content":"hm","tool_calls":[
			{"id":"c.1","type":"function","function":{"name":"grep","arguments":"{\"a\":1}"},"extra_content":{"google":{"thought_signature":"g"}}},
			{"id":"c.2","type":"function","function":{"name":"glob","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"c.1","content":"error: no result: the call was not carried out, or its result is lost"},
		{"role":"tool","tool_call_id":"c.2","content":"error: no such file"},
		{"role":"user","content":"go on"}]}`)
}

func TestMessagesRequest(t *testing.T) {
	e := model.Endpoint{URL: "http://messages.example/v1", Dialect: model.Messages, Model: "m", MaxOutput: 16000}
	body := sent(t, e, model.Request{System: "S", Messages: conversation(e.String()), Tools: tools, Last: true, Temperature: new(0.5), Thinking: "low"})
	wantJSON(t, body, `{"model":"m","stream":true,"max_tokens":16000,"thinking":{"type":"enabled","budget_tokens":2048},"tool_choice":{"type":"none"},
		"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],
		"tools":[{"name":"glob","description":"Finds files.","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],
		"messages":[{"role":"user","content":[{"type":"text","text":"count","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I look."},
			{"type":"tool_use","id":"c_1","name":"grep","input":{"a":1}},{"type":"tool_use","id":"c_2","name":"glob","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"c_1","content":"no result: the call was not carried out, or its result is lost","is_error":true},
			{"type":"tool_result","tool_use_id":"c_2","content":"no such file","is_error":true},{"type":"text","text":"go on","cache_control":{"type":"ephemeral"}}]}]}`)
}

// Another endpoint gets neither the thinking nor the signatures, and does not think where its
// dialect would want to see what came before.
func TestForeignConversation(t *testing.T) {
	e := model.Endpoint{URL: "http://messages.example/v1", Dialect: model.Messages, Model: "m"}
	messages := conversation("another")
	messages[2].Blocks = messages[2].Blocks[1:2]
	body := sent(t, e, model.Request{Messages: messages, Thinking: "high"})
	wantJSON(t, body["thinking"], `{"type":"disabled"}`)
	for _, e := range []model.Endpoint{e, {Provider: "gemini", URL: "http://chat.example/v1", Model: "m"}} {
		text, err := json.Marshal(sent(t, e, model.Request{Messages: messages}))
		if err != nil {
			t.Fatal(err)
		}
		for _, foreign := range []string{"hm", "thought_signature", `"s"`} {
			if bytes.Contains(text, []byte(foreign)) {
				t.Errorf("%s is sent %s of another: %s", &e, foreign, text)
			}
		}
	}
}

// The beginning of a conversation is sent as it was in the turn before.
func TestSameBeginning(t *testing.T) {
	for _, e := range []model.Endpoint{chatModel, messagesModel} {
		first := sent(t, e, model.Request{System: "S", Tools: tools, Messages: conversation("x")[:1]})
		second := sent(t, e, model.Request{System: "S", Tools: tools, Messages: conversation("x")})
		for _, field := range []string{"system", "tools"} {
			if diff := cmp.Diff(first[field], second[field]); diff != "" {
				t.Error(diff)
			}
		}
	}
}

func TestThinkingLevels(t *testing.T) {
	for _, c := range []struct {
		provider, level string
		want            string // field and value
	}{
		{"openai", "high", `{"reasoning_effort":"high","max_completion_tokens":8192}`},
		{"openai", "off", `{"reasoning_effort":"none","max_completion_tokens":8192,"temperature":1}`},
		{"anthropic", "high", `{"thinking":{"type":"enabled","budget_tokens":4096},"max_tokens":8192}`},
		{"anthropic", "off", `{"thinking":{"type":"disabled"},"max_tokens":8192,"temperature":1}`},
		{"glm", "low", `{"thinking":{"type":"enabled"},"max_tokens":8192,"temperature":1}`},
		{"qwen", "medium", `{"enable_thinking":true,"max_tokens":8192,"temperature":1}`},
		{"qwen", "off", `{"enable_thinking":false,"max_tokens":8192,"temperature":1}`},
		{"gemini", "low", `{"reasoning_effort":"low","max_tokens":8192,"temperature":1}`},
		{"local", "", `{"max_tokens":8192,"temperature":1}`},
	} {
		t.Run(c.provider+"/"+c.level, func(t *testing.T) {
			body := sent(t, model.Endpoint{Provider: c.provider, URL: "http://chat.example", Model: "m", Thinking: c.level}, model.Request{Messages: hello.Messages, Temperature: new(1.0)})
			for _, field := range []string{"model", "stream", "stream_options", "messages"} {
				delete(body, field)
			}
			wantJSON(t, body, c.want)
		})
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		endpoint model.Endpoint
		want     string
	}{
		{model.Endpoint{Provider: "openai", Model: "m"}, ""},
		{model.Endpoint{Provider: "openia", Model: "m"}, `no provider has the name "openia"; there are anthropic, client, deepseek, gemini, glm, local, openai, qwen`},
		{model.Endpoint{Provider: "openai"}, "model is missing: the name of the model at the service"},
		{model.Endpoint{Model: "m"}, "url is missing: the address of the service, such as http://localhost:11434/v1"},
		{model.Endpoint{Model: "m", URL: "localhost:80"}, `url "localhost:80" is not one such as https://api.example.com/v1`},
		{model.Endpoint{Model: "m", URL: "http://localhost:80/v1/"}, ""},
	} {
		got := ""
		if err := c.endpoint.Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.endpoint, got, c.want)
		}
	}
}

func TestCost(t *testing.T) {
	e := model.Endpoint{PriceIn: 3, PriceOut: 15, PriceCache: 0.3}
	if got := e.Cost(model.Use{In: 1e6, Out: 1e6, CacheRead: 1e6, CacheWrite: 1e6}); got != 3+15+.3+3 {
		t.Errorf("the cost is %v", got)
	}
}
