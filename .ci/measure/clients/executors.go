package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"toolcrib/.ci/measure/harness"
)

// employed is a coding agent that works for run_agent in the place of a model.
type employed struct {
	name, prefix string
	// settings are those of the executor, which asks a stand-in.
	settings func(env harness.Environment, api string) (object, error)
	// changes are uses of its own tools that change hello.txt and make made.txt.
	changes func(dir string) []use
}

// Executors has Claude Code and Codex work for run_agent: three jobs each, a stop at the limit, a
// crash, a cancelled run, and an undo. Their model is a stand-in.
func Executors(ctx context.Context, env harness.Environment) error {
	fmt.Println("| executor | jobs | a job takes, with its start | at the limit | after a crash | a stop takes | undo |\n|---|---|---|---|---|---|---|")
	for _, e := range []employed{
		{"claude", "mcp__toolcrib__", func(env harness.Environment, api string) (object, error) {
			program, err := env.ClaudeProgram()
			return object{"kind": "claude", "program": program, "key": "dummy", "env": []string{"ANTHROPIC_BASE_URL=" + api}, "args": []string{"--name", api}}, err
		}, func(dir string) []use {
			hello := filepath.Join(dir, "hello.txt")
			return []use{
				{own: true, tool: "Read", args: fmt.Sprintf(`{"file_path":%q}`, hello)},
				{own: true, tool: "Edit", args: fmt.Sprintf(`{"file_path":%q,"old_string":"world","new_string":"all"}`, hello)},
				{own: true, tool: "Write", args: fmt.Sprintf(`{"file_path":%q,"content":"made\n"}`, filepath.Join(dir, "made.txt"))},
			}
		}},
		{"codex", "mcp__toolcrib", func(env harness.Environment, api string) (object, error) {
			program, err := codexProgram(env)
			return object{"kind": "codex", "program": program, "model": "stand-in", "args": []string{
				"-c", `model_provider="standin"`, "-c", fmt.Sprintf(`model_providers.standin={name="standin",base_url=%q,wire_api="responses"}`, api+"/v1"),
			}}, err
		}, func(string) []use {
			return []use{{own: true, tool: "exec_command", args: `{"cmd":"sed -i s/world/all/ hello.txt && echo made > made.txt"}`}}
		}},
	} {
		row, err := e.try(ctx, env)
		if lacks, is := errors.AsType[missing](err); is {
			row, err = "skipped: "+string(lacks)+" | | | | | ", nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		fmt.Printf("| %s | %s |\n", e.name, row)
	}
	return nil
}

// office is a server whose run_agent has one executor.
type office struct {
	*harness.ToolUser
	employed
	dir, api string
	script   atomic.Pointer[script]
	meet     atomic.Pointer[func()] // happens at the second request of a run
	asked    atomic.Int64           // requests of a run with tools
}

// ServeHTTP is the stand-in.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, "/responses") {
		if meet := o.meet.Load(); o.asked.Add(1) == 2 && meet != nil {
			(*meet)()
		}
	}
	o.script.Load().ServeHTTP(w, r)
}

func (e employed) try(ctx context.Context, env harness.Environment) (row string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	base, dir, err := env.Scratch("executors")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(base)
	o := &office{employed: e, dir: dir}
	api := httptest.NewServer(o)
	defer api.Close()
	o.api = api.URL
	settings, err := e.settings(env, api.URL)
	if err != nil {
		return "", missing(err.Error())
	}
	at, err := url.Parse(api.URL)
	if err != nil {
		return "", err
	}
	settings["hosts"] = []string{at.Host}
	own := maps.Clone(settings)
	own["own_tools"] = true
	config, err := json.Marshal(object{ // JSON is YAML
		"programs": object{"read": []string{env.NPM("")}}, "agents": object{"executors": object{e.name: settings, ownTools: own}},
	})
	if err != nil {
		return "", err
	}
	file := filepath.Join(base, "config.yaml")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return "", err
	}
	if o.ToolUser, err = harness.UseTools(ctx, env.Writer(dir, "--config", file)); err != nil {
		return "", err
	}
	row, err = o.day()
	return row, errors.Join(err, o.Close())
}

// run has the executor work on a script.
func (o *office) run(args object, uses ...use) (text string, err error) {
	o.asked.Store(0)
	o.script.Store(&script{prefix: o.prefix, uses: uses})
	args["task"] = "work"
	text, err = o.Must("run_agent", args)
	if err != nil {
		return "", err
	}
	s := o.script.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uses {
		if err := u.check(text); err != nil {
			return "", err
		}
	}
	return text, nil
}

