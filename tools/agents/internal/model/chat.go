package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
)

// The request of chat completions.
type (
	chatMessage struct {
		Role      string     `json:"role"`
		Content   *string    `json:"content"`
		Reasoning string     `json:"reasoning_content,omitempty"`
		Calls     []chatCall `json:"tool_calls,omitempty"`
		CallID    string     `json:"tool_call_id,omitempty"`
	}
	chatCall struct {
		ID       string          `json:"id"`
		Type     string          `json:"type"`
		Function chatFunction    `json:"function"`
		Extra    json.RawMessage `json:"extra_content,omitempty"`
	}
	chatFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
		Arguments   *string         `json:"arguments,omitempty"`
	}
	chatTool struct {
		Type     string       `json:"type"`
		Function chatFunction `json:"function"`
	}
)

// chatBody returns the request's body, whose fields have the order of their names.
func chatBody(e *Endpoint, r Request) ([]byte, error) {
	p := e.provider()
	body := map[string]any{"model": e.Model, "stream": true, "stream_options": map[string]any{"include_usage": true}}
	body["messages"] = chatMessages(e, r)
	if len(r.Tools) > 0 {
		var list []chatTool
		for _, t := range r.Tools {
			list = append(list, chatTool{"function", chatFunction{Name: t.Name, Description: t.Description, Parameters: t.Schema}})
		}
		body["tools"] = list
		switch {
		case r.Only != "":
			body["tool_choice"] = chatTool{"function", chatFunction{Name: r.Only}}
		case r.Last:
			body["tool_choice"] = "none"
		}
	}
	options(body, e, p, r)
	return json.Marshal(body)
}

// options sets what both dialects have in common.
func options(body map[string]any, e *Endpoint, p provider, r Request) {
	_, limit := e.Tokens()
	limit = cmp.Or(r.MaxOutput, limit)
	body[p.limit] = limit
	level := cmp.Or(r.Thinking, e.Thinking)
	if level != "" {
		field, value := p.thinking(level, limit)
		body[field] = value
	}
	if r.Temperature != nil && (!p.fixed || level == "" || level == "off") {
		body["temperature"] = *r.Temperature
	}
}

func chatMessages(e *Endpoint, r Request) []chatMessage {
	var list []chatMessage
	if r.System != "" {
		list = append(list, chatMessage{Role: "system", Content: &r.System})
	}
	for _, m := range paired(r.Messages) {
		if m.Role == Assistant {
			list = append(list, chatAnswer(e, m))
			continue
		}
		var text []string
		for _, b := range m.Blocks {
			switch {
			case b.Result != nil:
				list = append(list, chatMessage{Role: "tool", Content: new(resultText(b.Result)), CallID: b.Result.ID})
			case b.Text != "":
				text = append(text, b.Text)
			}
		}
		if len(text) > 0 {
			list = append(list, chatMessage{Role: "user", Content: new(strings.Join(text, "\n\n"))})
		}
	}
	return list
}

// resultText tells errors by their text, since the dialect has no mark for them.
func resultText(r *Result) string {
	if r.Error && !strings.HasPrefix(r.Text, "error") {
		return "error: " + r.Text
	}
	return r.Text
}

func chatAnswer(e *Endpoint, m Message) chatMessage {
	answer := chatMessage{Role: "assistant"}
	var text strings.Builder
	for _, b := range m.Blocks {
		switch {
		case b.Text != "":
			text.WriteString(b.Text)
		case b.Thinking != nil && e.provider().returns && b.Thinking.From == e.String():
			answer.Reasoning += b.Thinking.Text
		case b.Call != nil:
			c := chatCall{ID: b.Call.ID, Type: "function", Function: chatFunction{Name: b.Call.Name, Arguments: new(string(b.Call.Arguments))}}
			if b.Call.From == e.String() {
				c.Extra = b.Call.Extra
			}
			answer.Calls = append(answer.Calls, c)
		}
	}
	if text.Len() > 0 || len(answer.Calls) == 0 {
		answer.Content = new(text.String())
	}
	return answer
}

// The answer of chat completions, as a whole or in pieces.
type (
	chatChunk struct {
		Choices []struct {
			Index   int        `json:"index"`
			Delta   *chatDelta `json:"delta"`
			Message *chatDelta `json:"message"`
			Finish  string     `json:"finish_reason"`
		} `json:"choices"`
		Usage *chatUsage      `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	chatDelta struct {
		Content          chatText   `json:"content"`
		ReasoningContent string     `json:"reasoning_content"`
		Reasoning        string     `json:"reasoning"`
		Refusal          string     `json:"refusal"`
		Calls            []chatPart `json:"tool_calls"`
	}
	chatPart struct {
		Index    *int            `json:"index"`
		ID       string          `json:"id"`
		Extra    json.RawMessage `json:"extra_content"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	}
	chatUsage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Hit        int `json:"prompt_cache_hit_tokens"`
		Details    struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		OutDetails struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
)

// chatText is a text, or a list of parts that have texts.
type chatText string

func (t *chatText) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		var parts []struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(data, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			*t += chatText(p.Text)
		}
		return nil
	}
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	if text != nil {
		*t = chatText(*text)
	}
	return nil
}

// chatPartial is what has arrived of a chat completion.
type chatPartial struct {
	from           string
	number         int // of the turn in its conversation, for calls without an ID
	on             func(Event)
	text, thinking strings.Builder
	calls          []*chatPartialCall
	finish         string
	done           bool // [DONE], or one object
	use            Use
	size           int
}

