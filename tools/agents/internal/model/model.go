// Package model asks language models for the next turn of a conversation, in the two
// dialects that their endpoints speak: chat completions and messages.
//
// A conversation is a list of Message values that belong to no dialect, so that another
// endpoint can go on with it. The package runs no tools and keeps nothing between turns.
//
// Start at Client.Turn: client.go asks again and asks the next endpoint, stream.go reads an
// answer as it comes, chat.go and messages.go are the dialects, sampling.go asks the model of an
// MCP client, failure.go says what a refusal
// means, provider.go has what is known of providers. It imports package outbound alone.
package model

import (
	"encoding/json"
	"unicode/utf8"
)

// Role is whose a message is.
type Role string

// The roles. The results of tools are the user's.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of a conversation.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks"`
}

// Block is a part of a message. Exactly one of its fields is set.
type Block struct {
	Text     string    `json:"text,omitempty"`
	Thinking *Thinking `json:"thinking,omitempty"`
	Call     *Call     `json:"call,omitempty"`
	Result   *Result   `json:"result,omitempty"`
}

// Thinking is what a model wrote for itself. It is returned only to the endpoint that it is
// from, unchanged.
type Thinking struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Hidden    string `json:"hidden,omitempty"` // in the place of Text: the provider encrypted it
	From      string `json:"from"`             // Endpoint.String
}

// Call is a tool that a model wants to have called.
type Call struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // an object, "{}" if Wrong is set
	// Wrong is the text that came in the place of an object.
	Wrong string `json:"wrong,omitempty"`
	// Cut says that the answer ended within the call: it must not be run.
	Cut bool `json:"cut,omitempty"`
	// Extra goes back with the call to the endpoint that it is from, unchanged.
	Extra json.RawMessage `json:"extra,omitempty"`
	From  string          `json:"from"` // Endpoint.String
}

// Result is what a call gave.
type Result struct {
	ID    string `json:"id"` // of the call
	Text  string `json:"text"`
	Error bool   `json:"error,omitempty"`
}

// Tool is a tool that a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// Request is what a model is asked. Its beginning stays the same from turn to turn of a
// conversation, byte for byte, so that providers need not read it again.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
	// Last forbids calls, without a change of Tools, but for those of Only.
	Last bool
	// Only is the one tool that must be called; "" = the model decides.
	Only string
	// MaxOutput bounds the answer in tokens; 0 = as the endpoint has it.
	MaxOutput int
	// Temperature is passed on if the endpoint takes one; nil = the provider's.
	Temperature *float64
	// Thinking is off, low, medium or high; "" = as the endpoint has it.
	Thinking string
}

// End is why a turn ended.
type End string

// The ends.
const (
	Stop    End = "stop"    // the model has said all
	Calls   End = "calls"   // it waits for results
	Length  End = "length"  // at the limit of tokens
	Window  End = "window"  // at the end of its window
	Refused End = "refused" // by the provider's filter, or by the model
	Pause   End = "pause"   // it wants to go on: ask again with what it said
)

// Turn is the answer of a model.
type Turn struct {
	From   string // Endpoint.String of the one that answered
	Blocks []Block
	End    End
	Use    Use // of the attempt that succeeded
	// Notes say what happened on the way: waits, other endpoints.
	Notes []string
}

// Use is how many tokens were used.
type Use struct {
	In         int  `json:"in"` // read anew
	CacheRead  int  `json:"cache_read,omitempty"`
	CacheWrite int  `json:"cache_write,omitempty"`
	Out        int  `json:"out"`                // with Thinking
	Thinking   int  `json:"thinking,omitempty"` // where the provider says so
	Estimated  bool `json:"estimated,omitempty"`
}

// Bill is what all attempts at a turn took, each at the prices of its endpoint.
type Bill struct {
	Use
	Cost float64
}

// Add returns the sum of two uses.
func (u Use) Add(v Use) Use {
	return Use{
		In: u.In + v.In, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Out: u.Out + v.Out, Thinking: u.Thinking + v.Thinking, Estimated: u.Estimated || v.Estimated,
	}
}

// Total returns all tokens, cached ones too.
func (u Use) Total() int { return u.In + u.CacheRead + u.CacheWrite + u.Out }

// Event is what a turn reports while it is made. One of the fields is set.
type Event struct {
	Text     string // more of it
	Thinking string // more of it
	Call     *Call  // a whole call
	// Dropped is why everything reported of this turn is void. It begins anew.
	Dropped string
}

// Estimate returns about how many tokens a text has.
func Estimate(text string) int {
	wide := utf8.RuneCountInString(text)
	narrow := 0
	for i := range len(text) {
		if text[i] < utf8.RuneSelf {
			narrow++
		}
	}
	return wide - narrow + (narrow+3)/4
}
