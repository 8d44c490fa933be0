package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"toolcrib/server"
)

// launch is how a client starts this server.
type launch struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// launchOf returns the launch of a server with this configuration and roots.
// It works from any directory and does not depend on the environment.
func launchOf(cfg server.Config, roots []string) launch {
	args := []string{"serve"}
	for _, o := range options(&cfg) {
		switch {
		case o.field.IsZero():
		case o.field.Kind() == reflect.Bool:
			args = append(args, "--"+o.name)
		case o.field.Kind() == reflect.Slice:
			args = append(args, "--"+o.name+"="+strings.Join(o.field.Interface().([]string), ","))
		default:
			value := o.field.String()
			if abs, err := filepath.Abs(value); err == nil && (o.arg == "FILE" || o.arg == "DIR") {
				value = abs
			}
			args = append(args, "--"+o.name+"="+value)
		}
	}
	for _, root := range roots {
		if strings.HasPrefix(root, "-") {
			args = append(args, "--")
			break
		}
	}
	return launch{Type: "stdio", Command: executable(), Args: append(args, roots...)}
}

// json returns the configuration file that most clients read.
func (l launch) json() (string, error) {
	return encode(map[string]any{"mcpServers": map[string]launch{"toolcrib": l}})
}

// line is the launch as a command line.
func (l launch) line() string {
	words := []string{shellWord(l.Command)}
	for _, arg := range l.Args {
		words = append(words, shellWord(arg))
	}
	return strings.Join(words, " ")
}

// client is a program that can be told on its command line to use a server.
type client struct {
	binary string
	name   string
	add    func(launch) string
}

func clients() []client {
	return []client{
		{"claude", "Claude Code", func(l launch) string { return "claude mcp add toolcrib -- " + l.line() }},
		{"codex", "Codex", func(l launch) string { return "codex mcp add toolcrib -- " + l.line() }},
		{"gemini", "Gemini CLI", func(l launch) string { return "gemini mcp add toolcrib " + l.line() }},
		{"code", "VS Code", addToCode},
		{"cursor", "Cursor", func(l launch) string {
			return "put the snippet that toolcrib prints at a terminal into " + filepath.Join("~", ".cursor", "mcp.json")
		}},
	}
}

// setUp says how to make a client start the server: the snippet that most
// clients read, and the command of each client that is there.
func (p *Process) setUp(l launch) (string, error) {
	snippet, err := l.json()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, `For Claude Desktop, Claude Code, Cursor, Gemini CLI and most others, put this
into the client's configuration (VS Code calls the outer key "servers"):

%s
Or let the client do it:
`, snippet)
	for _, c := range clients() {
		if _, err := p.LookPath(c.binary); err == nil || c.binary == "claude" {
			fmt.Fprintf(&b, "  %s\n", c.add(l))
		}
	}
	return b.String(), nil
}

func addToCode(l launch) string {
	data, err := json.Marshal(map[string]any{"name": "toolcrib", "command": l.Command, "args": l.Args})
	if err != nil {
		panic(err) // strings always encode
	}
	return "code --add-mcp " + shellWord(string(data))
}

// encode is indented JSON that shows <, > and & as they are.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return b.String(), nil
}
