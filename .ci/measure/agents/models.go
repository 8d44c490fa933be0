package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"toolcrib/.ci/measure/harness"
)

// modelCase is a job of run_agent against a model that answers by a script, with what must come
// of it.
type modelCase struct {
	name    string
	answers []answer
	args    object   // beside task, model and tools
	want    []string // in the result
	never   []string // not in it
	asked   int      // requests; 0 = as many as there are answers
	told    []string // in the last request
	least   time.Duration
	second  []answer // of the next model
	only    string   // the one dialect that has it
	slow    bool     // it is tried at full size alone
}

var (
	look  = turn{text: "I look.", calls: []toolCall{{"c1", "glob", `{"pattern":"*.txt"}`}}}
	found = turn{text: "It is a.txt – ✓."}
)

// finds is what every good end has.
var finds = []string{"completed; run ", "\n\nIt is a.txt – ✓.\n"}

const page = "<!DOCTYPE html><html><body>Bad gateway</body></html>"

// modelCases are the cases, each with what must come of it.
func modelCases() []modelCase {
	soon := func(code int, body string) answer { return status(code, body, "Retry-After-Ms", "20") }
	list := []modelCase{
		{name: "an answer", answers: []answer{says(found)}, want: append(finds, ": 1 round, 110 tokens, "), told: []string{"find it"}},
		{name: "an answer as one object", answers: []answer{object1(found)}, want: append(finds, "110 tokens")},
		{name: "a call, then an answer", answers: []answer{says(look), says(found)}, want: append(finds, "2 rounds, 220 tokens"), told: []string{"a.txt", "c1"}},
		{name: "a call as one object", answers: []answer{object1(look), says(found)}, want: finds, told: []string{"a.txt", "c1"}},
		{name: "two calls at once", answers: []answer{says(turn{calls: []toolCall{look.calls[0], {"c2", "glob", `{"pattern":"*.none"}`}}}), says(found)}, want: append(finds, "2 rounds"), told: []string{"c1", "a.txt", "c2", "0 files"}},
		{name: "eight calls at once", answers: []answer{says(turn{calls: eightCalls()}), says(found)}, want: append(finds, "2 rounds"), told: []string{"c0", "c7", "k7.txt"}},
		{name: "three turns of calls", answers: []answer{says(look), says(turn{calls: []toolCall{{"c2", "glob", `{"pattern":"k1*"}`}}}), says(turn{calls: []toolCall{{"c3", "glob", `{"pattern":"k2*"}`}}}), says(found)}, want: append(finds, "4 rounds, 440 tokens"), told: []string{"k1.txt", "k2.txt"}},
		{name: "a call without arguments", answers: []answer{says(turn{calls: []toolCall{{"c1", "list_directory", ""}}}), says(found)}, want: finds, told: []string{"k7.txt"}},
		{name: "thinking", answers: []answer{says(turn{thinking: "Let me think about it.", text: found.text})}, want: finds, never: []string{"Let me think"}},
		{name: "thinking before a call goes back", only: "messages", answers: []answer{says(turn{thinking: "I must look.", calls: look.calls}), says(found)}, want: finds, told: []string{"I must look.", "sig-of-thoughts"}},
		{name: "thinking before a call", only: "chat", answers: []answer{says(turn{thinking: "I must look.", calls: look.calls}), says(found)}, want: finds, told: []string{"a.txt"}},
		{name: "arguments that are not JSON", answers: []answer{says(turn{calls: []toolCall{{"c1", "glob", `{"pattern": *.txt`}}}), says(found)}, want: finds, told: []string{"not a JSON object"}},
		{name: "arguments that are a list", answers: []answer{says(turn{calls: []toolCall{{"c1", "glob", `["*.txt"]`}}}), says(found)}, want: finds, told: []string{"not a JSON object"}},
		{name: "arguments that do not fit", answers: []answer{says(turn{calls: []toolCall{{"c1", "glob", `{"pattern":{"a":1}}`}}}), says(found)}, want: finds, told: []string{"invalid_argument"}},
		{name: "a tool that was not given", answers: []answer{says(turn{calls: []toolCall{{"c1", "write_file", `{"path":"x","content":"x"}`}}}), says(found)}, want: finds, told: []string{"denied: you have no tool"}, never: []string{"changed:"}},
		{name: "a call that the limit cuts", answers: []answer{says(turn{calls: []toolCall{{"c1", "glob", `{"pattern":"*.t`}}, end: "length"}), says(found)}, want: finds, told: []string{"not carried out"}},
		{name: "an answer that the limit cuts", answers: []answer{says(turn{text: "It is ", end: "length"}), says(found)}, want: append(finds, "2 rounds"), told: []string{"Go on where it ended"}},
		{name: "an answer that the limit cuts twice", answers: []answer{says(turn{text: "It is ", end: "length"})}, asked: 2, want: []string{"limit: ", "cut twice", "to go on: resume"}},
		{name: "a refusal", answers: []answer{says(turn{text: "No.", end: "refused"})}, want: []string{"failed: the model refused"}},
		{name: "the limit of rounds within calls", args: object{"max_rounds": 2}, answers: []answer{says(look), says(look), says(turn{text: "Half of it."})}, want: []string{"limit: 2 rounds", "Half of it.", "to go on: resume"}, told: []string{"cannot call tools any more", `"none"`}},
		{name: "a result by schema", args: object{"output_schema": schemaOfN}, answers: []answer{says(turn{calls: []toolCall{{"c1", "submit", `{"n":"x"}`}}}), says(turn{calls: []toolCall{{"c2", "submit", `{"n":7}`}}})}, want: []string{"completed; run ", `{"n":7}`}, told: []string{"does not fit"}},

		{name: "broken off before it began", answers: []answer{breaks(found, 0), says(found)}, want: append(finds, "1 round")},
		{name: "broken off in the text", answers: []answer{breaks(found, .5), says(found)}, want: append(finds, "1 round")},
		{name: "broken off in a call", answers: []answer{breaks(look, .6), says(look), says(found)}, want: append(finds, "2 rounds"), told: []string{"a.txt"}},
		{name: "nothing at all", answers: []answer{status(200, ""), says(found)}, want: append(finds, "1 round")},
		{name: "overloaded in the middle of an answer", answers: []answer{faults(found), says(found)}, want: append(finds, "1 round")},
		{name: "overloaded in the middle of a call", answers: []answer{faults(look), says(look), says(found)}, want: append(finds, "2 rounds")},

		{name: "429, Retry-After: 1", answers: []answer{status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "1"), says(found)}, want: finds, least: time.Second},
		{name: "429, Retry-After: 0.3", answers: []answer{status(429, "", "Retry-After", "0.3"), says(found)}, want: finds, least: 300 * time.Millisecond},
		{name: "429, Retry-After-Ms: 40", answers: []answer{soon(429, "")}, second: nil, want: []string{"failed: ", "busy"}, asked: 4},
		{name: "429, Retry-After-Ms before Retry-After", answers: []answer{status(429, "", "Retry-After-Ms", "50", "Retry-After", "3000"), says(found)}, want: finds},
		{name: "429, Retry-After: a date", answers: []answer{func(w http.ResponseWriter, _ dialect) {
			w.Header().Set("Retry-After", time.Now().Add(2*time.Second).UTC().Format(http.TimeFormat))
			w.WriteHeader(429)
		}, says(found)}, want: finds, least: time.Second},
		{name: "429, Retry-After: a date that has been", answers: []answer{status(429, "", "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"), says(found)}, want: finds},
		{name: "429, Retry-After: nonsense", answers: []answer{status(429, "", "Retry-After", "later"), says(found)}, want: finds},
		{name: "429, no Retry-After", answers: []answer{status(429, ""), says(found)}, want: finds, least: time.Second},
		{name: "429, Retry-After: an hour", answers: []answer{status(429, "", "Retry-After", "3600")}, want: []string{"failed: ", "asks to wait 1h"}},
		{name: "429 that means no money", answers: []answer{status(429, `{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}`)}, want: []string{"failed: ", "quota"}},
		{name: "503", answers: []answer{soon(503, "busy"), says(found)}, want: finds},
		{name: "500 with a page", answers: []answer{soon(500, page), says(found)}, want: finds},
		{name: "529", answers: []answer{soon(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`), says(found)}, want: finds},
		{name: "401", answers: []answer{status(401, `{"error":{"message":"bad key"}}`)}, want: []string{"failed: ", "key refused", "bad key"}},
		{name: "402", answers: []answer{status(402, "")}, want: []string{"failed: ", "quota"}},
		{name: "404", answers: []answer{status(404, `{"error":{"type":"not_found_error","message":"no such model"}}`)}, want: []string{"failed: ", "not found", "no such model"}},
		{name: "400", answers: []answer{status(400, `{"error":{"message":"bad field"}}`)}, want: []string{"failed: ", "rejected", "bad field"}},
		{name: "a conversation that is too long", answers: []answer{status(400, `{"error":{"message":"prompt is too long: 300000 tokens > 200000 maximum"}}`)}, want: []string{"failed: ", "too long"}},
		{name: "a page with status 200", answers: []answer{status(200, page, "Content-Type", "text/html")}, want: []string{"failed: ", "not a model's answer", "Bad gateway"}},
		{name: "a page with status 200 that says it is a stream", answers: []answer{status(200, page, "Content-Type", "text/event-stream")}, want: []string{"failed: ", "not a model's answer"}},
		{name: "an object that is no answer", answers: []answer{status(200, `{"ok":true}`, "Content-Type", "application/json")}, want: []string{"failed: ", "not an answer"}},
		{name: "an endless answer", answers: []answer{endless}, want: []string{"failed: ", "does not end"}},
		{name: "no use told", answers: []answer{counts(found, never)}, want: append(finds, "about ", " tokens")},
		{name: "sums of use with every event", answers: []answer{counts(found, sums)}, want: append(finds, ": 1 round, 110 tokens, ")},
		{name: "another model after a refused key", answers: []answer{status(401, "")}, second: []answer{says(found)}, asked: 1, want: finds},
		{name: "another model in the middle of a run", answers: []answer{says(look), status(402, "")}, second: []answer{says(found)}, asked: 2, want: append(finds, "2 rounds")},

		{name: "calls without an index", only: "chat", answers: []answer{raw(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"id":"c1","function":{"name":"glob","arguments":"{\"pattern\":\"*.txt\"}"}},{"id":"c2","function":{"name":"glob","arguments":"{\"pattern\":\"k1*\"}"}}]},"finish_reason":"tool_calls"}]}`, "data: [DONE]"), says(found)}, want: finds, told: []string{"a.txt", "c2"}},
		{name: "the ID and the name in every piece", only: "chat", answers: []answer{raw(
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"glob","arguments":"{\"pattern\":"}}]}}]}`,
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"glob","arguments":"\"*.txt\"}"}}]},"finish_reason":"tool_calls"}]}`, "data: [DONE]"), says(found)}, want: finds, told: []string{"a.txt"}},
		{name: "no ID", only: "chat", answers: []answer{raw(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"glob","arguments":"{\"pattern\":\"*.txt\"}"}}]},"finish_reason":"stop"}]}`), says(found)}, want: finds, told: []string{"a.txt"}},
		{name: "no [DONE], comments, and lines that end in CR LF", only: "chat", answers: []answer{raw(": keep-alive\r", `data: {"choices":[{"index":0,"delta":{"content":"It is a.txt – ✓."},"finish_reason":"stop"}]}`+"\r\n\r")}, want: finds},
		{name: "a pause", only: "messages", answers: []answer{raw(`data: {"type":"message_start","message":{}}`, `data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"hm"}}`, `data: {"type":"message_delta","delta":{"stop_reason":"pause_turn"}}`, `data: {"type":"message_stop"}`), says(found)}, want: finds, told: []string{"hm"}},
		{name: "thinking that is hidden goes back", only: "messages", answers: []answer{raw(`data: {"type":"message_start","message":{}}`, `data: {"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"hidden-thoughts"}}`, `data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"c1","name":"glob","input":{"pattern":"*.txt"}}}`, `data: {"type":"content_block_stop","index":1}`, `data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `data: {"type":"message_stop"}`), says(found)}, want: finds, told: []string{"hidden-thoughts", "a.txt"}},
		{name: "pings", only: "messages", answers: []answer{raw("event: ping\ndata: {\"type\":\"ping\"}", strings.Join(messagesDialect.events(found, once), "\n\n"), "event: ping\ndata: {\"type\":\"ping\"}")}, want: finds},
	}
	return list
}

