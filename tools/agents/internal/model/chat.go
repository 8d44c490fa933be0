package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolcrib/tools"
)

// object of JSON, whose keys are written in their order.
type fields = map[string]any

// chatBody writes a request in the dialect Chat.
func (e *Endpoint) chatBody(r *Request) ([]byte, error) {
	var messages []fields
	if r.System != "" {
		messages = append(messages, fields{"role": "system", "content": r.System})
	}
	for _, m := range r.Messages {
		if m.Model {
			messages = append(messages, e.chatTurn(m))
			continue
		}
		var text []string
		for _, b := range m.Blocks {
			switch b.Kind {
			case Result:
				messages = append(messages, fields{"role": "tool", "tool_call_id": b.ID, "content": b.Text})
			case Text:
				text = append(text, b.Text)
			}
		}
		if text != nil {
			messages = append(messages, fields{"role": "user", "content": strings.Join(text, "\n\n")})
		}
	}
	limit := e.MaxTokensField
	if limit == "" {
		limit = "max_tokens"
	}
	body := fields{
		"model": e.Model, "messages": messages, "stream": true, "stream_options": fields{"include_usage": true}, limit: e.limit(r),
	}
	if r.Temperature != nil {
		body["temperature"] = *r.Temperature
	}
	if len(r.Tools) > 0 {
		list := make([]fields, len(r.Tools))
		for i, t := range r.Tools {
			list[i] = fields{"type": "function", "function": fields{"name": t.Name, "description": t.Description, "parameters": t.Schema}}
		}
		body["tools"] = list
	}
	return e.encoded(body)
}

func (e *Endpoint) chatTurn(m Message) fields {
	said := fields{"role": "assistant", "content": nil}
	var text, thinking []string
	var calls []fields
	for _, b := range m.Blocks {
		switch b.Kind {
		case Text:
			text = append(text, b.Text)
		case Thinking:
			if e.ThinkingBack && b.Endpoint == e.Name {
				thinking = append(thinking, b.Text)
			}
		case Call:
			calls = append(calls, fields{"id": b.ID, "type": "function", "function": fields{"name": b.Name, "arguments": string(b.Args)}})
		}
	}
	if text != nil || calls == nil {
		said["content"] = strings.Join(text, "")
	}
	if thinking != nil {
		said["reasoning_content"] = strings.Join(thinking, "")
	}
	if calls != nil {
		said["tool_calls"] = calls
	}
	return said
}

