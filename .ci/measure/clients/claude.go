package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolcrib/.ci/measure/harness"
)

// Claude has Claude Code connect, list and call, take a prompt as its command,
// read a resource and answer forms, which its print mode cancels, over both
// transports. A stand-in of its API on loopback plays the model.
func Claude(ctx context.Context, env harness.Environment) error {
	fmt.Println("| Claude Code | connects, in revision | lists the tools | calls read_files and, by call_tool, read_file, the result reaches the model | takes a prompt | reads a resource | answers forms | its log |\n|---|---|---|---|---|---|---|---|")
	return overEach(ctx, env, func(b *bench) (string, error) {
		var revision string
		err := unhurried(func() (err error) {
			revision, err = claudeOver(ctx, env, b)
			return err
		})
		return revision + " | yes | yes | yes | yes | yes | no complaint", err
	}, "asking")
}

func claudeOver(ctx context.Context, env harness.Environment, b *bench) (revision string, err error) {
	program, err := env.ClaudeProgram()
	if err != nil {
		return "", err
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.Join(b.dir, "hello.txt")}).String()
	m := &model{uses: []use{
		{tool: "mcp__toolcrib__read_files", args: `{"paths":["hello.txt"]}`, want: "hello, world"}, // it is not shown read_file
		{tool: "mcp__toolcrib__call_tool", args: `{"name":"read_file","arguments":{"path":"hello.txt"}}`, want: "hello, world"},
		{tool: "ReadMcpResourceTool", args: `{"server":"toolcrib","uri":"` + uri + `"}`, want: "hello, world"},
		{tool: "mcp__toolcrib__ask_user", args: `{"questions":[{"question":"Which?","options":["Red","Blue"]}]}`, want: "not asked: the client closed the form after "},
		{tool: "mcp__asking__greet", args: `{}`, want: "nobody greeted: cancel"},
	}}
	a, err := b.agent("claude", m, program)
	if err != nil {
		return "", err
	}
	defer a.close()
	a.env = append(a.env, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"ANTHROPIC_BASE_URL="+a.api.URL, "ANTHROPIC_API_KEY=dummy")

	servers := map[string]any{}
	for name, at := range map[string]harness.Endpoint{"toolcrib": b.servers["catalog"], "asking": b.servers["asking"]} {
		servers[name] = map[string]any{"type": "stdio", "command": at.Command, "args": at.Args}
		if at.URL != "" {
			servers[name] = map[string]any{"type": "http", "url": at.URL, "headers": map[string]any{"Authorization": "Bearer " + at.Token}}
		}
	}
	at := b.servers["catalog"]
	add := append([]string{"mcp", "add", "--scope", "user", "--transport", "stdio", "toolcrib", "--", at.Command}, at.Args...)
	if at.URL != "" {
		add = []string{"mcp", "add", "--scope", "user", "--transport", "http", "toolcrib", at.URL, "--header", "Authorization: Bearer " + at.Token}
	}
	out, err := a.run(ctx, add...)
	if err := wants("mcp add", "", out, err); err != nil {
		return "", err
	}
	out, err = a.run(ctx, "mcp", "get", "toolcrib")
	if err := wants("mcp get", "✔ Connected", out, err); err != nil {
		return "", err
	}
	config, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return "", err
	}
	file := filepath.Join(a.home, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return "", err
	}
	out, err = a.run(ctx, "-p", "/mcp__toolcrib__find_where greetings", "--mcp-config", file, "--strict-mcp-config",
		"--allowedTools", "mcp__toolcrib__read_files,mcp__toolcrib__call_tool,mcp__toolcrib__ask_user,mcp__asking__greet,ReadMcpResourceTool")
	if err := wants("session", "", out, err); err != nil {
		return "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range m.uses {
		if err := u.check(out); err != nil {
			return "", err
		}
	}
	if !strings.Contains(m.prompt, "done: greetings") { // as find_where begins
		return "", fmt.Errorf("the prompt did not reach the model: %s", m.prompt)
	}
	return claudeLog(a.home)
}

