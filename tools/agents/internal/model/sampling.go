package model

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// The params and the result of sampling/createMessage.
type (
	sampling struct {
		Messages    []samplingMessage `json:"messages"`
		System      string            `json:"systemPrompt,omitempty"`
		MaxTokens   int               `json:"maxTokens"`
		Temperature *float64          `json:"temperature,omitempty"`
		Preferences any               `json:"modelPreferences,omitempty"`
		Tools       []samplingTool    `json:"tools,omitempty"`
		Choice      any               `json:"toolChoice,omitempty"`
	}
	samplingMessage struct {
		Role    string `json:"role"`
		Content any    `json:"content"` // a part, or several: older revisions know only the first
	}
	samplingTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"inputSchema"`
	}
	samplingPart struct {
		Type    string          `json:"type"`
		Text    string          `json:"text,omitempty"`
		ID      string          `json:"id,omitempty"`
		Name    string          `json:"name,omitempty"`
		Input   json.RawMessage `json:"input,omitempty"`
		CallID  string          `json:"toolUseId,omitempty"`
		Content []samplingPart  `json:"content,omitempty"`
		Error   bool            `json:"isError,omitempty"`
	}
	sampledMessage struct {
		Model   string          `json:"model"`
		Stop    string          `json:"stopReason"`
		Content json.RawMessage `json:"content"`
	}
)

// sample asks the model of the client. What it says comes whole, and what it took is estimated.
func (c *Client) sample(ctx context.Context, e *Endpoint, r Request, on func(Event)) (*Turn, Use, error) {
	failed := func(format string, args ...any) (*Turn, Use, error) {
		return nil, Use{}, &Error{Reason: Unsampled, Say: fmt.Sprintf(format, args...)}
	}
	if c.Sample == nil {
		return failed("the client does not offer sampling during a call")
	}
	params := samplingOf(e, r)
	sent, err := json.Marshal(params)
	if err != nil {
		return nil, Use{}, err
	}
	answer, err := c.Sample(ctx, json.RawMessage(sent))
	if err != nil {
		return failed("%v", err)
	}
	var m sampledMessage
	if err := json.Unmarshal(answer, &m); err != nil {
		return failed("the client's answer is no message: %s", short(answer))
	}
	var parts []samplingPart
	content := bytes.TrimSpace(m.Content)
	if len(content) > 0 && content[0] != '[' {
		content = []byte("[" + string(content) + "]")
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return failed("the client's answer has no content: %s", short(answer))
	}
	use := Use{In: Estimate(string(sent)), Out: Estimate(string(content)), Estimated: true}
	t := &Turn{From: e.String(), Use: use, End: Stop}
	switch m.Stop {
	case "maxTokens":
		t.End = Length
	case "refusal":
		t.End = Refused
	}
	for i, p := range parts {
		switch p.Type {
		case "text":
			if p.Text != "" {
				t.Blocks = append(t.Blocks, Block{Text: p.Text})
				on(Event{Text: p.Text})
			}
		case "tool_use":
			call := newCall(cmp.Or(p.ID, fmt.Sprintf("call_%d_%d", len(r.Messages), i)), p.Name, string(p.Input), t.From)
			call.Cut = t.End == Length && i == len(parts)-1
			t.Blocks = append(t.Blocks, Block{Call: call})
			if t.End == Stop {
				t.End = Calls
			}
			on(Event{Call: call})
		}
	}
	if len(t.Blocks) == 0 && t.End == Stop {
		return failed("the client's answer has no text: %s", short(answer))
	}
	return t, use, nil
}

func samplingOf(e *Endpoint, r Request) sampling {
	_, limit := e.Tokens()
	s := sampling{System: r.System, MaxTokens: cmp.Or(r.MaxOutput, limit), Temperature: r.Temperature}
	if e.Model != "" {
		s.Preferences = map[string]any{"hints": []any{map[string]any{"name": e.Model}}}
	}
	for _, t := range r.Tools {
		if r.Only == "" || t.Name == r.Only { // a client has no way to name the one that must be called
			s.Tools = append(s.Tools, samplingTool(t))
		}
	}
	switch {
	case r.Only != "":
		s.Choice = map[string]any{"mode": "required"}
	case r.Last && s.Tools != nil:
		s.Choice = map[string]any{"mode": "none"}
	}
	for _, m := range paired(r.Messages) {
		s.Messages = append(s.Messages, samplingMessages(m)...)
	}
	return s
}

// samplingMessages returns a message in the protocol's form: results are one of their own.
func samplingMessages(m Message) []samplingMessage {
	var results, parts []samplingPart
	var text []string
	for _, b := range m.Blocks {
		switch {
		case b.Result != nil:
			results = append(results, samplingPart{Type: "tool_result", CallID: b.Result.ID, Content: []samplingPart{{Type: "text", Text: b.Result.Text}}, Error: b.Result.Error})
		case b.Call != nil:
			parts = append(parts, samplingPart{Type: "tool_use", ID: b.Call.ID, Name: b.Call.Name, Input: b.Call.Arguments})
		case b.Text != "":
			text = append(text, b.Text)
		}
	}
	var list []samplingMessage
	if results != nil {
		list = append(list, samplingMessage{string(User), results})
	}
	said := samplingPart{Type: "text", Text: strings.Join(text, "\n\n")}
	switch {
	case parts == nil && text != nil:
		list = append(list, samplingMessage{string(m.Role), said})
	case text != nil:
		list = append(list, samplingMessage{string(m.Role), append([]samplingPart{said}, parts...)})
	case parts != nil:
		list = append(list, samplingMessage{string(m.Role), parts})
	}
	return list
}
