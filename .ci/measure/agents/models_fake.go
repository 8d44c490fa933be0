package agents

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// turn is what the fake model says at a time.
type turn struct {
	thinking, text string
	calls          []toolCall
	end            string // "" = as the turn needs it, else length or refused
}

type toolCall struct{ id, name, args string }

// dialect is how an endpoint speaks: the events of a turn.
type dialect struct {
	name   string // of the configuration
	path   string
	events func(t turn, u usage) []string
	whole  func(t turn, u usage) string // the turn as one object
	fault  string                       // an event that ends an answer with an overloaded service
}

// usage is how a service tells what was used.
type usage string

const (
	once  usage = ""      // at the end
	never usage = "never" // not at all
	sums  usage = "sums"  // with every event, the sum so far
)

func text(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // of a value of this file
	}
	return string(data)
}

// pieces cuts a text as streams do, within words and letters of several bytes stay whole.
func pieces(s string, size int) []string {
	var list []string
	runes := []rune(s)
	for len(runes) > 0 {
		n := min(size, len(runes))
		list = append(list, string(runes[:n]))
		runes = runes[n:]
	}
	return list
}

var chatDialect = dialect{
	name: "chat", path: "/chat/completions",
	events: func(t turn, u usage) []string {
		var list []string
		total := object{"prompt_tokens": 100, "completion_tokens": 10}
		add := func(delta object, finish any) {
			event := object{"id": "c", "choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}}
			if u == sums {
				event["usage"] = total
			}
			list = append(list, "data: "+text(event))
		}
		add(object{"role": "assistant", "content": ""}, nil)
		for _, p := range pieces(t.thinking, 5) {
			add(object{"reasoning_content": p}, nil)
		}
		for _, p := range pieces(t.text, 7) {
			add(object{"content": p}, nil)
		}
		for i, c := range t.calls {
			add(object{"tool_calls": []object{{"index": i, "id": c.id, "type": "function", "function": object{"name": c.name, "arguments": ""}}}}, nil)
			for _, p := range pieces(c.args, 4) {
				add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": p}}}}, nil)
			}
		}
		add(object{}, chatEnd(t))
		if u == once {
			list = append(list, "data: "+text(object{"choices": []object{}, "usage": total}))
		}
		return append(list, "data: [DONE]")
	},
	whole: func(t turn, _ usage) string {
		message := object{"role": "assistant", "content": t.text}
		var calls []object
		for _, c := range t.calls {
			calls = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.args}})
		}
		if calls != nil {
			message["tool_calls"] = calls
		}
		return text(object{
			"choices": []object{{"index": 0, "message": message, "finish_reason": chatEnd(t)}},
			"usage":   object{"prompt_tokens": 100, "completion_tokens": 10},
		})
	},
	fault: `data: {"error":{"message":"overloaded","code":529}}`,
}

func chatEnd(t turn) string {
	switch {
	case t.end == "length":
		return "length"
	case t.end == "refused":
		return "content_filter"
	case t.calls != nil:
		return "tool_calls"
	}
	return "stop"
}

