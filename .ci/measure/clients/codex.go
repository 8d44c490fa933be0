package clients

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// Codex has Codex connect, list, call, read a resource and put a form before
// its user, over both transports.
func Codex(ctx context.Context, env harness.Environment) error {
	fmt.Println("| Codex app-server | lists the tools | calls read_files | reads a resource | puts forms to its user | its log |\n|---|---|---|---|---|---|")
	return overEach(ctx, env, func(b *bench) (string, error) {
		listed, err := codexOver(ctx, env, b)
		return fmt.Sprintf("%d | yes | yes | yes | no complaint", listed), err
	}, "asking")
}

// codexComplaint matches what Codex logs when a server does wrong.
var codexComplaint = regexp.MustCompile(`(WARN|ERROR)\b.* (rmcp|codex_mcp|codex_rmcp_client)\b`)

func codexOver(ctx context.Context, env harness.Environment, b *bench) (listed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	home, remove, err := harness.Temporary("codex")
	if err != nil {
		return 0, err
	}
	defer remove()
	// Nothing is fetched from the network: neither plugins nor a model.
	var config strings.Builder
	config.WriteString("model_provider = \"none\"\n[model_providers.none]\nname = \"none\"\nbase_url = \"http://127.0.0.1:9\"\n[features]\nplugins = false\n")
	for _, name := range []string{"catalog", "asking"} {
		at := b.servers[name]
		fmt.Fprintf(&config, "[mcp_servers.%s]\n", name)
		if at.URL == "" {
			fmt.Fprintf(&config, "command = %q\nargs = [\"%s\"]\n", at.Command, strings.Join(at.Args, `", "`))
			continue
		}
		fmt.Fprintf(&config, "url = %q\n", at.URL)
		if at.Token != "" {
			config.WriteString("bearer_token_env_var = \"TOOLCRIB_TOKEN\"\n")
		}
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config.String()), 0o600); err != nil {
		return 0, err
	}
	app, err := startApp(ctx, env, b, home)
	if err != nil {
		return 0, err
	}
	listed, err = app.session(b.dir)
	log, closed := app.close()
	if err := errors.Join(err, closed); err != nil {
		return 0, fmt.Errorf("%w; its log:\n%s", err, log)
	}
	for line := range strings.Lines(log) {
		if codexComplaint.MatchString(line) && !strings.Contains(line, "'asking'") {
			return 0, fmt.Errorf("it logged: %s", line)
		}
	}
	return listed, nil
}

// app is Codex as an editor drives it: JSON-RPC in lines.
type app struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  *bufio.Scanner
	stderr bytes.Buffer
	last   int
	forms  int // that its user was asked to fill in
}

// codexProgram finds the program of this machine's kind in Codex's package.
func codexProgram(env harness.Environment) (string, error) {
	found, err := filepath.Glob(env.NPM("@openai/codex-*/vendor/*/bin/codex"))
	if err != nil || len(found) == 0 {
		return "", errors.New("no Codex is installed; run .ci/install")
	}
	return found[0], nil
}

func startApp(ctx context.Context, env harness.Environment, b *bench, home string) (*app, error) {
	program, err := codexProgram(env)
	if err != nil {
		return nil, err
	}
	a := &app{cmd: exec.CommandContext(ctx, program, "app-server")}
	a.cmd.Dir, a.cmd.Stderr = b.dir, &a.stderr
	a.cmd.Env = append(os.Environ(), "HOME="+home, "CODEX_HOME="+home, "TOOLCRIB_TOKEN="+b.servers["catalog"].Token,
		"RUST_LOG=warn,rmcp=info,codex_mcp=info", "NO_COLOR=1")
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.lines = bufio.NewScanner(out)
	a.lines.Buffer(nil, 16<<20)
	return a, a.cmd.Start()
}

