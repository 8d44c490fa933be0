//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/shell"
)

// processTool is a tool of processes, called for a principal.
type processTool struct {
	t   *testing.T
	ctx context.Context
}

func (p processTool) bind(name string, args map[string]any) (tools.Tool, tools.Bound) {
	p.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, tool := range shell.Tools(shell.Deps{}) {
		if tool.Name == name {
			bound, err := tool.Bind(raw)
			if err != nil {
				p.t.Fatal(err)
			}
			return tool, bound
		}
	}
	p.t.Fatalf("no tool %s", name)
	return tools.Tool{}, tools.Bound{}
}

// call returns the text of the result, or the error.
func (p processTool) call(name string, args map[string]any) string {
	p.t.Helper()
	tool, bound := p.bind(name, args)
	v, err := tool.Run(p.ctx, bound)
	if err != nil {
		return err.Error()
	}
	res, err := tool.Render(v)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.Content[0].Text
}

// asked returns what the user is asked before the call, or the error.
func (p processTool) asked(name string, args map[string]any) string {
	p.t.Helper()
	tool, bound := p.bind(name, args)
	q, err := tool.Question(p.ctx, bound)
	if err != nil {
		return err.Error()
	}
	return q.Message
}

func as(t *testing.T, principal string) processTool {
	return processTool{t, tools.WithSession(t.Context(), &tools.SessionInfo{Principal: principal})}
}

func sleeper(t *testing.T, seconds string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", seconds)
	if err := cmd.Start(); err != nil {
		t.Skipf("needs: sleep: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

var idRule = regexp.MustCompile(`(?m)^(\d+@[0-9a-z]+) `)

func id(t *testing.T, list string) string {
	t.Helper()
	m := idRule.FindStringSubmatch(list)
	if m == nil {
		t.Fatalf("no id in %q", list)
	}
	return m[1]
}

func TestProcessList(t *testing.T) {
	seconds := fmt.Sprintf("63.%d", os.Getpid()) // no other run has it
	cmd := sleeper(t, seconds)
	c := as(t, tools.Local)
	for _, args := range []map[string]any{
		{"name": "SLEEP " + seconds}, {"pid": cmd.Process.Pid}, {"pid": os.Getpid(), "name": "sleep " + seconds, "tree": true}, {"name": "sleep " + seconds, "sort": "age", "limit": 1},
	} {
		got := c.call("process_list", args)
		if !strings.HasPrefix(got, "1 of 1 processes, ") || !strings.Contains(got, fmt.Sprintf("\n%d@", cmd.Process.Pid)) {
			t.Errorf("%v: %s", args, got)
		}
	}
	if got := c.call("process_list", map[string]any{"limit": 2, "sort": "memory"}); strings.Count(got, "\n") != 4 {
		t.Errorf("two rows: %s", got)
	}
	if got := c.call("process_list", map[string]any{"name": "no program has this name"}); !strings.HasPrefix(got, "no process of ") {
		t.Errorf("none: %s", got)
	}
	if got := c.call("process_list", map[string]any{"pid": 4194304}); !strings.HasPrefix(got, "not_found") {
		t.Errorf("no such PID: %s", got)
	}
}

// Nobody is shown the secrets in the command lines of others, or finds a process by one.
func TestProcessSecrets(t *testing.T) {
	const secret = "hunter2abcXYZ"
	for _, args := range [][]string{{"--password=" + secret}, {"--password", secret}, {"--api-key=" + secret}, {"--token", secret}, {"https://ann:" + secret + "@example.com/"}, {"-H", "Authorization: Bearer " + secret}} {
		t.Run(args[0], func(t *testing.T) {
			cmd := exec.Command("sh", append([]string{"-c", "read x", "toolcrib-test-veil"}, args...)...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				in.Close()
				_ = cmd.Wait()
			}()
			p := as(t, tools.Local)
			list := p.call("process_list", map[string]any{"name": "toolcrib-test-veil", "pid": cmd.Process.Pid})
			if !strings.Contains(list, "toolcrib-test-veil") || strings.Contains(list, secret) {
				t.Errorf("the list:\n%s", list)
			}
			if list := p.call("process_list", map[string]any{"name": secret, "pid": cmd.Process.Pid}); !strings.HasPrefix(list, "no process") {
				t.Errorf("found by it:\n%s", list)
			}
			if text := p.asked("process_kill", map[string]any{"name": secret}); !strings.Contains(text, "nothing that this server has started") {
				t.Errorf("ended by it: %s", text)
			}
		})
	}
}

// Nobody is asked about what this server has started, if it is who started the server.
func TestProcessKill(t *testing.T) {
	local, remote := as(t, tools.Local), as(t, "somebody")
	seconds := fmt.Sprintf("64.%d", os.Getpid()) // no other run has it
	sleeper(t, seconds)
	this := map[string]any{"process": id(t, local.call("process_list", map[string]any{"name": "sleep " + seconds}))}
	if q := local.asked("process_kill", this); q != "" {
		t.Errorf("asked about a process of ours: %s", q)
	}
	if q := remote.asked("process_kill", this); !strings.HasPrefix(q, "Send TERM to process ") || !strings.Contains(q, "sleep "+seconds+"?") {
		t.Errorf("asked: %s", q)
	}
	for _, args := range []map[string]any{{"process": "1717"}, {"process": strings.Split(this["process"].(string), "@")[0] + "@1"}} {
		if got := local.call("process_kill", args); !strings.HasPrefix(got, "invalid_argument") && !strings.HasPrefix(got, "not_found") {
			t.Errorf("%v: %s", args, got)
		}
	}
	pid, _, _ := strings.Cut(this["process"].(string), "@")
	for _, tc := range []struct{ name, given, want string }{
		{"pid", pid, "/process: " + pid + " is a PID alone, which may be another process by now (now it is sleep " + seconds + ": process=" + this["process"].(string) + ")"},
		{"pid", "4194304", "no process has it now; process_list shows the ids"},
		{"session_id", "abcdefgh", "/process: abcdefgh is the handle of a job (job_stop job=abcdefgh ends it)"},
		{"handle", "Job ABCDEFGH", "/process: abcdefgh is the handle of a job (job_stop job=abcdefgh ends it)"},
		{"process", "sleep", `/process: "sleep" is not PID@START (process_list shows the ids; name takes a text of the command line)`},
	} {
		if got := local.call("process_kill", map[string]any{tc.name: tc.given}); !strings.Contains(got, tc.want) {
			t.Errorf("%s=%s: %s\nwant %s", tc.name, tc.given, got, tc.want)
		}
	}
	if got := local.call("process_kill", this); !strings.HasPrefix(got, "ended by TERM after ") {
		t.Errorf("killed: %s", got)
	}
	if got := local.call("process_kill", this); !strings.HasPrefix(got, "not_found") {
		t.Errorf("once more: %s", got)
	}
}

func TestProcessKillOfTheServer(t *testing.T) {
	c := as(t, tools.Local)
	for what, pid := range map[string]int{"this server": os.Getpid(), "started by": os.Getppid(), "first process": 1} {
		list := c.call("process_list", map[string]any{"pid": pid, "tree": true, "kernel": true})
		this := map[string]any{"process": id(t, list), "signal": "CONT"}
		if got := c.asked("process_kill", this); !strings.HasPrefix(got, "denied") {
			t.Errorf("%s is asked about: %s", what, got)
		}
		if got := c.call("process_kill", this); !strings.HasPrefix(got, "denied") {
			t.Errorf("%s: %s", what, got)
		}
	}
}