// raw sends events unchanged.
func raw(events ...string) answer {
	return func(w http.ResponseWriter, _ dialect) { stream(w, events) }
}

var schemaOfN = object{"type": "object", "properties": object{"n": object{"type": "integer"}}, "required": []string{"n"}}

func eightCalls() (list []toolCall) {
	for i := range 8 {
		list = append(list, toolCall{fmt.Sprintf("c%d", i), "glob", fmt.Sprintf(`{"pattern":"k%d*"}`, i)})
	}
	return list
}

// trial is a case in a dialect.
type trial struct {
	modelCase
	dialect dialect
	id      string
	mock    bool // aimock answers
}

// Models has run_agent work with models that answer as services do on good and bad days, in both
// dialects: a stand-in of ours, and aimock of npm, which others have made.
func Models(ctx context.Context, env harness.Environment) error {
	var trials []trial
	service := &fake{cases: map[string]*played{}}
	for i, c := range modelCases() {
		for _, d := range []dialect{chatDialect, messagesDialect} {
			if c.only != "" && c.only != d.name {
				continue
			}
			t := trial{modelCase: c, dialect: d, id: fmt.Sprintf("%s_%d", d.name, i)}
			trials = append(trials, t)
			service.cases["/"+t.id] = &played{dialect: d, answers: c.answers}
			if c.second != nil {
				service.cases["/"+t.id+"_second"] = &played{dialect: d, answers: c.second}
			}
		}
	}
	server := httptest.NewServer(service)
	defer server.Close()
	own := len(trials)
	mock, stop, err := aimock(ctx, env)
	if err != nil {
		return err
	}
	defer stop()
	if mock != "" {
		for _, t := range mockTrials() {
			if env.Full() || !t.slow {
				trials = append(trials, t)
			}
		}
	}
	good, took, err := tryModels(ctx, env, trials, service, server.URL, mock)
	fmt.Println("| models | cases | as expected |\n|---|---|---|")
	fmt.Printf("| a stand-in of ours, both dialects | %d | %d |\n", own, good[false])
	if mock == "" {
		fmt.Println("| aimock | skipped: it is not installed; run .ci/install | |")
	} else {
		fmt.Printf("| aimock, both dialects | %d | %d |\n", len(trials)-own, good[true])
	}
	fmt.Printf("%d cases in %.1f s\n", len(trials), took.Seconds())
	const fewest = 60
	if len(trials) < fewest {
		err = errors.Join(err, fmt.Errorf("%d cases, want at least %d", len(trials), fewest))
	}
	return err
}

