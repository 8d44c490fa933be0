// Package model speaks to language models over HTTP in two dialects: Chat Completions, as OpenAI
// began it and most others follow, and Messages, that of Anthropic. A turn of a conversation goes
// out and comes back as a stream; what a provider does its own way stands in its [Endpoint].
//
// Start at [Client.Turn]. chat.go and messages.go are the dialects, events.go reads their streams,
// try.go says what is tried again. The package imports the contract of tools and the client of
// HTTP, and must not import a category.
package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"toolcrib/tools"
)

// Dialect is how an endpoint speaks.
type Dialect string

// The dialects.
const (
	Chat     Dialect = "chat"     // POST URL/chat/completions
	Messages Dialect = "messages" // POST URL/v1/messages
)

// Endpoint is a model that can be asked. Only Name, Dialect, URL and Model must be set.
type Endpoint struct {
	Name    string // of the entry in the configuration
	Dialect Dialect
	URL     string // without the path of the dialect
	Model   string // as the endpoint calls it
	// Key returns the key; nil = none is sent. It is asked for each request, so that a file may
	// be renewed.
	Key func() (string, error)
	// MaxTokens is the most that the model writes in a turn; 0 = 8192.
	MaxTokens int
	// MaxTokensField is what Chat calls that limit; "" = max_tokens.
	MaxTokensField string
	// Extra are fields of the request that the model needs, such as thinking.
	Extra map[string]json.RawMessage
	// ThinkingBack: the model wants its own thinking sent back in Chat. Messages always does.
	ThinkingBack bool
	// Idle is how long the stream may be silent; 0 = two minutes.
	Idle time.Duration
	// Prices are for a million tokens; nil = not known.
	Prices *Prices
}

// Prices are for a million tokens.
type Prices struct{ In, Out, CacheRead, CacheWrite float64 }

// Limits of a turn.
const (
	usualTokens = 8192
	usualIdle   = 2 * time.Minute
	maxStream   = 32 << 20 // bytes
	maxSaid     = 8 << 20  // bytes of text, thinking and arguments
	maxCalls    = 128      // of tools
)

// Kind is the kind of a Block.
type Kind string

// The kinds.
const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Call     Kind = "tool_call"
	Result   Kind = "tool_result"
)

// Block is a piece of a message.
type Block struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"` // of a Result, what the tool has said

	// Of Thinking, which goes back to the endpoint that made it as it is:
	Endpoint  string `json:"endpoint,omitempty"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"` // instead of Text

	// Of a Call and its Result:
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name,omitempty"`
	Args json.RawMessage `json:"args,omitempty"` // an object
	// Wrong says why a Call must not be made: its arguments are cut or no object.
	Wrong  string `json:"wrong,omitempty"`
	Failed bool   `json:"failed,omitempty"` // the Result is an error
}

// Message is what the user or the model says. The results of calls are the user's.
type Message struct {
	Model  bool    `json:"model"`
	Blocks []Block `json:"blocks"`
}

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage
}

// Request is a conversation that the model continues. System and Tools stay the same over all
// turns, byte by byte, so that providers find them in their caches.
type Request struct {
	System      string
	Tools       []Tool
	Messages    []Message
	MaxTokens   int // 0 = that of the endpoint, which it never exceeds
	Temperature *float64
}

// End is why the model stopped.
type End string

// The ends.
const (
	Finished End = "finished"
	Calls    End = "tool_calls"
	Length   End = "length"  // it has reached the limit of tokens
	Refused  End = "refused" // by the model or a filter
	Paused   End = "paused"  // it wants to go on: send the turn back as it is
)

// Turn is what the model has said.
type Turn struct {
	Blocks   []Block
	End      End
	Endpoint string // that has answered
	// Usage is what all tries have taken; Estimated: the endpoint has not said all of it.
	Usage     tools.Usage
	Estimated bool
	// Notes say what went wrong on the way and what was done.
	Notes []string
}

// Delta is news of a turn while it comes in.
type Delta struct {
	Kind    Kind
	Text    string // is added to what came before
	Name    string // of a Call, when it begins
	Dropped bool   // the turn begins again: what came before does not count
}

// toolName is what every provider takes as the name of a tool.
func toolName(name string) bool {
	return len(name) > 0 && len(name) <= 64 && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	}) < 0
}

// check returns what no provider would take.
func (r *Request) check() error {
	if len(r.Messages) == 0 || r.Messages[len(r.Messages)-1].Model {
		return tools.Errorf(tools.InvalidArgument, "the last message must be the user's")
	}
	for _, t := range r.Tools {
		if !toolName(t.Name) {
			return tools.Errorf(tools.InvalidArgument, "models take no tool that is called %q", t.Name)
		}
	}
	return nil
}

// Settle gives every call that has no result one that says why, and puts results in the order of
// their calls: providers refuse calls without results and results without calls.
func Settle(messages []Message, why string) []Message {
	var out []Message
	for i, m := range messages {
		var calls []Block
		for _, b := range m.Blocks {
			if m.Model && b.Kind == Call {
				calls = append(calls, b)
			}
		}
		if !m.Model && i > 0 && messages[i-1].Model {
			m.Blocks = slices.DeleteFunc(slices.Clone(m.Blocks), func(b Block) bool { return b.Kind == Result }) // they stand with their calls
		}
		if len(m.Blocks) > 0 {
			out = append(out, m)
		}
		if len(calls) == 0 {
			continue
		}
		var results []Block
		for _, c := range calls {
			result := Block{Kind: Result, ID: c.ID, Name: c.Name, Text: why, Failed: true}
			if i+1 < len(messages) && !messages[i+1].Model {
				for _, b := range messages[i+1].Blocks {
					if b.Kind == Result && b.ID == c.ID {
						result = b
					}
				}
			}
			results = append(results, result)
		}
		out = append(out, Message{Blocks: results})
	}
	return merged(out)
}

// merged puts messages of one side that follow each other together.
func merged(messages []Message) (out []Message) {
	for _, m := range messages {
		if n := len(out); n > 0 && out[n-1].Model == m.Model {
			out[n-1].Blocks = slices.Concat(out[n-1].Blocks, m.Blocks)
			continue
		}
		out = append(out, m)
	}
	return out
}

// cost returns the price of a usage.
func (e *Endpoint) cost(u tools.Usage) float64 {
	if e.Prices == nil {
		return 0
	}
	million := func(n uint64, price float64) float64 { return float64(n) * price / 1e6 }
	return million(u.In, e.Prices.In) + million(u.Out, e.Prices.Out) + million(u.CacheRead, e.Prices.CacheRead) + million(u.CacheWrite, e.Prices.CacheWrite)
}

// limit returns the most tokens of a turn.
func (e *Endpoint) limit(r *Request) int {
	most := e.MaxTokens
	if most == 0 {
		most = usualTokens
	}
	if r.MaxTokens > 0 {
		most = min(most, r.MaxTokens)
	}
	return most
}

// object reads arguments of a call; wrong says why they are no object.
func object(text string) (args json.RawMessage, wrong string) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return json.RawMessage("{}"), ""
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		return json.RawMessage("{}"), fmt.Sprintf("the arguments are no JSON object: %v", err)
	}
	return json.RawMessage(text), ""
}