// session does what the figure shows and returns how many tools are listed.
func (a *app) session(dir string) (listed int, err error) {
	hello := map[string]any{
		"clientInfo":   map[string]any{"name": "measure", "title": "measure", "version": "1"},
		"capabilities": map[string]any{"experimentalApi": true},
	}
	if err := a.call("initialize", hello, &struct{}{}); err != nil {
		return 0, err
	}
	if err := a.send(map[string]any{"method": "initialized"}); err != nil {
		return 0, err
	}
	var started struct{ Thread struct{ ID string } }
	if err := a.call("thread/start", map[string]any{"cwd": dir}, &started); err != nil {
		return 0, err
	}
	var status struct {
		Data []struct {
			Name  string
			Tools map[string]json.RawMessage
		}
	}
	if err := a.call("mcpServerStatus/list", map[string]any{}, &status); err != nil {
		return 0, err
	}
	for _, server := range status.Data {
		if server.Name == "catalog" {
			listed = len(server.Tools)
		}
	}
	if listed == 0 {
		return 0, errors.New("no tool is listed")
	}
	tool := func(server, name string, args any, want string) error {
		var result struct{ Content []struct{ Text string } }
		err := a.call("mcpServer/tool/call", map[string]any{"threadId": started.Thread.ID, "server": server, "tool": name, "arguments": args}, &result)
		if err == nil && (len(result.Content) == 0 || !strings.Contains(result.Content[0].Text, want)) {
			err = fmt.Errorf("%s: %v, want %q", name, result, want)
		}
		return err
	}
	if err := tool("catalog", "read_files", map[string]any{"paths": []string{"hello.txt"}}, "hello, world"); err != nil {
		return 0, err
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.Join(dir, "hello.txt")}).String()
	var read struct{ Contents []struct{ URI, Text string } }
	if err := a.call("mcpServer/resource/read", map[string]any{"threadId": started.Thread.ID, "server": "catalog", "uri": uri}, &read); err != nil {
		return 0, err
	}
	if len(read.Contents) != 1 || read.Contents[0].Text != "hello, world\n" {
		return 0, fmt.Errorf("%s: %v", uri, read)
	}
	if err := tool("asking", "greet", map[string]any{}, "hi, Ann"); err != nil {
		return 0, err
	}
	if err := tool("catalog", "ask_user", json.RawMessage(`{"questions":[{"header":"Colour","question":"Which?","options":["Red","Blue"]},`+
		`{"header":"Parts","question":"Which?","options":["a","b"],"multi":true}]}`), "answered\n1. Colour: Red; in the user's words: but darker\n2. Parts: b"); err != nil {
		return 0, err
	}
	if a.forms != 2 {
		return 0, fmt.Errorf("its user was asked %d times, want twice", a.forms)
	}
	return listed, nil
}

func (a *app) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = a.in.Write(append(data, '\n'))
	return err
}

// call sends a request and reads until its answer. A form that comes meanwhile
// is filled in, as its tool wants it.
func (a *app) call(method string, params, result any) error {
	a.last++
	if err := a.send(map[string]any{"id": a.last, "method": method, "params": params}); err != nil {
		return err
	}
	for a.lines.Scan() {
		var m harness.Message
		if err := json.Unmarshal(a.lines.Bytes(), &m); err != nil {
			return err
		}
		switch {
		case m.Method == "mcpServer/elicitation/request":
			a.forms++
			content := map[string]any{"name": "Ann", "tone": "hi"}
			if bytes.Contains(m.Params, []byte(`"answer_1"`)) { // several choices are booleans in its revision
				content = map[string]any{"answer_1": "Red", "answer_1_other": "but darker", "answer_2_1": false, "answer_2_2": true}
			}
			answer := map[string]any{"action": "accept", "content": content}
			if err := a.send(map[string]any{"id": m.ID, "result": answer}); err != nil {
				return err
			}
		case m.Method == "mcpServer/startupStatus/updated" && bytes.Contains(m.Params, []byte(`"failed"`)):
			return fmt.Errorf("%s: %s", m.Method, m.Params)
		case m.Method != "" || string(m.ID) != fmt.Sprint(a.last):
		case m.Error != nil:
			return fmt.Errorf("%s: %d %s", method, m.Error.Code, m.Error.Message)
		default:
			return json.Unmarshal(m.Result, result)
		}
	}
	return fmt.Errorf("%s: the app server ended: %w", method, a.lines.Err())
}

// close ends the app server and returns its log.
func (a *app) close() (log string, err error) {
	err = a.in.Close()
	for a.lines.Scan() { // until it ends
	}
	return a.stderr.String(), errors.Join(err, a.cmd.Wait())
}