// tryModels runs all trials with one server, some at once.
func tryModels(ctx context.Context, env harness.Environment, trials []trial, service *fake, url, mock string) (good map[bool]int, took time.Duration, err error) {
	base, dir, err := env.Scratch("models")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(base)
	for i := range 8 {
		err = errors.Join(err, write(filepath.Join(dir, fmt.Sprintf("k%d.txt", i)), "k\n"))
	}
	config := filepath.Join(base, "config.yaml")
	err = errors.Join(err, write(filepath.Join(dir, "a.txt"), "a\n"), write(config, text(configOf(trials, url, mock))))
	if err != nil {
		return nil, 0, err
	}
	u, err := harness.UseTools(ctx, env.Writer(dir, "--durable=false", "--config", config))
	if err != nil {
		return nil, 0, err
	}
	good = map[bool]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	room := make(chan struct{}, 32)
	var errs []error
	begin := time.Now()
	for _, t := range trials {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			err := t.try(u, service)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				errs = append(errs, fmt.Errorf("%s, %s: %w", t.name, t.dialect.name, err))
				return
			}
			good[t.mock]++
		})
	}
	all.Wait()
	return good, time.Since(begin), errors.Join(errors.Join(errs...), u.Close())
}

// configOf returns the configuration: a model for each trial, and a preset where a case has two.
func configOf(trials []trial, url, mock string) object {
	models, presets := object{}, object{}
	for _, t := range trials {
		endpoint := func(name string) object {
			return object{"url": url + "/" + name, "dialect": t.dialect.name, "model": "m", "max_output": 256}
		}
		models[t.id] = endpoint(t.id)
		if t.mock {
			models[t.id] = object{"url": mock + "/v1", "dialect": t.dialect.name, "model": "m", "max_output": 256}
		}
		if t.second != nil {
			models[t.id+"_second"] = endpoint(t.id + "_second")
			presets[t.id] = object{"models": []string{t.id, t.id + "_second"}}
		}
	}
	return object{"agents": object{"models": models, "presets": presets}}
}

