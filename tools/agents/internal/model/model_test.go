package model_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/tools"
	"toolcrib/tools/agents/internal/model"
	"toolcrib/tools/outbound"
)

// answer is what the provider answers to one request. A body that ends with cut breaks off
// there; one that ends with hang stays open.
type answer struct {
	status int // 0 = 200
	header string
	body   string
}

const (
	cut  = "<cut>"
	hang = "<hang>"
)

// provider answers one request after the other, and keeps what it was sent.
type provider struct {
	*httptest.Server
	mu      sync.Mutex
	answers []answer
	asked   []http.Header
	bodies  []string
}

func newProvider(t *testing.T, answers []answer) *provider {
	t.Helper()
	p := &provider{answers: answers}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p.mu.Lock()
	a := answer{status: 500, body: "asked too often"}
	if len(p.answers) > 0 {
		a, p.answers = p.answers[0], p.answers[1:]
	}
	p.asked, p.bodies = append(p.asked, r.Header.Clone()), append(p.bodies, string(body))
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	for line := range strings.Lines(a.header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		w.Header().Set(name, value)
	}
	if a.status != 0 {
		w.WriteHeader(a.status)
	}
	text, breaks := strings.CutSuffix(a.body, cut)
	text, hangs := strings.CutSuffix(text, hang)
	_, _ = io.WriteString(w, text)
	_ = http.NewResponseController(w).Flush()
	if hangs {
		<-r.Context().Done()
	}
	if breaks {
		panic(http.ErrAbortHandler)
	}
}

// chat writes a stream of Chat: events of JSON, and others as they are.
func chat(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: " + e + "\n\n")
	}
	return b.String()
}

// delta is a chunk of Chat.
func delta(fields string) string { return `{"choices":[{"index":0,"delta":{` + fields + `}}]}` }