// claudeLog reads what Claude Code logged of the server: the revision, and
// nothing that it takes for an error.
func claudeLog(home string) (revision string, err error) {
	logs, err := filepath.Glob(filepath.Join(home, ".cache", "claude-cli-nodejs", "*", "mcp-logs-toolcrib", "*.jsonl"))
	if err == nil && len(logs) == 0 {
		err = errors.New("it has no log of the server")
	}
	if err != nil {
		return "", err
	}
	var all []byte
	for _, log := range logs {
		data, err := os.ReadFile(log)
		if err != nil {
			return "", err
		}
		all = append(all, data...)
	}
	for line := range bytes.Lines(all) {
		var entry struct{ Error string }
		if err := json.Unmarshal(line, &entry); err != nil {
			return "", err
		}
		if entry.Error != "" {
			return "", fmt.Errorf("it logged an error: %s; all it logged: %s", entry.Error, all)
		}
	}
	found := regexp.MustCompile(`negotiatedProtocolVersion\\":\\"([0-9-]+)`).FindSubmatch(all)
	if found == nil {
		return "", fmt.Errorf("it does not say in which revision it speaks: %s", all)
	}
	return string(found[1]), nil
}

// model answers as the Messages API does: it uses each tool once, after it has
// searched for it where tools are not listed, and ends.
type model struct {
	mu     sync.Mutex
	uses   []use
	prompt string // the first message
}

// use is one use of a tool; result is what came back.
type use struct {
	tool, args, want, result string
	own                      bool // the tool is the client's own
}

// check returns an error if the result is not the wanted one; out is what the client printed.
func (u use) check(out string) error {
	if strings.Contains(u.result, u.want) {
		return nil
	}
	err := fmt.Errorf("%s %s: the model got %q, want %q; %s", u.tool, u.args, u.result, u.want, out)
	if strings.Contains(u.result, "the form was closed without an answer") || strings.Contains(u.result, "the user does not want to answer") {
		err = errors.Join(errSlow, err)
	}
	return err
}

// errSlow means that a client took as long to close a form as a person takes, by which the server
// tells them apart.
var errSlow = errors.New("the client took long to close a form")

// unhurried tries again, twice at most, if the machine was too busy for a client that has no user
// to be told from a person.
func unhurried(try func() error) (err error) {
	for range 3 {
		if err = try(); !errors.Is(err, errSlow) {
			break
		}
	}
	return err
}

// name is what the client calls the tool; prefix is that of the server's tools.
func (u use) name(prefix string) string {
	if u.own {
		return u.tool
	}
	return prefix + u.tool
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"input_tokens":1}`)
		return
	}
	var req struct {
		Stream   bool
		Tools    []struct{ Name string }
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !req.Stream {
		http.Error(w, "this stand-in only streams", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	results := map[string]string{}
	for _, msg := range req.Messages {
		var blocks []struct {
			ToolUseID string `json:"tool_use_id"`
			Content   json.RawMessage
		}
		if json.Unmarshal(msg.Content, &blocks) != nil {
			continue // plain text
		}
		for _, b := range blocks {
			if b.ToolUseID != "" {
				results[b.ToolUseID] = string(b.Content)
			}
		}
	}
	searchable := slices.ContainsFunc(req.Tools, func(t struct{ Name string }) bool { return t.Name == "ToolSearch" })
	if len(req.Tools) > 0 && len(results) == 0 {
		m.prompt = ""
		for _, msg := range req.Messages {
			m.prompt += string(msg.Content)
		}
	}
	for i := range m.uses {
		u := &m.uses[i]
		call, search := fmt.Sprintf("toolu_call_%d", i), fmt.Sprintf("toolu_search_%d", i)
		u.result = results[call]
		if u.result != "" || len(req.Tools) == 0 {
			continue
		}
		if searchable && results[search] == "" {
			replyUse(w, search, "ToolSearch", `{"query":"select:`+u.tool+`","max_results":5}`)
		} else {
			replyUse(w, call, u.tool, u.args)
		}
		return
	}
	reply(w, `{"type":"text","text":""}`, `{"type":"text_delta","text":"It greets the world."}`, "end_turn")
}

func replyUse(w http.ResponseWriter, id, name, args string) {
	reply(w, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}`,
		fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, args), "tool_use")
}

// reply writes one message of one block, as events.
func reply(w http.ResponseWriter, block, delta, reason string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range [][2]string{
		{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"stand-in","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`},
		{"content_block_start", `{"type":"content_block_start","index":0,"content_block":` + block + `}`},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":` + delta + `}`},
		{"content_block_stop", `{"type":"content_block_stop","index":0}`},
		{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":1}}`},
		{"message_stop", `{"type":"message_stop"}`},
	} {
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e[0], e[1])
	}
}
