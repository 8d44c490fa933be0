package model_test

import "strings"

const (
	messagesBegin = `{"type":"message_start","message":{"type":"message","role":"assistant","content":[],"usage":{"input_tokens":40,"cache_read_input_tokens":60,"cache_creation_input_tokens":7,"output_tokens":1}}}`
	messagesStop  = `{"type":"message_stop"}`
	messagesUse   = "\nuse: in 40, cached 60, kept 7, out 20, thinking 0"
	textBlock     = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textOK        = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}`
	blockStop0    = `{"type":"content_block_stop","index":0}`
	blockStop1    = `{"type":"content_block_stop","index":1}`
)

// messagesEnd is the event before the last.
func messagesEnd(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":20}}`
}

// toolBlock begins a call.
func toolBlock(index, id, name string) string {
	return `{"type":"content_block_start","index":` + index + `,"content_block":{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}}`
}

// inputPiece is a piece of the arguments of a call.
func inputPiece(index, piece string) string {
	return `{"type":"content_block_delta","index":` + index + `,"delta":{"type":"input_json_delta","partial_json":"` + strings.ReplaceAll(piece, `"`, `\"`) + `"}}`
}

// messagesOK is a good answer.
var messagesOK = answer{body: named(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("end_turn"), messagesStop)}

var messagesCases = []turnCase{
	{"text", []answer{messagesOK}, "stop\ntext: ok" + messagesUse},
	{"pings, and events that are to come", []answer{{body: named(`{"type":"ping"}`, messagesBegin, textBlock, `{"type":"ping"}`, textOK, `{"type":"future_event"}`, blockStop0, messagesEnd("end_turn"), messagesStop)}},
		"stop\ntext: ok" + messagesUse},
	{"events without names", []answer{{body: data(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("end_turn"), messagesStop)}},
		"stop\ntext: ok" + messagesUse},
	{"a call", []answer{{body: named(messagesBegin, toolBlock("0", "toolu_1", "grep"), inputPiece("0", ""), inputPiece("0", `{"a"`), inputPiece("0", `:1}`), blockStop0, messagesEnd("tool_use"), messagesStop)}},
		"calls\n" + `toolu_1 grep({"a":1})` + messagesUse},
	{"a call without input", []answer{{body: named(messagesBegin, toolBlock("0", "toolu_1", "list"), blockStop0, messagesEnd("tool_use"), messagesStop)}},
		"calls\ntoolu_1 list({})" + messagesUse},
	{"a call whose input comes at once", []answer{{body: named(messagesBegin, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"a","input":{"x":1}}}`, blockStop0, messagesEnd("tool_use"), messagesStop)}},
		"calls\n" + `t a({"x":1})` + messagesUse},
	{"text and two calls", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, toolBlock("1", "t1", "a"), inputPiece("1", "{}"), blockStop1, toolBlock("2", "t2", "b"), inputPiece("2", `{"y":2}`), `{"type":"content_block_stop","index":2}`, messagesEnd("tool_use"), messagesStop)}},
		"calls\ntext: ok\nt1 a({})\n" + `t2 b({"y":2})` + messagesUse},
	{"malformed input", []answer{{body: named(messagesBegin, toolBlock("0", "t", "a"), inputPiece("0", `{x`), blockStop0, messagesEnd("tool_use"), messagesStop)}},
		"calls\n" + `t a({}) wrong "{x"` + messagesUse},
	{"cut in a call", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, toolBlock("1", "t", "a"), inputPiece("1", `{"x":`), blockStop1, messagesEnd("max_tokens"), messagesStop)}},
		"length\ntext: ok\n" + `t a({}) wrong "{\"x\":" cut` + messagesUse},
	{"cut where the input looks whole", []answer{{body: named(messagesBegin, toolBlock("0", "t", "a"), blockStop0, messagesEnd("max_tokens"), messagesStop)}},
		"length\nt a({}) cut" + messagesUse},
	{"thinking with its signature", []answer{{body: named(messagesBegin,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s1"}}`, blockStop0,
		toolBlock("1", "t", "a"), inputPiece("1", "{}"), blockStop1, messagesEnd("tool_use"), messagesStop)}},
		"calls\nthinking: hm [s1]\nt a({})" + messagesUse},
	{"hidden thinking", []answer{{body: named(messagesBegin, `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"xyz"}}`, blockStop0,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"ok"}}`, blockStop1, messagesEnd("end_turn"), messagesStop)}},
		"stop\nthinking: xyz\ntext: ok" + messagesUse},
	{"a stop sequence", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("stop_sequence"), messagesStop)}}, "stop\ntext: ok" + messagesUse},
	{"a refusal", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("refusal"), messagesStop)}}, "refused\ntext: ok" + messagesUse},
	{"a pause", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("pause_turn"), messagesStop)}}, "pause\ntext: ok" + messagesUse},
	{"the end of the window", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("model_context_window_exceeded"), messagesStop)}}, "window\ntext: ok" + messagesUse},
	{"no last event", []answer{{body: named(messagesBegin, textBlock, textOK, blockStop0, messagesEnd("end_turn"))}}, "stop\ntext: ok" + messagesUse},
	{"use only at the end, as a sum", []answer{{body: named(`{"type":"message_start","message":{"type":"message"}}`, textBlock, textOK, blockStop0,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":40,"cache_read_input_tokens":60,"cache_creation_input_tokens":7,"output_tokens":20}}`, messagesStop)}},
		"stop\ntext: ok" + messagesUse},
	{"no use", []answer{{body: named(`{"type":"message_start","message":{"type":"message"}}`, textBlock, textOK, blockStop0, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, messagesStop)}},
		"stop\ntext: ok\nuse: estimated"},
	{"an object in the place of a stream", []answer{{kind: "application/json", body: `{"type":"message","content":[{"type":"text","text":"ok"},{"type":"tool_use","id":"t","name":"a","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":40,"cache_read_input_tokens":60,"cache_creation_input_tokens":7,"output_tokens":20}}`}},
		"calls\ntext: ok\n" + `t a({"x":1})` + messagesUse},
	{"overloaded in the middle", []answer{{body: named(messagesBegin, textBlock, textOK) + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n"}, messagesOK},
		"2 requests in 1s\nstop\ntext: ok\nuse: in 80, cached 120, kept 14, out 21, thinking 0"},
	{"529", []answer{{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, messagesOK},
		"2 requests in 1s\nstop\ntext: ok" + messagesUse},
	{"529 for ever", []answer{{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, {status: 529}, {status: 529}, {status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}},
		"4 requests in 7s\nbusy: HTTP 529: Overloaded"},
	{"an object that is no message", []answer{{kind: "application/json", body: `{"ok":true}`}},
		`not an answer: the answer is no message: {"ok":true}`},
	{"an error as an object with status 200", []answer{{kind: "application/json", body: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`}},
		"key refused: invalid x-api-key"},
	{"broken off", []answer{{body: named(messagesBegin, textBlock, textOK)}, messagesOK},
		"2 requests in 1s\nstop\ntext: ok\nuse: in 80, cached 120, kept 14, out 21, thinking 0"},
	{"the connection is cut", []answer{{body: named(messagesBegin, textBlock, textOK), cut: true}, messagesOK},
		"2 requests in 1s\nstop\ntext: ok\nuse: in 80, cached 120, kept 14, out 21, thinking 0"},
	{"nothing but pings", []answer{{body: named(`{"type":"ping"}`, `{"type":"ping"}`), hang: true}, messagesOK},
		"2 requests in 2m1s\nstop\ntext: ok" + messagesUse},
	{"a prompt that is too long", []answer{{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`}},
		"too long: HTTP 400: prompt is too long: 210000 tokens > 200000 maximum"},
	{"413", []answer{{status: 413, body: `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`}},
		"too long: HTTP 413: Request exceeds the maximum size"},
	{"no credit", []answer{{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`}},
		"quota: HTTP 400: Your credit balance is too low"},
	{"an endless answer", []answer{{body: named(messagesBegin, textBlock) + strings.Repeat(named(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`+strings.Repeat("la ", 1000)+`"}}`), 100)}},
		"not an answer: the answer does not end: 264000 bytes at a limit of 8192 tokens\nuse: estimated"},
}