func ends(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

const (
	chatUsed = `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":3}}}`
	over     = "[DONE]"
)

// said writes a stream of Messages: each event's name is its type.
func said(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var is struct{ Type string }
		_ = json.Unmarshal([]byte(e), &is)
		b.WriteString("event: " + is.Type + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

const (
	opens  = `{"type":"message_start","message":{"usage":{"input_tokens":40,"output_tokens":1,"cache_read_input_tokens":60,"cache_creation_input_tokens":5}}}`
	ping   = `{"type":"ping"}`
	closes = `{"type":"message_stop"}`
)

func starts(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{%s}}`, i, block)
}
func goes(i int, d string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{%s}}`, i, d)
}
func stops(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }
func because(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":7}}`
}

// hello are streams of both dialects that say Hello.
var (
	helloChat     = chat(delta(`"role":"assistant","content":""`), delta(`"content":"Hel"`), delta(`"content":"lo"`), ends("stop"), chatUsed, over)
	helloMessages = said(opens, ping, starts(0, `"type":"text","text":""`), goes(0, `"type":"text_delta","text":"Hel"`), goes(0, `"type":"text_delta","text":"lo"`), stops(0), because("end_turn"), closes)
)

const html = "<!doctype html><html><body>Welcome</body></html>"

// turns is the table of what providers do. Each line says what comes of it: the end and the
// blocks, or the code of the error; then the tokens in, from the cache, out; and how long the
// client has waited before each further try, ? where it chose itself.
var turns = []struct {
	name    string
	dialect model.Dialect
	answers []answer
	want    string
}{
	// What the dialects say.
	{"text", model.Chat, []answer{{body: helloChat}}, `finished: text "Hello"; 40+60 7`},
	{"text", model.Messages, []answer{{body: helloMessages}}, `finished: text "Hello"; 40+60 7`},
	{"content in parts", model.Chat, []answer{{body: chat(delta(`"content":[{"type":"text","text":"Hello"}]`), ends("stop"), chatUsed, over)}}, `finished: text "Hello"; 40+60 7`},
	{"a call in pieces", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"grep","arguments":""}}]`), delta(`"tool_calls":[{"index":0,"function":{"arguments":"{\"a\""}}]`), delta(`"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 grep{"a":1}; 40+60 7`},
	{"a call in pieces", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"grep","input":{}`), goes(0, `"type":"input_json_delta","partial_json":""`), goes(0, `"type":"input_json_delta","partial_json":"{\"a\""`), goes(0, `"type":"input_json_delta","partial_json":":1}"`), stops(0), because("tool_use"), closes)}}, `tool_calls: c1 grep{"a":1}; 40+60 7`},
	{"two calls, their pieces mixed", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{"}},{"index":1,"id":"c2","function":{"name":"b","arguments":"{"}}]`), delta(`"tool_calls":[{"index":1,"function":{"arguments":"\"y\":2}"}},{"index":0,"function":{"arguments":"\"x\":1}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 a{"x":1}, c2 b{"y":2}; 40+60 7`},
	{"two calls, their pieces mixed", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"a"`), starts(1, `"type":"tool_use","id":"c2","name":"b"`), goes(1, `"type":"input_json_delta","partial_json":"{\"y\":2}"`), goes(0, `"type":"input_json_delta","partial_json":"{\"x\":1}"`), stops(0), stops(1), because("tool_use"), closes)}}, `tool_calls: c1 a{"x":1}, c2 b{"y":2}; 40+60 7`},
	{"id and name in every piece", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"grep","arguments":"{"}}]`), delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"grep","arguments":"}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 grep{}; 40+60 7`},
	{"no index", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"id":"c1","function":{"name":"a","arguments":"{}"}}]`), delta(`"tool_calls":[{"id":"c2","function":{"name":"b","arguments":"{\"y\""}}]`), delta(`"tool_calls":[{"function":{"arguments":":2}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 a{}, c2 b{"y":2}; 40+60 7`},
	{"the index 0 for all", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]`), delta(`"tool_calls":[{"index":0,"id":"c2","function":{"name":"b","arguments":"{}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 a{}, c2 b{}; 40+60 7`},
	{"an empty id", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"","function":{"name":"a","arguments":"{}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: call_1 a{}; 40+60 7`},
	{"arguments that are no text", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":{"x":1}}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 a{"x":1}; 40+60 7`},
	{"no arguments", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 a{}; 40+60 7`},
	{"no arguments", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"a","input":{}`), stops(0), because("tool_use"), closes)}}, `tool_calls: c1 a{}; 40+60 7`},
	{"all arguments at once", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"a","input":{"x":1}`), stops(0), because("tool_use"), closes)}}, `tool_calls: c1 a{"x":1}; 40+60 7`},
	{"calls that end with stop", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]`), ends("stop"), chatUsed, over)}}, `tool_calls: c1 a{}; 40+60 7`},
	{"text and a call", model.Chat, []answer{{body: chat(delta(`"content":"I look"`), delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: text "I look", c1 a{}; 40+60 7`},
	{"thinking", model.Chat, []answer{{body: chat(delta(`"reasoning_content":"Hm"`), delta(`"reasoning_content":"m"`), delta(`"content":"Hello"`), ends("stop"), chatUsed, over)}}, `finished: thinking "Hmm", text "Hello"; 40+60 7`},
	{"thinking by another name", model.Chat, []answer{{body: chat(delta(`"reasoning":"Hmm"`), delta(`"content":"Hello"`), ends("stop"), chatUsed, over)}}, `finished: thinking "Hmm", text "Hello"; 40+60 7`},
	{"thinking", model.Messages, []answer{{body: said(opens, starts(0, `"type":"thinking","thinking":""`), goes(0, `"type":"thinking_delta","thinking":"Hmm"`), goes(0, `"type":"signature_delta","signature":"sig"`), stops(0), starts(1, `"type":"redacted_thinking","data":"xyz"`), stops(1), starts(2, `"type":"text","text":"Hello"`), stops(2), because("end_turn"), closes)}}, `finished: thinking "Hmm" sig, thinking [xyz], text "Hello"; 40+60 7`},
	{"a refusal", model.Chat, []answer{{body: chat(delta(`"refusal":"I cannot"`), ends("stop"), chatUsed, over)}}, `refused: text "I cannot"; 40+60 7`},
	{"a filter", model.Chat, []answer{{body: chat(delta(`"content":"He"`), ends("content_filter"), chatUsed, over)}}, `refused: text "He"; 40+60 7`},
	{"a refusal", model.Messages, []answer{{body: said(opens, starts(0, `"type":"text","text":"No"`), stops(0), because("refusal"), closes)}}, `refused: text "No"; 40+60 7`},
	{"a pause", model.Messages, []answer{{body: said(opens, starts(0, `"type":"text","text":"I"`), stops(0), because("pause_turn"), closes)}}, `paused: text "I"; 40+60 7`},
	{"a block of the provider's own tools", model.Messages, []answer{{body: said(opens, starts(0, `"type":"server_tool_use","id":"s","name":"web"`), goes(0, `"type":"input_json_delta","partial_json":"{}"`), stops(0), starts(1, `"type":"text","text":"Hello"`), stops(1), because("end_turn"), closes)}}, `finished: text "Hello"; 40+60 7`},
	{"an event that nobody knows", model.Messages, []answer{{body: said(opens, `{"type":"weather"}`, starts(0, `"type":"text","text":"Hello"`), stops(0), because("end_turn"), closes)}}, `finished: text "Hello"; 40+60 7`},

	// The limit of tokens: a call that may be cut is not made.
	{"length", model.Chat, []answer{{body: chat(delta(`"content":"Hello"`), ends("length"), chatUsed, over)}}, `length: text "Hello"; 40+60 7`},
	{"a call cut by length", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{}"}},{"index":1,"id":"c2","function":{"name":"rm","arguments":"{\"p"}}]`), ends("length"), chatUsed, over)}}, `length: c1 a{}, c2 rm{} wrong; 40+60 7`},
	{"a call cut where it is whole", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"rm","arguments":"{\"p\":\"/\"}"}}]`), ends("length"), chatUsed, over)}}, `length: c1 rm{"p":"/"} wrong; 40+60 7`},
	{"a call cut by max_tokens", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"rm"`), goes(0, `"type":"input_json_delta","partial_json":"{\"p"`), because("max_tokens"), closes)}}, `length: c1 rm{} wrong; 40+60 7`},
	{"a call cut before its arguments", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"rm","input":{}`), stops(0), because("max_tokens"), closes)}}, `length: c1 rm{} wrong; 40+60 7`},
	{"malformed arguments", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{x:1"}}]`), ends("tool_calls"), chatUsed, over)}}, `tool_calls: c1 a{} wrong; 40+60 7`},
	{"arguments that are a list", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"a"`), goes(0, `"type":"input_json_delta","partial_json":"[1]"`), stops(0), because("tool_use"), closes)}}, `tool_calls: c1 a{} wrong; 40+60 7`},

	// Forms of streams.
	{"without [DONE]", model.Chat, []answer{{body: chat(delta(`"content":"Hello"`), ends("stop"))}}, `finished: text "Hello"; estimated`},
	{"without any end", model.Chat, []answer{{body: chat(delta(`"content":"Hello"`))}}, `finished: text "Hello"; estimated; noted`},
	{"without message_stop", model.Messages, []answer{{body: said(opens, starts(0, `"type":"text","text":"Hello"`), stops(0), because("end_turn"))}}, `finished: text "Hello"; 40+60 7; noted`},
	{"CR LF, comments, no space, a mark at the beginning", model.Chat, []answer{{body: "\xef\xbb\xbf: hi\r\n\r\ndata:" + delta(`"content":"Hello"`) + "\r\n\r\n: keep-alive\r\nid: 7\r\nretry: 1\r\n\r\ndata:" + ends("stop") + "\r\n\r\ndata: [DONE]\r\n\r\n"}}, `finished: text "Hello"; estimated`},
	{"data in two lines", model.Chat, []answer{{body: "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n"}}, `finished: text "Hello"; estimated`},
	{"the last event without an empty line", model.Chat, []answer{{body: chat(delta(`"content":"Hello"`)) + "data: " + ends("stop")}}, `finished: text "Hello"; estimated`},
	{"a stream that says it is JSON", model.Chat, []answer{{header: "Content-Type: application/json", body: helloChat}}, `finished: text "Hello"; 40+60 7`},
	{"no stream", model.Chat, []answer{{header: "Content-Type: application/json", body: `{"choices":[{"message":{"content":"Hello","tool_calls":[{"id":"c1","function":{"name":"a","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_cache_hit_tokens":60}}`}}, `tool_calls: text "Hello", c1 a{}; 40+60 7`},
	{"no stream", model.Messages, []answer{{header: "Content-Type: application/json", body: `{"type":"message","content":[{"type":"text","text":"Hello"},{"type":"tool_use","id":"c1","name":"a","input":{"x":1}}],"stop_reason":"tool_use","usage":{"input_tokens":40,"output_tokens":7,"cache_read_input_tokens":60}}`}}, `tool_calls: text "Hello", c1 a{"x":1}; 40+60 7`},

	// What was used.
	{"no usage", model.Messages, []answer{{body: said(`{"type":"message_start","message":{}}`, starts(0, `"type":"text","text":"Hello there"`), stops(0), `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, closes)}}, `finished: text "Hello there"; estimated`},
	{"usage with every chunk", model.Chat, []answer{{body: chat(`{"choices":[{"delta":{"content":"Hel"}}],"usage":{"prompt_tokens":100,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":60}}}`, `{"choices":[{"delta":{"content":"lo"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60}}}`, over)}}, `finished: text "Hello"; 40+60 7`},
	{"usage that is a sum", model.Messages, []answer{{body: said(opens, starts(0, `"type":"text","text":"Hello"`), `{"type":"message_delta","delta":{},"usage":{"output_tokens":4}}`, stops(0), because("end_turn"), closes)}}, `finished: text "Hello"; 40+60 7`},
	{"more cached than asked", model.Chat, []answer{{body: chat(delta(`"content":"Hello"`), ends("stop"), `{"choices":[],"usage":{"prompt_tokens":60,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":90}}}`, over)}}, `finished: text "Hello"; 0+60 7`},

	// Bad days: it is asked again.
	{"429 with seconds", model.Chat, []answer{{status: 429, header: "Retry-After: 3", body: `{"error":{"message":"slow down"}}`}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits 3s`},
	{"429 with a fraction", model.Messages, []answer{{status: 429, header: "Retry-After: 0.25"}, {body: helloMessages}}, `finished: text "Hello"; 40+60 7; waits 250ms`},
	{"429 with milliseconds", model.Chat, []answer{{status: 429, header: "Retry-After: 9\nRetry-After-Ms: 150"}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits 150ms`},
	{"429 with a date in the past", model.Chat, []answer{{status: 429, header: "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits 0s`},
	{"429 with nonsense", model.Chat, []answer{{status: 429, header: "Retry-After: soon"}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"429 with less than nothing", model.Chat, []answer{{status: 429, header: "Retry-After: -5"}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"429 for an hour", model.Chat, []answer{{status: 429, header: "Retry-After: 3600"}}, `unavailable`},
	{"429 for ever", model.Chat, []answer{{status: 429}, {status: 429}, {status: 429}, {status: 429}}, `unavailable; waits ? ? ?`},
	{"408, 409, 500", model.Chat, []answer{{status: 408}, {status: 409}, {status: 500}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ? ? ?`},
	{"529", model.Messages, []answer{{status: 529, body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, {body: helloMessages}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"overloaded in the middle", model.Messages, []answer{{body: said(opens, starts(0, `"type":"text","text":"Good"`), `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, {body: helloMessages}}, `finished: text "Hello"; 80+120 8; dropped; waits ?`},
	{"an error in the middle", model.Chat, []answer{{body: chat(delta(`"content":"Good"`), `{"error":{"message":"oops","code":500}}`)}, {body: helloChat}}, `finished: text "Hello"; estimated; dropped; waits ?`},
	{"an error in an event of its own", model.Chat, []answer{{body: "event: error\ndata: {\"error\":\"oops\"}\n\n"}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"cut after text", model.Chat, []answer{{body: chat(delta(`"content":"Good"`)) + cut}, {body: helloChat}}, `finished: text "Hello"; estimated; dropped; waits ?`},
	{"cut in a line", model.Messages, []answer{{body: said(opens) + "event: content_bl" + cut}, {body: helloMessages}}, `finished: text "Hello"; 80+120 8; waits ?`},
	{"ended in a call", model.Chat, []answer{{body: chat(delta(`"tool_calls":[{"index":0,"id":"c1","function":{"name":"rm","arguments":"{\"p"}}]`))}, {body: helloChat}}, `finished: text "Hello"; estimated; dropped; waits ?`},
	{"ended before the turn did", model.Messages, []answer{{body: said(opens, starts(0, `"type":"tool_use","id":"c1","name":"rm"`))}, {body: helloMessages}}, `finished: text "Hello"; 80+120 8; dropped; waits ?`},
	{"empty", model.Chat, []answer{{body: ""}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"no JSON in the stream", model.Chat, []answer{{body: chat("<oops>")}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"half of an answer that is no stream", model.Chat, []answer{{header: "Content-Type: application/json", body: `{"choices":[`}, {body: helloChat}}, `finished: text "Hello"; 40+60 7; waits ?`},
	{"silence", model.Chat, []answer{{body: chat(delta(`"content":"Good"`)) + hang}, {body: helloChat}}, `finished: text "Hello"; estimated; dropped; waits ?`},

	// Bad days: it is no use.
	{"HTML", model.Chat, []answer{{header: "Content-Type: text/html", body: html}}, `unavailable`},
	{"HTML that says it is a stream", model.Messages, []answer{{body: html}, {body: html}, {body: html}, {body: html}}, `unavailable; waits ? ? ?`},
	{"HTML with an error", model.Chat, []answer{{status: 404, header: "Content-Type: text/html", body: html}}, `denied`},
	{"a wrong key", model.Chat, []answer{{status: 401, body: `{"error":{"message":"Incorrect API key provided: sk-secret-of-the-test"}}`}}, `denied`},
	{"a wrong request", model.Messages, []answer{{status: 400, body: `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}`}}, `invalid_argument`},
	{"too much", model.Messages, []answer{{status: 413}}, `too_large`},
	{"a redirect", model.Chat, []answer{{status: 302, header: "Location: https://example.com/"}}, `unavailable`},
	{"without end", model.Chat, []answer{{body: strings.Repeat(chat(delta(`"content":"`+strings.Repeat("x", 100_000)+`"`)), 100)}}, `too_large`},
	{"calls without end", model.Messages, []answer{{body: said(opens) + strings.Repeat(said(starts(0, `"type":"tool_use","id":"c","name":"a"`)), 200)}}, `too_large`},
}

func TestTurns(t *testing.T) {
	if len(turns) < 60 {
		t.Errorf("%d cases", len(turns))
	}
	for _, tt := range turns {
		t.Run(string(tt.dialect)+"/"+tt.name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t, tt.answers)
			e := model.Endpoint{Name: "test", Dialect: tt.dialect, URL: p.URL, Model: "m", Key: func() (string, error) { return "sk-secret-of-the-test", nil }}
			if tt.name == "silence" {
				e.Idle = 2 * time.Second
			}
			if got := play(t, []model.Endpoint{e}, hi()); got.line != tt.want {
				t.Errorf("got  %s\nwant %s\nnotes: %q, error: %v", got.line, tt.want, got.Notes, got.err)
			} else if got.err != nil && strings.Contains(got.err.Error(), "secret-of") {
				t.Errorf("the key is in %v", got.err)
			}
			if len(p.answers) > 0 {
				t.Errorf("%d answers were not asked for", len(p.answers))
			}
		})
	}
}

func hi() model.Request {
	return model.Request{Messages: []model.Message{{Blocks: []model.Block{{Kind: model.Text, Text: "Hi"}}}}}
}

// played is a turn as the table words it.
type played struct {
	model.Turn
	err  error
	line string
}

func play(t *testing.T, endpoints []model.Endpoint, r model.Request) played {
	t.Helper()
	var urls []string
	for _, e := range endpoints {
		urls = append(urls, e.URL)
	}
	out, err := outbound.To(urls...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.Close)
	var waits []string
	c := &model.Client{Out: out, Endpoints: endpoints, Pause: func(_ context.Context, d time.Duration) error {
		word := d.String()
		if d%(10*time.Millisecond) != 0 {
			word = "?" // jitter
		}
		waits = append(waits, word)
		return nil
	}}
	var heard strings.Builder
	drops := 0
	turn, err := c.Turn(t.Context(), r, func(d model.Delta) {
		if d.Dropped {
			drops++
			heard.Reset()
		}
		if d.Kind == model.Text {
			heard.WriteString(d.Text)
		}
	})
	got := played{Turn: turn, err: err}
	var parts []string
	if err != nil {
		parts = append(parts, string(tools.AsError(err).Code))
	} else {
		var blocks []string
		text := ""
		for _, b := range turn.Blocks {
			blocks = append(blocks, word(b))
			if b.Kind == model.Text {
				text += b.Text
			}
		}
		if heard.Len() > 0 && heard.String() != text {
			t.Errorf("heard %q, the turn has %q", heard.String(), text)
		}
		parts = append(parts, fmt.Sprintf("%s: %s", turn.End, strings.Join(blocks, ", ")))
		if u := turn.Usage; turn.Estimated {
			parts = append(parts, "estimated")
			if u.In == 0 || u.Out == 0 {
				t.Errorf("estimated %+v", u)
			}
		} else {
			parts = append(parts, fmt.Sprintf("%d+%d %d", u.In, u.CacheRead, u.Out))
		}
		if len(turn.Notes) > len(waits) {
			parts = append(parts, "noted")
		}
		if drops > 0 {
			parts = append(parts, "dropped")
		}
	}
	if waits != nil {
		parts = append(parts, "waits "+strings.Join(waits, " "))
	}
	got.line = strings.Join(parts, "; ")
	return got
}

func word(b model.Block) string {
	switch b.Kind {
	case model.Call:
		line := b.ID + " " + b.Name + string(b.Args)
		if b.Wrong != "" {
			line += " wrong"
		}
		return line
	case model.Thinking:
		if b.Redacted != "" {
			return "thinking [" + b.Redacted + "]"
		}
		return strings.TrimSpace(fmt.Sprintf("thinking %q %s", b.Text, b.Signature))
	}
	return fmt.Sprintf("%s %q", b.Kind, b.Text)
}

// conversation has everything that goes back to a provider.
func conversation() model.Request {
	return model.Request{
		System: "Be <brief>.",
		Tools:  []model.Tool{{Name: "grep", Description: "Finds.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []model.Message{
			{Blocks: []model.Block{{Kind: model.Text, Text: "Find a & b"}}},
			{Model: true, Blocks: []model.Block{
				{Kind: model.Thinking, Text: "Hmm", Signature: "sig", Endpoint: "test"},
				{Kind: model.Thinking, Text: "Ah", Signature: "other", Endpoint: "another"},
				{Kind: model.Text, Text: "I look"},
				{Kind: model.Call, ID: "c1", Name: "grep", Args: json.RawMessage(`{"x":"a"}`)},
				{Kind: model.Call, ID: "c2", Name: "grep", Args: json.RawMessage(`{"x":"b"}`)},
			}},
			{Blocks: []model.Block{{Kind: model.Result, ID: "c1", Text: "1"}, {Kind: model.Result, ID: "c2", Text: "none", Failed: true}, {Kind: model.Text, Text: "Go on"}}},
		},
	}
}

func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		dialect model.Dialect
		change  func(e *model.Endpoint)
		answer  string
		want    string
	}{
		{model.Chat, func(e *model.Endpoint) { e.ThinkingBack = true }, helloChat,
			`{"max_tokens":8192,"messages":[{"content":"Be <brief>.","role":"system"},{"content":"Find a & b","role":"user"},` +
				`{"content":"I look","reasoning_content":"Hmm","role":"assistant","tool_calls":[{"function":{"arguments":"{\"x\":\"a\"}","name":"grep"},"id":"c1","type":"function"},{"function":{"arguments":"{\"x\":\"b\"}","name":"grep"},"id":"c2","type":"function"}]},` +
				`{"content":"1","role":"tool","tool_call_id":"c1"},{"content":"none","role":"tool","tool_call_id":"c2"},{"content":"Go on","role":"user"}],` +
				`"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"function":{"description":"Finds.","name":"grep","parameters":{"type":"object"}},"type":"function"}]}`},
		{model.Messages, func(e *model.Endpoint) {
			e.MaxTokens, e.Extra = 100, map[string]json.RawMessage{"thinking": json.RawMessage(`{"type":"enabled","budget_tokens":50}`)}
		}, helloMessages,
			`{"max_tokens":100,"messages":[{"content":[{"cache_control":{"type":"ephemeral"},"text":"Find a & b","type":"text"}],"role":"user"},` +
				`{"content":[{"signature":"sig","thinking":"Hmm","type":"thinking"},{"text":"I look","type":"text"},{"id":"c1","input":{"x":"a"},"name":"grep","type":"tool_use"},{"id":"c2","input":{"x":"b"},"name":"grep","type":"tool_use"}],"role":"assistant"},` +
				`{"content":[{"content":"1","tool_use_id":"c1","type":"tool_result"},{"content":"none","is_error":true,"tool_use_id":"c2","type":"tool_result"},{"cache_control":{"type":"ephemeral"},"text":"Go on","type":"text"}],"role":"user"}],` +
				`"model":"m","stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"Be <brief>.","type":"text"}],"thinking":{"type":"enabled","budget_tokens":50},` +
				`"tools":[{"cache_control":{"type":"ephemeral"},"description":"Finds.","input_schema":{"type":"object"},"name":"grep"}]}`},
	} {
		p := newProvider(t, []answer{{body: tt.answer}})
		e := model.Endpoint{Name: "test", Dialect: tt.dialect, URL: p.URL + "/", Model: "m", Key: func() (string, error) { return "k", nil }}
		tt.change(&e)
		if got := play(t, []model.Endpoint{e}, conversation()); got.err != nil {
			t.Fatal(got.err)
		}
		if diff := cmp.Diff(tt.want, p.bodies[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.dialect, diff)
		}
		if got := p.asked[0].Get("Authorization") + p.asked[0].Get("X-Api-Key"); got != map[model.Dialect]string{model.Chat: "Bearer k", model.Messages: "k"}[tt.dialect] {
			t.Errorf("%s: key %q", tt.dialect, got)
		}
	}
}

// The next model is asked where one does not answer, and the turn says so and counts both.
func TestFailover(t *testing.T) {
	for _, tt := range []struct {
		name  string
		first []answer
		want  string
	}{
		{"overloaded", []answer{{status: 529}, {status: 529}, {status: 529}, {status: 529}}, `finished: text "Hello"; 40+60 7; noted; waits ? ? ?`},
		{"its key is wrong", []answer{{status: 401}}, `finished: text "Hello"; 40+60 7; noted`},
		{"it is no API", []answer{{header: "Content-Type: text/html", body: html}}, `finished: text "Hello"; 40+60 7; noted`},
		{"the request is wrong", []answer{{status: 400}}, `invalid_argument`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			first, second := newProvider(t, tt.first), newProvider(t, []answer{{body: helloMessages}})
			got := play(t, []model.Endpoint{
				{Name: "one", Dialect: model.Chat, URL: first.URL, Model: "m"},
				{Name: "two", Dialect: model.Messages, URL: second.URL, Model: "n", Prices: &model.Prices{In: 1, Out: 10, CacheRead: 0.1}},
			}, hi())
			if got.line != tt.want {
				t.Errorf("got %s\nwant %s\n%v", got.line, tt.want, got.err)
			}
			if got.err == nil && (got.Endpoint != "two" || got.Usage.Model != "n" || fmt.Sprintf("%.6f", got.Usage.Cost) != "0.000116") {
				t.Errorf("got %+v", got.Turn)
			}
		})
	}
}

func TestCancelledTurn(t *testing.T) {
	p := newProvider(t, []answer{{body: chat(delta(`"content":"Good"`)) + hang}})
	out, err := outbound.To(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	c := &model.Client{Out: out, Endpoints: []model.Endpoint{{Name: "test", Dialect: model.Chat, URL: p.URL, Model: "m"}}}
	turn, err := c.Turn(ctx, hi(), func(model.Delta) { cancel() })
	if tools.AsError(err).Code != tools.Cancelled || turn.Usage.Turns != 1 {
		t.Errorf("got %v, %+v", err, turn.Usage)
	}
}

func TestWrongRequests(t *testing.T) {
	c := &model.Client{Endpoints: []model.Endpoint{{}}}
	for _, r := range []model.Request{
		{},
		{Messages: []model.Message{{Model: true, Blocks: []model.Block{{Kind: model.Text, Text: "Hello"}}}}},
		{Messages: hi().Messages, Tools: []model.Tool{{Name: "a.b"}}},
		{Messages: hi().Messages, Tools: []model.Tool{{Name: strings.Repeat("a", 65)}}},
	} {
		if _, err := c.Turn(t.Context(), r, nil); tools.AsError(err) == nil || tools.AsError(err).Code != tools.InvalidArgument {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := new(model.Client).Turn(t.Context(), hi(), nil); tools.AsError(err).Code != tools.Unavailable {
		t.Errorf("no model: %v", err)
	}
}

// Every call has its result, in the order of the calls, whatever happened in between.
func TestSettle(t *testing.T) {
	call := func(id string) model.Block { return model.Block{Kind: model.Call, ID: id, Name: "a"} }
	result := func(id string) model.Block { return model.Block{Kind: model.Result, ID: id, Name: "a", Text: id} }
	lost := func(id string) model.Block {
		return model.Block{Kind: model.Result, ID: id, Name: "a", Text: "lost", Failed: true}
	}
	text := model.Block{Kind: model.Text, Text: "x"}
	user := func(b ...model.Block) model.Message { return model.Message{Blocks: b} }
	says := func(b ...model.Block) model.Message { return model.Message{Model: true, Blocks: b} }
	for _, tt := range []struct {
		name      string
		got, want []model.Message
	}{
		{"in order", []model.Message{user(text), says(call("1"), call("2")), user(result("2"), result("1"))}, []model.Message{user(text), says(call("1"), call("2")), user(result("1"), result("2"))}},
		{"one is missing", []model.Message{user(text), says(call("1"), call("2")), user(result("2"), text)}, []model.Message{user(text), says(call("1"), call("2")), user(lost("1"), result("2"), text)}},
		{"none has come", []model.Message{user(text), says(call("1"))}, []model.Message{user(text), says(call("1")), user(lost("1"))}},
		{"a result without a call", []model.Message{user(text), says(text), user(result("9"), text)}, []model.Message{user(text), says(text), user(text)}},
	} {
		if diff := cmp.Diff(tt.want, model.Settle(tt.got, "lost")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