type chatPartialCall struct {
	index     int
	id, name  string
	arguments strings.Builder
	extra     json.RawMessage
}

func (p *chatPartial) arrived() (int, Use) { return p.size, p.use }

func (p *chatPartial) event(e event) (news, last bool, err error) {
	data := bytes.TrimSpace(e.data)
	if string(data) == "[DONE]" {
		p.done = true
		return true, true, nil
	}
	before := p.size
	if err := p.take(data); err != nil {
		return false, false, err
	}
	if e.name == "error" {
		return false, false, streamError(data)
	}
	return p.size > before || p.finish != "", false, nil
}

func (p *chatPartial) whole(body []byte) error {
	p.done = true
	return p.take(body)
}

// take takes one object: a piece, or an answer.
func (p *chatPartial) take(data []byte) error {
	var c chatChunk
	if err := json.Unmarshal(data, &c); err != nil {
		return &Error{Reason: Format, Say: fmt.Sprintf("the answer is not JSON as a chat completion has it: %s", short(data))}
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return streamError(data)
	}
	if c.Usage != nil { // the last counts: some send the sum so far with every piece
		cached := max(c.Usage.Details.Cached, c.Usage.Hit)
		p.use = Use{In: max(c.Usage.Prompt-cached, 0), CacheRead: cached, Out: c.Usage.Completion, Thinking: c.Usage.OutDetails.Reasoning}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 {
			continue
		}
		for _, d := range []*chatDelta{choice.Delta, choice.Message} {
			if d != nil {
				p.delta(d)
			}
		}
		p.finish = cmp.Or(choice.Finish, p.finish)
	}
	return nil
}

func (p *chatPartial) delta(d *chatDelta) {
	if thinking := cmp.Or(d.ReasoningContent, d.Reasoning); thinking != "" {
		p.thinking.WriteString(thinking)
		p.size += len(thinking)
		p.on(Event{Thinking: thinking})
	}
	if text := cmp.Or(string(d.Content), d.Refusal); text != "" {
		p.text.WriteString(text)
		p.size += len(text)
		p.on(Event{Text: text})
	}
	for _, part := range d.Calls {
		c := p.call(part)
		c.name = cmp.Or(c.name, part.Function.Name) // some repeat it
		c.extra = cmpRaw(c.extra, part.Extra)
		arguments := argumentsText(part.Function.Arguments)
		c.arguments.WriteString(arguments)
		p.size += len(arguments) + len(part.Function.Name)
	}
}

// call returns the call that a piece is of: by its index, unless another ID under the same
// index begins another call; without an index by its ID; without both the last one.
func (p *chatPartial) call(part chatPart) *chatPartialCall {
	var found *chatPartialCall
	for _, c := range p.calls {
		switch {
		case part.Index != nil && c.index == *part.Index && (part.ID == "" || c.id == "" || part.ID == c.id):
			found = c
		case part.Index == nil && part.ID != "" && c.id == part.ID:
			found = c
		}
	}
	begins := part.ID != "" || part.Function.Name != ""
	if found == nil && part.Index == nil && !begins && len(p.calls) > 0 {
		found = p.calls[len(p.calls)-1]
	}
	if found == nil {
		found = &chatPartialCall{index: len(p.calls)}
		if part.Index != nil {
			found.index = *part.Index
		}
		p.calls = append(p.calls, found)
	}
	found.id = cmp.Or(found.id, part.ID)
	return found
}

// argumentsText returns a piece of a call's arguments: of a text, or the whole object.
func argumentsText(raw json.RawMessage) string {
	var text *string
	if err := json.Unmarshal(raw, &text); err == nil {
		if text == nil {
			return ""
		}
		return *text
	}
	return string(raw)
}

func cmpRaw(a, b json.RawMessage) json.RawMessage {
	if len(a) > 0 {
		return a
	}
	return b
}

func (p *chatPartial) turn() (*Turn, error) {
	t := &Turn{From: p.from, Use: p.use}
	if p.thinking.Len() > 0 {
		t.Blocks = append(t.Blocks, Block{Thinking: &Thinking{Text: p.thinking.String(), From: p.from}})
	}
	if p.text.Len() > 0 {
		t.Blocks = append(t.Blocks, Block{Text: p.text.String()})
	}
	switch p.finish {
	case "error":
		return nil, &Error{Reason: Broken, Say: "the service ended the answer with an error"}
	case "length":
		t.End = Length
	case "content_filter", "sensitive":
		t.End = Refused
	default: // stop, tool_calls, function_call, and what else there is
		t.End = Stop
	}
	whole := true
	for i, part := range p.calls {
		id := cmp.Or(part.id, fmt.Sprintf("call_%d_%d", p.number, i))
		c := newCall(id, part.name, part.arguments.String(), p.from)
		c.Extra = part.extra
		c.Cut = t.End == Length && i == len(p.calls)-1
		whole = whole && c.Wrong == ""
		t.Blocks = append(t.Blocks, Block{Call: c})
	}
	if p.finish == "" && !p.done && (len(t.Blocks) == 0 || !whole) {
		return nil, &Error{Reason: Broken, Say: "the answer broke off"}
	}
	if p.finish == "" && len(t.Blocks) == 0 {
		return nil, &Error{Reason: Format, Say: "the answer has no choice"}
	}
	if len(p.calls) > 0 && t.End == Stop {
		t.End = Calls
	}
	for _, b := range t.Blocks {
		if b.Call != nil {
			p.on(Event{Call: b.Call})
		}
	}
	return t, nil
}