// try runs one trial and compares.
func (t trial) try(u *harness.ToolUser, service *fake) error {
	args := object{"task": "find it", "tools": []string{"glob", "list_directory"}}
	if t.mock {
		args["task"] = t.name
	}
	if t.second != nil {
		args["agent"] = t.id
	} else {
		args["model"] = t.id
	}
	maps.Copy(args, t.args)
	begin := time.Now()
	got, err := u.Use("run_agent", args)
	took := time.Since(begin)
	if err != nil {
		return err
	}
	for _, part := range t.want {
		if !strings.Contains(got.Text, part) {
			return fmt.Errorf("no %q in %.400s", part, got.Text)
		}
	}
	for _, part := range t.never {
		if strings.Contains(got.Text, part) {
			return fmt.Errorf("%q in %.400s", part, got.Text)
		}
	}
	if took < t.least {
		return fmt.Errorf("it took %v, want at least %v", took, t.least)
	}
	if t.mock {
		return nil
	}
	service.mu.Lock()
	defer service.mu.Unlock()
	c := service.cases["/"+t.id]
	asked := t.asked
	if asked == 0 {
		asked = len(t.answers)
	}
	if len(c.requests) != asked {
		return fmt.Errorf("asked %d times, want %d; %.400s", len(c.requests), asked, got.Text)
	}
	last := c.requests[len(c.requests)-1]
	for _, part := range t.told {
		if !strings.Contains(last, part) {
			return fmt.Errorf("the model was not told %q: %.2000s", part, last)
		}
	}
	return nil
}

