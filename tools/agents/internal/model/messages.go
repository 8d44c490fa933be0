package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// messagesVersion is the version of Messages that this package speaks.
const messagesVersion = "2023-06-01"

// messagesBody writes a request in the dialect Messages. What stays the same from turn to turn
// ends with marks for the cache: tools, system, and the last two messages of the user.
func (e *Endpoint) messagesBody(r *Request) ([]byte, error) {
	mark := fields{"type": "ephemeral"}
	var messages []fields
	last := map[int]fields{} // blocks that get a mark
	for i, m := range r.Messages {
		role := "user"
		if m.Model {
			role = "assistant"
		}
		var blocks []fields
		for _, b := range m.Blocks {
			if block := e.messagesBlock(b); block != nil {
				blocks = append(blocks, block)
			}
		}
		if len(blocks) == 0 {
			continue
		}
		messages = append(messages, fields{"role": role, "content": blocks})
		if !m.Model {
			last[i] = blocks[len(blocks)-1]
		}
	}
	marked := 0
	for i := len(r.Messages) - 1; i >= 0 && marked < 2; i-- {
		if block := last[i]; block != nil {
			block["cache_control"] = mark
			marked++
		}
	}
	body := fields{"model": e.Model, "messages": messages, "stream": true, "max_tokens": e.limit(r)}
	if r.System != "" {
		body["system"] = []fields{{"type": "text", "text": r.System, "cache_control": mark}}
	}
	if r.Temperature != nil {
		body["temperature"] = *r.Temperature
	}
	if len(r.Tools) > 0 {
		list := make([]fields, len(r.Tools))
		for i, t := range r.Tools {
			list[i] = fields{"name": t.Name, "description": t.Description, "input_schema": t.Schema}
		}
		list[len(list)-1]["cache_control"] = mark
		body["tools"] = list
	}
	return e.encoded(body)
}

// messagesBlock writes a block; nil = it is left out. Thinking of another endpoint is: its
// signature would be refused.
func (e *Endpoint) messagesBlock(b Block) fields {
	switch b.Kind {
	case Text:
		if strings.TrimSpace(b.Text) == "" {
			return nil // is refused
		}
		return fields{"type": "text", "text": b.Text}
	case Thinking:
		switch {
		case b.Endpoint != e.Name:
			return nil
		case b.Redacted != "":
			return fields{"type": "redacted_thinking", "data": b.Redacted}
		case b.Signature != "":
			return fields{"type": "thinking", "thinking": b.Text, "signature": b.Signature}
		}
		return nil
	case Call:
		return fields{"type": "tool_use", "id": b.ID, "name": b.Name, "input": b.Args}
	case Result:
		block := fields{"type": "tool_result", "tool_use_id": b.ID, "content": b.Text}
		if b.Failed {
			block["is_error"] = true
		}
		return block
	}
	return nil
}

// messagesEvent is an event of Messages, or a whole answer.
type messagesEvent struct {
	Type    string
	Index   int
	Message struct{ Usage messagesUsage }
	Block   messagesBlock `json:"content_block"`
	Delta   struct {
		Type, Text, Thinking, Signature string
		PartialJSON                     string `json:"partial_json"`
		StopReason                      string `json:"stop_reason"`
	}
	Usage messagesUsage
	Error json.RawMessage

	Content    []messagesBlock
	StopReason string `json:"stop_reason"`
}

type messagesBlock struct {
	Type, Text, Thinking, Signature, Data, ID, Name string
	Input                                           json.RawMessage
}

type messagesUsage struct {
	In         *uint64 `json:"input_tokens"`
	Out        *uint64 `json:"output_tokens"`
	CacheRead  *uint64 `json:"cache_read_input_tokens"`
	CacheWrite *uint64 `json:"cache_creation_input_tokens"`
}

// messagesReader puts a turn of Messages together.
type messagesReader struct {
	said
	open map[int]*openBlock
	done bool
}

// openBlock is a block that has not ended.
type openBlock struct {
	at   int // among the blocks
	args strings.Builder
}

func (m *messagesReader) take(ev event) error {
	var e messagesEvent
	if err := json.Unmarshal(ev.data, &e); err != nil {
		return dropped(fmt.Sprintf("an event is no JSON: %.80q", ev.data))
	}
	switch e.Type {
	case "error":
		return dropped(saidError(e.Error))
	case "message_start":
		m.count(e.Message.Usage)
	case "content_block_start":
		return m.begin(e.Index, e.Block)
	case "content_block_delta":
		return m.goOn(e)
	case "content_block_stop":
		m.finish(e.Index)
	case "message_delta":
		m.count(e.Usage)
		m.stop(e.Delta.StopReason)
	case "message_stop":
		m.done = true
	}
	return nil // ping, and what is not known yet
}

