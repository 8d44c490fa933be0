package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// node runs a node program of the cache and returns its output.
func (e environment) node(ctx context.Context, dir string, vars []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(e.Cache, "npm", "node_modules", ".bin", "node"), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), vars...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w: %s%s", err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// inspector lists and calls through the Inspector in every era, and has it lint
// the schemas.
func inspector(ctx context.Context, env environment) error {
	dir, err := sample()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := env.npm(".bin/mcp-inspector")
	fmt.Println("| Inspector CLI | list | call | strict |\n|---|---|---|---|")
	for _, era := range []string{"legacy", "auto", "modern"} {
		base := []string{program, "--cli", "--protocol-era", era}
		target := []string{env.Binary, dir}
		list, err := env.node(ctx, dir, nil, append(append(base, "--method", "tools/list", "--strict", "--format", "json"), target...)...)
		if err != nil {
			return fmt.Errorf("%s: tools/list: %w", era, err)
		}
		if !strings.Contains(list, `"read_file"`) || strings.Contains(strings.ToLower(list), "warning") {
			return fmt.Errorf("%s: tools/list: %s", era, list)
		}
		call, err := env.node(ctx, dir, nil, append(append(base, "--method", "tools/call", "--tool-name", "read_file",
			"--tool-args-json", `{"path":"hello.txt"}`, "--format", "json"), target...)...)
		if err != nil {
			return fmt.Errorf("%s: tools/call: %w", era, err)
		}
		if !strings.Contains(call, "hello, world") {
			return fmt.Errorf("%s: tools/call: %s", era, call)
		}
		fmt.Printf("| %s | ok | ok | no finding |\n", era)
	}
	return nil
}

// sample is a small workspace.
func sample() (string, error) {
	dir, err := os.MkdirTemp("", "sample")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello, world\n"), 0o644)
}

// claude has Claude Code connect, list and call over stdio. A stand-in of its
// API on loopback plays the model.
func claude(ctx context.Context, env environment) error {
	dir, err := sample()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	model := &model{tool: "mcp__toolcrib__read_file", args: `{"path":"hello.txt"}`}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: model}
	go func() { _ = web.Serve(listener) }() // ends with Close
	defer web.Close()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"toolcrib": map[string]any{"type": "stdio", "command": env.Binary, "args": []string{dir}},
	}})
	if err != nil {
		return err
	}
	file := filepath.Join(home, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	vars := []string{
		"HOME=" + home, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"ANTHROPIC_BASE_URL=http://" + listener.Addr().String(), "ANTHROPIC_API_KEY=dummy",
	}
	program, err := env.claudeProgram()
	if err != nil {
		return err
	}
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), vars...)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("mcp", "add", "--scope", "user", "--transport", "stdio", "toolcrib", "--", env.Binary, dir); err != nil {
		return fmt.Errorf("mcp add: %w: %s", err, out)
	}
	got, err := run("mcp", "get", "toolcrib")
	if err != nil || !strings.Contains(got, "Connected") {
		return fmt.Errorf("mcp get: %w: %s", err, got)
	}
	out, err := run("-p", "What does hello.txt say?", "--mcp-config", file, "--strict-mcp-config", "--allowedTools", model.tool)
	if err != nil {
		return fmt.Errorf("session: %w: %s", err, out)
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	if !strings.Contains(model.result, "hello, world") {
		return fmt.Errorf("the tool's result did not reach the model: %q; %s", model.result, out)
	}
	fmt.Println("| Claude Code over stdio | connects | lists the tools | calls read_file, the result reaches the model |\n|---|---|---|---|")
	return nil
}

// claudeProgram finds the program of this machine's kind in Claude Code's package.
func (e environment) claudeProgram() (string, error) {
	found, err := filepath.Glob(e.npm("@anthropic-ai/claude-code-*/claude"))
	if err != nil || len(found) == 0 {
		return "", errors.New("no Claude Code is installed; run .ci/install")
	}
	return found[0], nil
}

// model answers as the Messages API does: it searches for the tool if it is not
// listed, calls it once, and ends.
type model struct {
	tool, args string

	mu     sync.Mutex
	result string
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/v1/messages") {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"input_tokens":1}`)
		return
	}
	var req struct {
		Stream bool
		Tools  []struct {
			Name         string
			DeferLoading bool `json:"defer_loading"`
		}
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	searchable, offered := false, false
	for _, t := range req.Tools {
		searchable = searchable || t.Name == "ToolSearch"
		offered = offered || t.Name == m.tool
	}
	called, searched := false, false
	for _, msg := range req.Messages {
		var blocks []struct {
			Type      string
			ToolUseID string `json:"tool_use_id"`
			Content   json.RawMessage
		}
		if json.Unmarshal(msg.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" && b.ToolUseID == "toolu_call" {
				called, m.result = true, string(b.Content)
			}
			searched = searched || b.Type == "tool_result" && b.ToolUseID == "toolu_search"
		}
	}
	switch {
	case called:
		reply(w, req.Stream, `{"type":"text","text":""}`, `{"type":"text_delta","text":"It greets the world."}`, "end_turn")
	case searchable && !searched:
		use(w, req.Stream, "toolu_search", "ToolSearch", `{"query":"select:`+m.tool+`","max_results":5}`)
	case offered || searched:
		use(w, req.Stream, "toolu_call", m.tool, m.args)
	default:
		reply(w, req.Stream, `{"type":"text","text":""}`, `{"type":"text_delta","text":"ok"}`, "end_turn")
	}
}

func use(w http.ResponseWriter, stream bool, id, name, args string) {
	quoted, err := json.Marshal(args)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	reply(w, stream, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}`,
		`{"type":"input_json_delta","partial_json":`+string(quoted)+`}`, "tool_use")
}

// reply writes one message of one block, as events.
func reply(w http.ResponseWriter, stream bool, block, delta, reason string) {
	if !stream {
		http.Error(w, "this stand-in only streams", http.StatusBadRequest)
		return
	}
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
