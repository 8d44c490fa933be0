//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/shell"
	"toolcrib/tools/shell/internal/processes"
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

// idOf returns the id of a process.
func idOf(t *testing.T, pid int) string {
	t.Helper()
	all, err := processes.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if p.PID == pid {
			return p.ID()
		}
	}
	t.Fatalf("no process %d", pid)
	return ""
}

// secretive runs a test with a process that has a secret in its arguments.
func secretive(t *testing.T, test func(t *testing.T, secret string, pid int)) {
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
			test(t, secret, cmd.Process.Pid)
		})
	}
}