// mockTrials are what aimock plays.
func mockTrials() (list []trial) {
	for _, c := range []modelCase{
		{name: "mock: an answer", want: finds},
		{name: "mock: a call", want: append(finds, "2 rounds")},
		{name: "mock: two calls", want: append(finds, "2 rounds")},
		{name: "mock: thinking", want: finds, never: []string{"I wonder"}},
		{name: "mock: busy", want: []string{"failed: ", "busy"}},
		{name: "mock: refused key", want: []string{"failed: ", "key refused"}},
		{name: "mock: broken", slow: true, want: []string{"failed: ", "EOF"}},
		{name: "mock: odd tool", want: finds},
	} {
		for _, d := range []dialect{chatDialect, messagesDialect} {
			list = append(list, trial{modelCase: c, dialect: d, id: fmt.Sprintf("mock_%s_%d", d.name, len(list)), mock: true})
		}
	}
	return list
}

// mockFixtures are what aimock answers to the tasks of the trials.
func mockFixtures() object {
	var list []object
	on := func(task string, after any, response object) {
		match := object{"userMessage": task}
		if after != nil {
			match["hasToolResult"] = after
		}
		fixture := object{"match": match, "response": response}
		if chunks, ok := response["truncateAfterChunks"]; ok {
			delete(response, "truncateAfterChunks")
			fixture["truncateAfterChunks"] = chunks
		}
		list = append(list, fixture)
	}
	call := func(pattern string) object {
		return object{"name": "glob", "arguments": text(object{"pattern": pattern})}
	}
	says := object{"content": found.text}
	on("mock: an answer", nil, says)
	on("mock: a call", false, object{"toolCalls": []object{call("*.txt")}})
	on("mock: a call", true, says)
	on("mock: two calls", false, object{"content": "I look.", "toolCalls": []object{call("*.txt"), call("k1*")}})
	on("mock: two calls", true, says)
	on("mock: thinking", nil, object{"content": found.text, "reasoning": "I wonder."})
	on("mock: busy", nil, object{"error": object{"message": "Rate limited", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1})
	on("mock: refused key", nil, object{"error": object{"message": "Bad key", "type": "authentication_error"}, "status": 401})
	on("mock: broken", nil, object{"content": strings.Repeat("It goes on. ", 40), "truncateAfterChunks": 3})
	on("mock: odd tool", false, object{"toolCalls": []object{{"name": "no_such_tool", "arguments": "{}"}}})
	on("mock: odd tool", true, says)
	return object{"fixtures": list}
}

// aimock starts aimock and returns its address, "" if it is not installed.
func aimock(ctx context.Context, env harness.Environment) (url string, stop func(), err error) {
	program := env.NPM("@copilotkit/aimock/dist/cli.js")
	if _, err := os.Stat(program); err != nil {
		return "", func() {}, nil
	}
	dir, remove, err := harness.Temporary("aimock")
	if err != nil {
		return "", remove, err
	}
	fixtures := filepath.Join(dir, "fixtures.json")
	if err := write(fixtures, text(mockFixtures())); err != nil {
		return "", remove, err
	}
	port, err := harness.FreePort()
	if err != nil {
		return "", remove, err
	}
	url = "http://127.0.0.1:" + port
	end, err := env.StartNode(ctx, dir, program, "-p", port, "-f", fixtures, "--log-level", "silent")
	stop = func() {
		end()
		remove()
	}
	if err != nil {
		return "", stop, err
	}
	for wait := time.Now(); time.Since(wait) < 20*time.Second; time.Sleep(50 * time.Millisecond) {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = conn.Close()
			return url, stop, nil
		}
	}
	return "", stop, errors.New("aimock does not listen")
}
