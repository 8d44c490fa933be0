package shell_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/shell"
	"toolcrib/workspace"
)

// server is the tools of the category with what they share.
type server struct {
	t      *testing.T
	ws     *workspace.Workspace
	engine *sandbox.Engine
	jobs   *jobs.Manager
	all    []tools.Tool
}

func TestMain(m *testing.M) { os.Exit(tooltest.Together(m)) }

func start(t *testing.T) server {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs: bash")
	}
	ws, _ := tooltest.Tree(t, nil)
	engine := sandbox.New()
	t.Cleanup(func() { engine.Close() })
	m := jobs.New(engine)
	t.Cleanup(func() {
		begin := time.Now()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("close took %v", took)
		}
	})
	return server{t, ws, engine, m, shell.Tools(shell.Deps{Sandbox: engine, Jobs: m})}
}

// call calls a tool and returns its text, of an error after "error: ".
func (s server) call(ctx context.Context, tool string, args map[string]any) string {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range s.all {
		if t.Name != tool {
			continue
		}
		result, err := tooltest.Call(ctx, s.ws, t, raw)
		if err != nil {
			return "error: " + tools.AsError(err).Error()
		}
		return tooltest.Text(result)
	}
	s.t.Fatalf("no tool is called %s", tool)
	return ""
}

// begin starts a command as a job, as the tools that run commands do, and returns its handle
// when it has printed something, or waits for the input that it has.
func (s server) begin(command string, spec jobs.Spec) string {
	s.t.Helper()
	ctx := tools.WithSession(s.t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: s.ws})
	dir, err := s.ws.Resolve(".")
	if err != nil {
		s.t.Fatal(err)
	}
	spec.Principal, spec.Workspace, spec.Text = tools.Local, s.ws, command
	spec.Command.Tool, spec.Command.Dir, spec.Command.Args = "bash", dir, []string{"bash", "--noprofile", "--norc", "-c", command}
	j, err := s.jobs.Start(ctx, spec)
	if err != nil {
		if spec.Command.Terminal != nil {
			s.t.Skip("needs: a sandbox that has terminals: ", err)
		}
		s.t.Fatal(err)
	}
	if spec.Input || spec.Command.Terminal != nil {
		if err := shell.Prompt(ctx, j); err != nil {
			s.t.Fatal(err)
		}
		return j.ID
	}
	select {
	case <-j.Log().Grown(0):
	case <-ctx.Done():
	}
	return j.ID
}

// The jobs that a test begins.
var (
	plain    = jobs.Spec{}
	piped    = jobs.Spec{Input: true}
	terminal = jobs.Spec{Command: sandbox.Command{Terminal: &sandbox.Size{Rows: 30, Columns: 100}, Env: []string{"TERM=xterm"}}}
)

func (s server) want(text, pattern string) []string {
	s.t.Helper()
	m := regexp.MustCompile("(?s)" + pattern).FindStringSubmatch(text)
	if m == nil {
		s.t.Fatalf("got\n%s\nwant %s", text, pattern)
	}
	return m
}