// encoded adds what the endpoint wants besides.
func (e *Endpoint) encoded(body fields) ([]byte, error) {
	for name, value := range e.Extra {
		body[name] = value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(body) // keys are sorted: the same conversation begins with the same bytes
	return bytes.TrimSpace(b.Bytes()), err
}

// chatChunk is an event of Chat, or a whole answer, which has a message in the place of a delta.
type chatChunk struct {
	Choices []struct {
		Delta, Message chatDelta
		FinishReason   string `json:"finish_reason"`
	}
	Usage *chatUsage
	Error json.RawMessage
}

type chatDelta struct {
	Content          json.RawMessage
	Refusal          string
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string
	ToolCalls        []struct {
		Index    *int
		ID       string
		Function struct {
			Name      string
			Arguments json.RawMessage
		}
	} `json:"tool_calls"`
}

type chatUsage struct {
	PromptTokens     uint64 `json:"prompt_tokens"`
	CompletionTokens uint64 `json:"completion_tokens"`
	Prompt           struct {
		Cached uint64 `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Completion struct {
		Reasoning uint64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	CacheHit uint64 `json:"prompt_cache_hit_tokens"` // what DeepSeek calls it
}

// chatReader puts a turn of Chat together.
type chatReader struct {
	said
	calls []*partCall
	done  bool // [DONE], or a reason has come
}

// partCall is a call that comes in pieces.
type partCall struct {
	index    int // -1: it has none
	id, name string
	args     strings.Builder
}

func (c *chatReader) take(ev event) error {
	data := bytes.TrimSpace(ev.data)
	switch {
	case string(data) == "[DONE]":
		c.done = true
		return nil
	case ev.name == "error":
		return dropped(saidError(data))
	}
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return dropped(fmt.Sprintf("an event is no JSON: %.80q", data))
	}
	return c.takeChunk(&chunk)
}

func (c *chatReader) takeChunk(chunk *chatChunk) error {
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return dropped(saidError(chunk.Error))
	}
	if u := chunk.Usage; u != nil { // the newest counts: some send the sum with every chunk
		cached := min(max(u.Prompt.Cached, u.CacheHit), u.PromptTokens)
		c.usage = tools.Usage{In: u.PromptTokens - cached, CacheRead: cached, Out: u.CompletionTokens, Thinking: u.Completion.Reasoning}
		c.counted = true
	}
	for i, choice := range chunk.Choices {
		if i > 0 {
			break // only one is asked for
		}
		for _, d := range []*chatDelta{&choice.Delta, &choice.Message} {
			if err := c.takeDelta(d); err != nil {
				return err
			}
		}
		switch choice.FinishReason {
		case "":
			continue
		case "length", "max_tokens":
			c.end = Length
		case "content_filter", "sensitive", "refusal":
			c.end = Refused
		default: // stop, tool_calls, function_call and others' words
			if c.end == "" {
				c.end = Finished
			}
		}
		c.done = true
	}
	return nil
}

func (c *chatReader) takeDelta(d *chatDelta) error {
	if err := errors.Join(c.add(Thinking, d.ReasoningContent), c.add(Thinking, d.Reasoning), c.add(Text, chatText(d.Content))); err != nil {
		return err
	}
	if d.Refusal != "" {
		c.end = Refused
		if err := c.add(Text, d.Refusal); err != nil {
			return err
		}
	}
	for _, piece := range d.ToolCalls {
		index := -1
		if piece.Index != nil {
			index = *piece.Index
		}
		call := c.find(index, piece.ID, piece.Function.Name)
		if call == nil {
			if len(c.calls) == maxCalls {
				return tooMuch("calls")
			}
			call = &partCall{index: index}
			c.calls = append(c.calls, call)
		}
		if call.id == "" {
			call.id = piece.ID
		}
		if call.name == "" && piece.Function.Name != "" { // some repeat it
			call.name = piece.Function.Name
			c.tell(Delta{Kind: Call, Name: call.name})
		}
		text := jsonText(piece.Function.Arguments)
		call.args.WriteString(text)
		if err := c.weigh(len(text)); err != nil {
			return err
		}
	}
	return nil
}

// find returns the call that a piece belongs to, nil if it begins one: by its id, else by its
// index; a piece with neither goes on with the last call unless it has a name.
func (c *chatReader) find(index int, id, name string) *partCall {
	for _, call := range slices.Backward(c.calls) {
		switch {
		case id != "" && call.id == id:
			return call
		case index >= 0 && call.index == index && (id == "" || call.id == ""):
			return call
		}
	}
	if index < 0 && id == "" && name == "" && len(c.calls) > 0 {
		return c.calls[len(c.calls)-1]
	}
	return nil
}

func (c *chatReader) turn() ([]Block, error) {
	if !c.done && len(c.blocks) == 0 && len(c.calls) == 0 {
		return nil, dropped("the stream ended before the model said anything")
	}
	for i, call := range c.calls {
		args, wrong := object(call.args.String())
		if wrong != "" && !c.done {
			return nil, dropped("the stream ended in the middle of a call")
		}
		if c.end == Length && i == len(c.calls)-1 {
			wrong = cutCall
		}
		if call.id == "" {
			call.id = fmt.Sprintf("call_%d", i+1) // some servers give none; results name it
		}
		c.blocks = append(c.blocks, Block{Kind: Call, ID: call.id, Name: call.name, Args: args, Wrong: wrong})
	}
	if !c.done {
		c.note("the stream ended without saying that it was complete")
	}
	if c.end == "" || c.end == Finished {
		c.end = Finished
		if len(c.calls) > 0 {
			c.end = Calls
		}
	}
	return c.blocks, nil
}

// cutCall is why a call at the limit of tokens is not made.
const cutCall = "the limit of tokens was reached in this call, so that its arguments may be cut; make it again, with less"

// whole takes an answer that is no stream.
func (c *chatReader) whole(data []byte) error {
	var chunk chatChunk
	if err := json.Unmarshal(data, &chunk); err != nil {
		return dropped("the answer is no JSON")
	}
	if len(chunk.Choices) == 0 && chunk.Error == nil {
		return dropped("the answer has no choice")
	}
	return c.takeChunk(&chunk)
}

// chatText reads content, which is a text or a list of parts.
func chatText(raw json.RawMessage) string {
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) != nil {
		var text string
		_ = json.Unmarshal(raw, &text) // null and others are none
		return text
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// jsonText reads arguments, which are a text of JSON or, from some servers, the JSON itself.
func jsonText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// saidError is the message in an error that a provider sends.
func saidError(raw []byte) string {
	var e struct {
		Message string
		Type    string
		Error   json.RawMessage
	}
	if json.Unmarshal(raw, &e) == nil {
		switch {
		case len(e.Error) > 0 && e.Error[0] == '{':
			return saidError(e.Error)
		case len(e.Error) > 0:
			return jsonText(e.Error)
		case e.Message != "" && e.Type != "" && e.Type != "error":
			return e.Type + ": " + e.Message
		case e.Message != "":
			return e.Message
		}
	}
	return strings.TrimSpace(fmt.Sprintf("%.300s", raw))
}