// count takes sums, which replace what was counted before.
func (m *messagesReader) count(u messagesUsage) {
	for to, n := range map[*uint64]*uint64{&m.usage.In: u.In, &m.usage.Out: u.Out, &m.usage.CacheRead: u.CacheRead, &m.usage.CacheWrite: u.CacheWrite} {
		if n != nil {
			*to, m.counted = *n, true
		}
	}
}

func (m *messagesReader) begin(index int, b messagesBlock) error {
	if m.open == nil {
		m.open = map[int]*openBlock{}
	}
	if len(m.blocks) == maxCalls {
		return tooMuch("blocks")
	}
	block := Block{Text: b.Text}
	switch b.Type {
	case "text":
		block.Kind = Text
	case "thinking":
		block = Block{Kind: Thinking, Text: b.Thinking, Signature: b.Signature, Endpoint: m.endpoint}
	case "redacted_thinking":
		block = Block{Kind: Thinking, Redacted: b.Data, Endpoint: m.endpoint}
	case "tool_use":
		block = Block{Kind: Call, ID: b.ID, Name: b.Name}
		m.tell(Delta{Kind: Call, Name: b.Name})
	default:
		return nil // of a tool of the provider
	}
	m.open[index] = &openBlock{at: len(m.blocks)}
	m.blocks = append(m.blocks, block)
	if text := b.Text + b.Thinking; text != "" {
		m.tell(Delta{Kind: block.Kind, Text: text})
	}
	if len(b.Input) > 2 && b.Type == "tool_use" { // whole at once
		m.open[index].args.Write(b.Input)
	}
	return m.weigh(len(b.Text) + len(b.Thinking) + len(b.Data) + len(b.Input))
}

func (m *messagesReader) goOn(e messagesEvent) error {
	open := m.open[e.Index]
	if open == nil {
		return nil
	}
	block, d := &m.blocks[open.at], e.Delta
	block.Text += d.Text + d.Thinking
	block.Signature += d.Signature
	open.args.WriteString(d.PartialJSON)
	if text := d.Text + d.Thinking; text != "" {
		m.tell(Delta{Kind: block.Kind, Text: text})
	}
	return m.weigh(len(d.Text) + len(d.Thinking) + len(d.PartialJSON) + len(d.Signature))
}

func (m *messagesReader) finish(index int) {
	if open := m.open[index]; open != nil {
		if block := &m.blocks[open.at]; block.Kind == Call {
			block.Args, block.Wrong = object(open.args.String())
		}
		delete(m.open, index)
	}
}

func (m *messagesReader) stop(reason string) {
	switch reason {
	case "":
		return
	case "max_tokens", "model_context_window_exceeded":
		m.end = Length
	case "refusal":
		m.end = Refused
	case "pause_turn":
		m.end = Paused
	case "tool_use":
		m.end = Calls
	default: // end_turn, stop_sequence
		m.end = Finished
	}
}

func (m *messagesReader) turn() ([]Block, error) {
	if m.end == "" {
		return nil, dropped("the stream ended before the turn did")
	}
	for index, open := range m.open { // what the limit has cut
		block := &m.blocks[open.at]
		m.finish(index)
		if block.Kind == Call {
			block.Wrong = cutCall
		}
	}
	if n := len(m.blocks); m.end == Length && n > 0 && m.blocks[n-1].Kind == Call {
		m.blocks[n-1].Wrong = cutCall // it may have ended before its arguments
	}
	if !m.done {
		m.note("the stream ended without saying that it was complete")
	}
	var kept []Block
	for _, b := range m.blocks {
		if b.Kind != Text || b.Text != "" {
			kept = append(kept, b)
		}
	}
	return kept, nil
}

// whole takes an answer that is no stream.
func (m *messagesReader) whole(data []byte) error {
	var e messagesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return dropped("the answer is no JSON")
	}
	if len(e.Error) > 0 {
		return dropped(saidError(e.Error))
	}
	var errs []error
	for i, b := range e.Content {
		errs = append(errs, m.begin(i, b))
		m.finish(i)
	}
	m.count(e.Usage)
	m.stop(e.StopReason)
	m.done = true
	return errors.Join(errs...)
}