var messagesDialect = dialect{
	name: "messages", path: "/messages",
	events: func(t turn, u usage) []string {
		var list []string
		add := func(kind string, event object) {
			event["type"] = kind
			list = append(list, "event: "+kind+"\ndata: "+text(event))
		}
		message := object{"id": "m", "role": "assistant", "content": []any{}}
		if u != never {
			message["usage"] = object{"input_tokens": 100, "output_tokens": 1}
		}
		add("message_start", object{"message": message})
		index := 0
		block := func(begin object, deltas ...object) {
			add("content_block_start", object{"index": index, "content_block": begin})
			for _, d := range deltas {
				add("content_block_delta", object{"index": index, "delta": d})
				if u == sums {
					add("message_delta", object{"delta": object{}, "usage": object{"input_tokens": 100, "output_tokens": 5}})
				}
			}
			add("content_block_stop", object{"index": index})
			index++
		}
		parts := func(kind, field, s string, size int) (deltas []object) {
			for _, p := range pieces(s, size) {
				deltas = append(deltas, object{"type": kind, field: p})
			}
			return deltas
		}
		if t.thinking != "" {
			block(object{"type": "thinking", "thinking": ""}, append(parts("thinking_delta", "thinking", t.thinking, 5), object{"type": "signature_delta", "signature": "sig-of-thoughts"})...)
		}
		if t.text != "" {
			block(object{"type": "text", "text": ""}, parts("text_delta", "text", t.text, 7)...)
		}
		for _, c := range t.calls {
			block(object{"type": "tool_use", "id": c.id, "name": c.name, "input": object{}}, parts("input_json_delta", "partial_json", c.args, 4)...)
		}
		end := object{"delta": object{"stop_reason": messagesEnd(t)}}
		if u != never {
			end["usage"] = object{"output_tokens": 10}
		}
		add("message_delta", end)
		add("message_stop", object{})
		return list
	},
	whole: func(t turn, _ usage) string {
		var content []object
		if t.text != "" {
			content = append(content, object{"type": "text", "text": t.text})
		}
		for _, c := range t.calls {
			content = append(content, object{"type": "tool_use", "id": c.id, "name": c.name, "input": json.RawMessage(c.args)})
		}
		return text(object{
			"type": "message", "role": "assistant", "content": content, "stop_reason": messagesEnd(t),
			"usage": object{"input_tokens": 100, "output_tokens": 10},
		})
	},
	fault: "event: error\ndata: " + `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
}

func messagesEnd(t turn) string {
	switch {
	case t.end == "length":
		return "max_tokens"
	case t.end == "refused":
		return "refusal"
	case t.calls != nil:
		return "tool_use"
	}
	return "end_turn"
}

// answer is what the fake sends to one request.
type answer func(w http.ResponseWriter, d dialect)

func stream(w http.ResponseWriter, events []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		fmt.Fprint(w, e+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
}

// says sends a turn as a stream.
func says(t turn) answer {
	return func(w http.ResponseWriter, d dialect) { stream(w, d.events(t, once)) }
}

// counts sends a turn whose use is told in another way.
func counts(t turn, u usage) answer {
	return func(w http.ResponseWriter, d dialect) { stream(w, d.events(t, u)) }
}

// object1 sends a turn as one object, though a stream was asked for.
func object1(t turn) answer {
	return func(w http.ResponseWriter, d dialect) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, d.whole(t, once))
	}
}

// breaks sends a part of a turn and then ends the connection.
func breaks(t turn, part float64) answer {
	return func(w http.ResponseWriter, d dialect) {
		all := d.events(t, once)
		stream(w, all[:int(part*float64(len(all)))])
		panic(http.ErrAbortHandler)
	}
}

// faults sends the half of a turn, and then that the service is overloaded.
func faults(t turn) answer {
	return func(w http.ResponseWriter, d dialect) {
		all := d.events(t, once)
		stream(w, append(all[:len(all)/2:len(all)/2], d.fault))
	}
}

// status sends an error.
func status(code int, body string, header ...string) answer {
	return func(w http.ResponseWriter, _ dialect) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// endless never ends its answer.
func endless(w http.ResponseWriter, d dialect) {
	all := d.events(turn{text: strings.Repeat("on and on ", 50)}, once)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, all[0]+"\n\n"+all[1]+"\n\n")
	for {
		if _, err := fmt.Fprint(w, all[2]+"\n\n"); err != nil {
			return // the other has enough
		}
	}
}

// fake is a service of models: each case has an address of its own, and answers by its script.
type fake struct {
	mu    sync.Mutex
	cases map[string]*played // by the path before that of the dialect
}

// played is a case as it was played.
type played struct {
	dialect  dialect
	answers  []answer // the last again and again
	requests []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	f.mu.Lock()
	var c *played
	for _, d := range []dialect{chatDialect, messagesDialect} {
		if name, ok := strings.CutSuffix(r.URL.Path, d.path); ok {
			c = f.cases[name]
		}
	}
	if c == nil {
		f.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	c.requests = append(c.requests, string(body))
	next := c.answers[min(len(c.requests), len(c.answers))-1]
	f.mu.Unlock()
	next(w, c.dialect)
}

// object is JSON.
type object = map[string]any
