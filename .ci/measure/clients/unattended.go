package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"toolcrib/.ci/measure/harness"
)

// worker is a client that runs without a user.
type worker struct {
	name   string
	prefix string // of the names of the server's tools
	defers bool   // it offers its model no tool of a server before the model searches for it
	forms  bool   // it answers forms, by itself
	hides  int    // tools that it offers no model, since tools of its own have their names
	// setup writes its configuration for a server into the home of a, and returns the
	// arguments of a session. An error that is a [missing] skips the client.
	setup func(env harness.Environment, a *agent, at harness.Endpoint) (args []string, err error)
	// alone are the uses that it allows without any leave of its user, and leave is the flag
	// by which the user has given it for the others.
	alone []use
	leave string
}

// missing is why a client cannot be tried.
type missing string

func (m missing) Error() string { return string(m) }

// Unattended has each client work without a user: list, read, edit, run, ask, and make a call that
// is asked about, with --confirm ask and with --confirm client. Each must get on as its user
// expects, and none may be told that the user has declined.
func Unattended(ctx context.Context, env harness.Environment) error {
	shown, err := companions(ctx, env)
	if err != nil {
		return err
	}
	fmt.Println("| without a user | lists | reads, edits, runs | call_read_tool | ask_user | a call that asks | with --confirm client |\n|---|---|---|---|---|---|---|")
	for _, w := range workers() {
		var cells string
		err := unhurried(func() (err error) {
			cells, err = w.try(ctx, env, shown)
			return err
		})
		if lacks, is := errors.AsType[missing](err); is {
			fmt.Printf("| %s | skipped: %s | | | | | |\n", w.name, lacks)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Printf("| %s | %s |\n", w.name, cells)
	}
	return nil
}

// companions returns how many tools clients are shown that bring tools of their own.
func companions(ctx context.Context, env harness.Environment) (int, error) {
	out, err := exec.CommandContext(ctx, env.Binary, "list", "--preset", "companion", "--format", "mcp").Output()
	if err != nil {
		return 0, err
	}
	var doc struct{ Tools []json.RawMessage }
	err = json.Unmarshal(out, &doc)
	return len(doc.Tools), err
}

// Answers to a call that asks.
const (
	unconfirmed = "not confirmed: the client answered without asking its user, or the user declined"
	formless    = "this client cannot show a form"
)

func (w worker) try(ctx context.Context, env harness.Environment, shown int) (cells string, err error) {
	asked := formless
	if w.forms {
		asked = unconfirmed
	}
	const patch = `{"patch":"*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n"}`
	const networked = `{"code":"print(6*7000003)","network":true}`
	listed := 0
	for confirm, last := range map[string]string{"ask": asked, "client": "42000018"} {
		script := &script{prefix: w.prefix, uses: []use{
			{tool: "read_files", args: `{"paths":["hello.txt"]}`, want: "hello, world"},
			{tool: "apply_patch", args: patch, want: "made.txt"},
			{tool: "run_python", args: `{"code":"print(6*7000003)"}`, want: "42000018"},
			{tool: "call_read_tool", args: `{"name":"read_file","arguments":{"path":"hello.txt"}}`, want: "hello, world"},
			{tool: "call_read_tool", args: `{"name":"ask_user","arguments":{"question":"Which?","options":["Red","Blue"]}}`, want: "not asked: "}, // Gemini CLI has one of this name
			{tool: "run_python", args: networked, want: last},
		}}
		if err := w.session(ctx, env, script, confirm); err != nil {
			return "", fmt.Errorf("--confirm %s: %w", confirm, err)
		}
		listed = script.listed
	}
	if listed != shown-w.hides && !w.defers {
		return "", fmt.Errorf("its model is offered %d tools of the server, want %d: its handshake is not the one that is known", listed, shown-w.hides)
	}
	if w.alone != nil {
		w.leave = ""
		if err := w.session(ctx, env, &script{prefix: w.prefix, uses: w.alone}, "ask"); err != nil {
			return "", fmt.Errorf("without leave: %w", err)
		}
	}
	offers := fmt.Sprint(listed)
	if w.defers {
		offers = "by its search"
	}
	return fmt.Sprintf("%s | yes | yes | not asked | %s | runs", offers, asked), nil
}

// session has the client work through a script in a fresh workspace, by a server of its own.
func (w worker) session(ctx context.Context, env harness.Environment, s *script, confirm string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	dir, err := harness.Sample()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := env.Toolcrib(dir).Args
	args := append([]string{"serve", "--confirm", confirm}, program[1:]...)
	b := &bench{transport: "stdio", dir: dir}
	a, err := b.agent("unattended", s)
	if err != nil {
		return err
	}
	defer a.close()
	given, err := w.setup(env, a, harness.Endpoint{Command: program[0], Args: args})
	if err != nil {
		return err
	}
	if w.leave != "" {
		given = append(given, w.leave)
	}
	out, err := a.run(ctx, given...)
	if err := wants("session", "", out, err); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uses {
		if err := u.check(out); err != nil {
			return err
		}
		if strings.Contains(strings.ReplaceAll(u.result, unconfirmed, ""), "the user declined") {
			return fmt.Errorf("%s: a word about a user who was not there: %s", u.tool, u.result)
		}
	}
	return nil
}

// place writes a file of the configuration.
func place(a *agent, name string, content any) error {
	file := filepath.Join(a.home, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	data, is := content.(string)
	if !is {
		encoded, err := json.Marshal(content)
		if err != nil {
			return err
		}
		data = string(encoded)
	}
	return os.WriteFile(file, []byte(data), 0o600)
}

// installed returns the path of a program of npm.
func installed(env harness.Environment, path string) (string, error) {
	file := env.NPM(path)
	if _, err := os.Stat(file); err != nil {
		return "", missing(path + " is not installed; run .ci/install")
	}
	return file, nil
}
