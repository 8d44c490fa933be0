package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// The request of messages.
type (
	messagesTurn struct {
		Role    string         `json:"role"`
		Content []messagesPart `json:"content"`
	}
	messagesPart struct {
		Type      string          `json:"type"`
		Text      string          `json:"text,omitempty"`
		Thinking  *string         `json:"thinking,omitempty"`
		Signature string          `json:"signature,omitempty"`
		Data      string          `json:"data,omitempty"`
		ID        string          `json:"id,omitempty"`
		Name      string          `json:"name,omitempty"`
		Input     json.RawMessage `json:"input,omitempty"`
		CallID    string          `json:"tool_use_id,omitempty"`
		Content   string          `json:"content,omitempty"`
		Error     bool            `json:"is_error,omitempty"`
		Cache     *messagesCache  `json:"cache_control,omitempty"`
	}
	messagesTool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Cache       *messagesCache  `json:"cache_control,omitempty"`
	}
	messagesCache struct {
		Type string `json:"type"`
	}
)

// upToHere marks the end of what the provider keeps for the next turn.
var upToHere = &messagesCache{"ephemeral"}

// messagesBody returns the request's body. Its marks for the provider's cache, four at most,
// are at the last tool, the system prompt and the last two messages of the user: the next turn
// finds what this one has read.
func messagesBody(e *Endpoint, r Request) ([]byte, error) {
	p := e.provider()
	body := map[string]any{"model": e.Model, "stream": true}
	turns := messagesTurns(e, r)
	marks := 0
	for _, t := range slices.Backward(turns) {
		if t.Role == string(User) && marks < 2 {
			t.Content[len(t.Content)-1].Cache = upToHere
			marks++
		}
	}
	body["messages"] = turns
	if r.System != "" {
		body["system"] = []messagesPart{{Type: "text", Text: r.System, Cache: upToHere}}
	}
	if len(r.Tools) > 0 {
		list := make([]messagesTool, len(r.Tools))
		for i, t := range r.Tools {
			list[i] = messagesTool{Name: t.Name, Description: t.Description, Schema: t.Schema}
		}
		list[len(list)-1].Cache = upToHere
		body["tools"] = list
		switch {
		case r.Only != "":
			body["tool_choice"] = map[string]any{"type": "tool", "name": r.Only}
		case r.Last:
			body["tool_choice"] = map[string]any{"type": "none"}
		}
	}
	if r.Only != "" || !mayThink(e, r.Messages) { // the provider refuses to think before a forced call
		r.Thinking = "off"
	}
	options(body, e, p, r)
	return json.Marshal(body)
}

// mayThink reports whether the model may think before it goes on. Not if it is to go on after
// results of calls before which it did not think: the provider refuses that.
func mayThink(e *Endpoint, messages []Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role == User {
			if !slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Result != nil }) {
				return true
			}
			continue
		}
		return slices.ContainsFunc(m.Blocks, func(b Block) bool { return b.Thinking != nil && b.Thinking.From == e.String() })
	}
	return true
}

// messagesTurns joins messages of one role, since the dialect wants the roles in turn.
func messagesTurns(e *Endpoint, r Request) []messagesTurn {
	var list []messagesTurn
	for _, m := range paired(r.Messages) {
		parts := messagesParts(e, m)
		if len(parts) == 0 {
			continue
		}
		if n := len(list); n > 0 && list[n-1].Role == string(m.Role) {
			list[n-1].Content = append(list[n-1].Content, parts...)
		} else {
			list = append(list, messagesTurn{string(m.Role), parts})
		}
	}
	return list
}

func messagesParts(e *Endpoint, m Message) []messagesPart {
	var results, parts []messagesPart // results come first in a message
	for _, b := range m.Blocks {
		switch {
		case strings.TrimSpace(b.Text) != "":
			parts = append(parts, messagesPart{Type: "text", Text: b.Text})
		case b.Thinking != nil && b.Thinking.From == e.String():
			if b.Thinking.Hidden != "" {
				parts = append(parts, messagesPart{Type: "redacted_thinking", Data: b.Thinking.Hidden})
			} else if b.Thinking.Signature != "" {
				parts = append(parts, messagesPart{Type: "thinking", Thinking: &b.Thinking.Text, Signature: b.Thinking.Signature})
			}
		case b.Call != nil:
			parts = append(parts, messagesPart{Type: "tool_use", ID: plainID(b.Call.ID), Name: b.Call.Name, Input: b.Call.Arguments})
		case b.Result != nil:
			results = append(results, messagesPart{Type: "tool_result", CallID: plainID(b.Result.ID), Content: b.Result.Text, Error: b.Result.Error})
		}
	}
	return append(results, parts...)
}

// plainID returns the ID of a call in the characters that the dialect takes. IDs of other
// providers have more.
func plainID(id string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, id)
}

// The answer of messages: an event, or a message.
type (
	messagesEvent struct {
		Type    string           `json:"type"`
		Index   int              `json:"index"`
		Message *messagesMessage `json:"message"`
		Block   *messagesBlock   `json:"content_block"`
		Delta   struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			JSON       string `json:"partial_json"`
			Thinking   string `json:"thinking"`
			Signature  string `json:"signature"`
			StopReason string `json:"stop_reason"`
		} `json:"delta"`
		Usage *messagesUsage `json:"usage"`
	}
	messagesMessage struct {
		Type       string          `json:"type"`
		Content    []messagesBlock `json:"content"`
		StopReason string          `json:"stop_reason"`
		Usage      *messagesUsage  `json:"usage"`
	}
	messagesBlock struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
	messagesUsage struct {
		In         *int `json:"input_tokens"`
		Out        *int `json:"output_tokens"`
		CacheRead  *int `json:"cache_read_input_tokens"`
		CacheWrite *int `json:"cache_creation_input_tokens"`
	}
)

