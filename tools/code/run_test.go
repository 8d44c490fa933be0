package code_test

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/code"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
)

// caller calls the tools of one server in one workspace.
func caller(t *testing.T, read ...string) func(ctx context.Context, name string, args map[string]any) (string, error) {
	t.Helper()
	return callerIn(t, map[string]string{"own.py": "def fail():\n    raise ValueError('own')\n"}, read...)
}

// callerIn is caller for a workspace with these files.
func callerIn(t *testing.T, files map[string]string, read ...string) func(ctx context.Context, name string, args map[string]any) (string, error) {
	t.Helper()
	engine := sandbox.New()
	engine.Configure(sandbox.Options{Read: read})
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	list := code.Tools(code.Deps{Sandbox: engine, Scripts: true})
	ws, _ := tooltest.Tree(t, files)
	return func(ctx context.Context, name string, args map[string]any) (string, error) {
		raw, err := json.Marshal(args)
		if err != nil {
			return "", err
		}
		for _, tool := range list {
			if tool.Name == name {
				result, err := tooltest.Call(ctx, ws, tool, raw)
				return tooltest.Text(result), err
			}
		}
		t.Fatalf("no tool is called %q", name)
		return "", nil
	}
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
}

// floods checks scripts that print more than is kept. It is given the code and a part of its
// result of each, and the hint.
func floods(t *testing.T, tool, hint string, scripts [][2]string) {
	t.Helper()
	call := caller(t)
	for _, s := range scripts {
		got, err := call(t.Context(), tool, map[string]any{"code": s[0], "timeout": "60s"})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(got, "ok in") || !strings.Contains(got, s[1]) || strings.HasPrefix(s[1], "value:") && !strings.Contains(got, hint) || len(got) > tools.MaxText {
			t.Errorf("%s: %d bytes: %.300s", s[0], len(got), got)
		}
	}
}

// stops checks scripts that take longer than the timeout. It is given the code and the text of
// each.
func stops(t *testing.T, tool, timeout string, scripts [][2]string) {
	t.Helper()
	call := caller(t)
	for _, s := range scripts {
		begin := time.Now()
		got, err := call(t.Context(), tool, map[string]any{"code": s[0], "timeout": timeout})
		if err != nil {
			t.Fatal(err)
		}
		if diff := tooltest.Match(s[1], got); diff != "" {
			t.Errorf("%s:\n%s", s[0], diff)
		}
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("%s: took %v", s[0], took)
		}
	}
}

// cancels checks that a script ends with its call.
func cancels(t *testing.T, tool, code string) {
	t.Helper()
	call := caller(t)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := call(ctx, tool, map[string]any{"code": code, "timeout": "60s"})
	if took := time.Since(begin); err == nil || took > 10*time.Second {
		t.Errorf("%v after %v", err, took)
	}
}