func (o *office) day() (row string, err error) {
	const before, after = "hello, world\n", "hello, all\n"
	hello := filepath.Join(o.dir, "hello.txt")
	if err := os.WriteFile(hello, []byte(before), 0o644); err != nil {
		return "", err
	}
	holds := func(want string) error {
		data, err := os.ReadFile(hello)
		if err == nil && string(data) != want {
			err = fmt.Errorf("hello.txt has %q, want %q", data, want)
		}
		return err
	}
	took := time.Duration(0)
	job := func(args object, begins string, uses ...use) error {
		text, err := o.run(args, uses...)
		if err == nil && !strings.HasPrefix(text, begins) {
			err = fmt.Errorf("want %q, got %s", begins, text)
		}
		took = max(took, time.Duration(o.Took.Load()))
		return err
	}
	read := use{tool: "read_file", args: `{"path":"hello.txt"}`, want: "hello, world"}
	edit := use{tool: "write_file", args: fmt.Sprintf(`{"path":"hello.txt","content":%q}`, after), want: "hello.txt"}
	for _, err := range []error{
		job(object{}, "completed; run ", use{tool: "grep", args: `{"pattern":"world"}`, want: "hello.txt"}, read),
		job(object{"tools": []string{"write_file", "read_file"}}, "completed; run ", read, edit),
		holds(after),
		o.undo(), holds(before),
		job(object{"output_schema": object{"type": "object", "required": []string{"says"}, "properties": object{"says": object{"type": "string"}}}}, "completed; run ",
			read, use{tool: "submit", args: `{"said":1}`, want: "does not fit"}, use{tool: "submit", args: `{"says":"hello"}`, want: "taken"}),
		job(object{"tools": []string{"read_file"}}, "completed; run ", use{tool: "write_file", args: edit.args}), // it was not given
		holds(before),
	} {
		if err != nil {
			return "", err
		}
	}
	usual := took
	limit, err := o.run(object{"max_rounds": 2}, read, use{tool: read.tool, args: read.args, want: "The limit of 2 rounds is reached"},
		use{tool: read.tool, args: read.args, want: "The limit of 2 rounds is reached"}, read, read, read)
	if err != nil && !strings.Contains(err.Error(), "limit: 2 rounds; ") { // later uses have no result
		return "", err
	}
	if err == nil {
		return "", fmt.Errorf("it went on after its limit: %s", limit)
	}
	crashed, err := o.crash(read)
	if err != nil {
		return "", err
	}
	stop, err := o.stop()
	if err != nil {
		return "", err
	}
	if err := o.ownChanges(holds, before, after); err != nil {
		return "", err
	}
	return fmt.Sprintf("4 of 4 | %d ms | `limit`, its results kept | %s | %d ms | as before, also of its own tools", usual.Milliseconds(), crashed, stop.Milliseconds()), nil
}

// ownTools is the executor whose own tools for files and commands are on. Its name comes after the
// other's, which works where a call names none.
const ownTools = "own"

// ownChanges has the executor change files by its own tools, which one undo takes back.
func (o *office) ownChanges(holds func(string) error, before, after string) error {
	text, err := o.run(object{"model": ownTools, "tools": []string{"bash"}}, o.changes(o.dir)...)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(text, "completed; run ") || !strings.Contains(text, "changed: hello.txt, made.txt\n"):
		return fmt.Errorf("with its own tools: %s", text)
	}
	made := filepath.Join(o.dir, "made.txt")
	if _, err := os.Stat(made); err != nil {
		return err
	}
	if err := errors.Join(holds(after), o.undo(), holds(before)); err != nil {
		return err
	}
	if _, err := os.Stat(made); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("after an undo %s is there: %w", made, err)
	}
	return nil
}

func (o *office) undo() error {
	_, err := o.Must("restore_file", map[string]any{"undo": true})
	return err
}

// crash kills the agent in the middle of a run, and goes on with the run.
func (o *office) crash(read use) (string, error) {
	var killed error
	kill := func() { killed = o.kill() }
	o.meet.Store(&kill)
	text, err := o.run(object{}, read)
	o.meet.Store(nil)
	switch {
	case err != nil || killed != nil:
		return "", errors.Join(err, killed)
	case !strings.HasPrefix(text, "failed: ") || !strings.Contains(text, "before it was done"):
		return "", fmt.Errorf("after a crash: %s", text)
	}
	_, handle, _ := strings.Cut(text, "; run ")
	handle, _, _ = strings.Cut(handle, ":")
	text, err = o.run(object{"resume": object{"run": handle}}, read)
	if err == nil && !strings.HasPrefix(text, "completed; run "+handle) {
		err = fmt.Errorf("resumed: %s", text)
	}
	return "`failed`; resumed, `completed`", err
}

// process returns the agent's, whose command line has the address of the stand-in.
func (o *office) process() (pid int, err error) {
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, err
	}
	for _, file := range found {
		line, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(line), o.api) && !strings.Contains(string(line), "run-executor") {
			return strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	return 0, errors.New("the process of the agent is not found")
}

func (o *office) kill() error {
	pid, err := o.process()
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

// stop cancels a call while the agent waits for its model, and returns how long its process lived
// after that.
func (o *office) stop() (time.Duration, error) {
	began := make(chan struct{})
	hold := make(chan struct{})
	wait := func() {
		close(began)
		<-hold
	}
	defer close(hold)
	o.meet.Store(&wait)
	defer o.meet.Store(nil)
	o.asked.Store(0)
	o.script.Store(&script{prefix: o.prefix, uses: []use{{tool: "read_file", args: `{"path":"hello.txt"}`}}})
	id := o.Last.Add(1)
	call, err := json.Marshal(object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": object{"name": "run_agent", "arguments": object{"task": "work"}}})
	if err != nil {
		return 0, err
	}
	cancel, err := json.Marshal(object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": id}})
	if err != nil {
		return 0, err
	}
	if err := o.Send(call); err != nil {
		return 0, err
	}
	select {
	case <-began:
	case <-time.After(time.Minute):
		return 0, errors.New("the agent asks its model nothing")
	}
	if _, err := o.process(); err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := o.Send(cancel); err != nil {
		return 0, err
	}
	for {
		if _, err := o.process(); err != nil {
			return time.Since(begin), nil
		}
		if time.Since(begin) > 5*time.Second {
			return 0, errors.New("the agent is there five seconds after it was cancelled")
		}
	}
}