// messagesPartial is what has arrived of a message.
type messagesPartial struct {
	from   string
	number int
	on     func(Event)
	blocks []*messagesPartialBlock
	stop   string
	ended  bool // message_stop, or one object
	use    Use
	size   int
}

type messagesPartialBlock struct {
	messagesBlock
	index int
	input strings.Builder
	whole bool
}

func (p *messagesPartial) arrived() (int, Use) { return p.size, p.use }

func (p *messagesPartial) event(e event) (news, last bool, err error) {
	var m messagesEvent
	if err := json.Unmarshal(e.data, &m); err != nil {
		return false, false, &Error{Reason: Format, Say: fmt.Sprintf("the answer is not JSON as a message has it: %s", short(e.data))}
	}
	switch cmp.Or(m.Type, e.name) {
	case "error":
		return false, false, streamError(e.data)
	case "message_start":
		if m.Message != nil {
			p.usage(m.Message.Usage)
		}
	case "content_block_start":
		if m.Block != nil {
			p.begin(m.Index, *m.Block)
		}
	case "content_block_delta":
		p.more(m)
	case "content_block_stop":
		if b := p.block(m.Index); b != nil {
			b.whole = true
		}
	case "message_delta":
		p.stop = cmp.Or(m.Delta.StopReason, p.stop)
		p.usage(m.Usage)
	case "message_stop":
		p.ended = true
		return true, true, nil
	default: // ping, and what is to come
		return false, false, nil
	}
	return true, false, nil
}

func (p *messagesPartial) whole(body []byte) error {
	var m messagesMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return &Error{Reason: Format, Say: fmt.Sprintf("the answer is not JSON as a message has it: %s", short(body))}
	}
	if m.Type == "error" {
		return streamError(body)
	}
	if m.Content == nil && m.StopReason == "" {
		return &Error{Reason: Format, Say: fmt.Sprintf("the answer is no message: %s", short(body))}
	}
	for i, b := range m.Content {
		p.begin(i, b)
		p.blocks[i].whole = true
	}
	p.usage(m.Usage)
	p.stop, p.ended = m.StopReason, true
	return nil
}

// usage takes counts that are sums so far. What is missing stays.
func (p *messagesPartial) usage(u *messagesUsage) {
	if u == nil {
		return
	}
	for _, count := range []struct {
		to   *int
		from *int
	}{{&p.use.In, u.In}, {&p.use.Out, u.Out}, {&p.use.CacheRead, u.CacheRead}, {&p.use.CacheWrite, u.CacheWrite}} {
		if count.from != nil {
			*count.to = max(*count.to, *count.from)
		}
	}
}

func (p *messagesPartial) begin(index int, b messagesBlock) {
	block := &messagesPartialBlock{messagesBlock: b, index: index}
	if input := strings.TrimSpace(string(b.Input)); input != "" && input != "{}" && input != "null" {
		block.input.WriteString(input)
	}
	p.blocks = append(p.blocks, block)
	p.report(b.Text, b.Thinking)
	p.size += len(b.Text) + len(b.Thinking) + block.input.Len()
}

// report passes on what is new; an event has one of them.
func (p *messagesPartial) report(text, thinking string) {
	if text != "" {
		p.on(Event{Text: text})
	}
	if thinking != "" {
		p.on(Event{Thinking: thinking})
	}
}

func (p *messagesPartial) block(index int) *messagesPartialBlock {
	for _, b := range slices.Backward(p.blocks) {
		if b.index == index {
			return b
		}
	}
	return nil
}

func (p *messagesPartial) more(m messagesEvent) {
	b := p.block(m.Index)
	if b == nil {
		return
	}
	d := m.Delta
	b.Text += d.Text
	b.Thinking += d.Thinking
	b.Signature += d.Signature
	b.input.WriteString(d.JSON)
	p.size += len(d.Text) + len(d.Thinking) + len(d.JSON)
	p.report(d.Text, d.Thinking)
}

func (p *messagesPartial) turn() (*Turn, error) {
	if !p.ended && p.stop == "" {
		return nil, &Error{Reason: Broken, Say: "the answer broke off"}
	}
	t := &Turn{From: p.from, Use: p.use}
	switch p.stop {
	case "max_tokens":
		t.End = Length
	case "model_context_window_exceeded":
		t.End = Window
	case "refusal":
		t.End = Refused
	case "pause_turn":
		t.End = Pause
	default:
		t.End = Stop
	}
	for i, b := range p.blocks {
		switch b.Type {
		case "text":
			if b.Text != "" {
				t.Blocks = append(t.Blocks, Block{Text: b.Text})
			}
		case "thinking":
			t.Blocks = append(t.Blocks, Block{Thinking: &Thinking{Text: b.Thinking, Signature: b.Signature, From: p.from}})
		case "redacted_thinking":
			t.Blocks = append(t.Blocks, Block{Thinking: &Thinking{Hidden: b.Data, From: p.from}})
		case "tool_use":
			c := newCall(cmp.Or(b.ID, fmt.Sprintf("call_%d_%d", p.number, i)), b.Name, b.input.String(), p.from)
			c.Cut = !b.whole || (t.End == Length || t.End == Window) && i == len(p.blocks)-1
			t.Blocks = append(t.Blocks, Block{Call: c})
			if t.End == Stop {
				t.End = Calls
			}
			p.on(Event{Call: c})
		}
	}
	return t, nil
}
