package model

import (
	"bytes"
	"encoding/json"
)

// newCall returns a call whose arguments came as a text; none means no arguments.
func newCall(id, name, arguments, from string) *Call {
	c := &Call{ID: id, Name: name, Arguments: json.RawMessage("{}"), From: from}
	text := bytes.TrimSpace([]byte(arguments))
	switch {
	case len(text) == 0 || string(text) == "null":
	case json.Valid(text) && text[0] == '{':
		c.Arguments = text
	default:
		c.Wrong = arguments
	}
	return c
}

// NoResult is the text of calls that a conversation has no result of.
const NoResult = "no result: the call was not carried out, or its result is lost"

// paired returns the messages with a result for every call and no other results: providers
// refuse anything else. A crash, a cancellation or a limit leave calls open.
func paired(messages []Message) []Message {
	var list []Message
	var open []string
	closing := func() {
		if len(open) == 0 {
			return
		}
		var blocks []Block
		for _, id := range open {
			blocks = append(blocks, Block{Result: &Result{ID: id, Text: NoResult, Error: true}})
		}
		open = nil
		list = append(list, Message{Role: User, Blocks: blocks})
	}
	for _, m := range messages {
		if m.Role == Assistant {
			closing()
			list = append(list, m)
			for _, b := range m.Blocks {
				if b.Call != nil {
					open = append(open, b.Call.ID)
				}
			}
			continue
		}
		list, open = answered(list, m, open)
	}
	closing()
	return list
}

// answered appends a message of the user, with its results in the order of the open calls.
// Where some of them are missing, they are added.
func answered(list []Message, m Message, open []string) ([]Message, []string) {
	results := map[string]*Result{}
	var rest []Block
	for _, b := range m.Blocks {
		if b.Result == nil {
			rest = append(rest, b)
		} else {
			results[b.Result.ID] = b.Result
		}
	}
	var blocks []Block
	for _, id := range open {
		r := results[id]
		if r == nil {
			r = &Result{ID: id, Text: NoResult, Error: true}
		}
		blocks = append(blocks, Block{Result: r})
	}
	if blocks = append(blocks, rest...); len(blocks) > 0 {
		list = append(list, Message{Role: User, Blocks: blocks})
	}
	return list, nil
}
