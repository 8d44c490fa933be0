//go:build unix

package cli_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/cli"
	"toolcrib/server/run"
	"toolcrib/tools/catalog"
)

// TestRootAgain moves the root of a running server away and makes it again: each tool works in
// the new directory, and nothing of the old one is read or written.
func TestRootAgain(t *testing.T) {
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			base := t.TempDir()
			root, old := filepath.Join(base, "root"), filepath.Join(base, "old")
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			call := servedOver(t, over, root)
			want := func(text, tool string, args map[string]any) string {
				t.Helper()
				got := call(tool, args)
				if !strings.Contains(got, text) {
					t.Errorf("%s %v: %s, want %q", tool, args, got, text)
				}
				return got
			}
			python := true
			if _, err := exec.LookPath("python3"); err != nil {
				python = false
				t.Log("needs: python3: without an interpreter")
			}

			want("created", "write_file", map[string]any{"path": "f", "content": "old one\n"})
			if out := call("bash", map[string]any{"command": "cat f; KEPT=1", "session": "s"}); strings.Contains(out, "the sandbox cannot be made") {
				t.Skip("needs: the sandbox: " + out)
			} else if !strings.Contains(out, "old one") {
				t.Fatal(out)
			}
			want("\nf\n", "glob", map[string]any{"pattern": []string{"*"}})
			want("old one", "grep", map[string]any{"pattern": "one"})
			handle := ""
			if python {
				handle = regexp.MustCompile(`handle (\S+)`).FindStringSubmatch(want("ok in", "code_interpreter", map[string]any{"code": "x = 1"}))[1]
			}

			if err := os.Rename(root, old); err != nil {
				t.Fatal(err)
			}
			for tool, args := range map[string]map[string]any{
				"read_file":        {"path": "f"},
				"bash":             {"command": "echo bad > bad", "session": "s"},
				"write_file":       {"path": "bad", "content": ""},
				"code_interpreter": {"code": "open('bad', 'w')"},
			} {
				if tool != "code_interpreter" || python {
					want("has been moved away", tool, args)
				}
			}
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}

			want("has ended: its directory was removed and made again", "bash", map[string]any{"command": "echo bad > bad", "session": "s"})
			if python {
				want("no interpreter has the handle", "code_interpreter", map[string]any{"code": "open('bad', 'w')", "handle": handle})
				want("new handle", "code_interpreter", map[string]any{"code": "open('cell', 'w').close()"})
			}
			want("does not exist", "read_file", map[string]any{"path": "f"})
			want("created", "write_file", map[string]any{"path": "f", "content": "new one\n"})
			want("new one", "read_file", map[string]any{"path": "f"})
			if got := want("new one", "grep", map[string]any{"pattern": "one"}); strings.Contains(got, "old one") {
				t.Errorf("grep: %s", got)
			}
			want("new one", "bash", map[string]any{"command": "cat f; echo $KEPT > shell"})
			want("new one", "bash", map[string]any{"command": "cat f", "session": "s"})
			want("\nshell\n", "glob", map[string]any{"pattern": []string{"*"}})
			if got := call("file_history", map[string]any{"path": "f"}); strings.Count(got, "write_file") != 2 {
				t.Errorf("file_history: %s", got)
			}
			var users sync.WaitGroup
			for i := range 4 {
				users.Go(func() {
					want("new one", "bash", map[string]any{"command": fmt.Sprintf("cat f; echo > n%d", i)})
					want("new one", "read_file", map[string]any{"path": "f"})
				})
			}
			users.Wait()

			names := func(dir string) string {
				list, err := os.ReadDir(dir)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, e := range list {
					names = append(names, e.Name())
				}
				return strings.Join(names, " ")
			}
			if got := names(old); got != "f" {
				t.Errorf("the old directory has %s", got)
			}
			all := "f n0 n1 n2 n3 shell"
			if python {
				all = "cell " + all
			}
			if got := names(root); got != all {
				t.Errorf("the new directory has %s, want %s", got, all)
			}
		})
	}
}

// servedOver starts a server of the whole catalog for a directory and returns how to call it.
func servedOver(t *testing.T, over, root string) (call func(tool string, args map[string]any) string) {
	t.Helper()
	return callsOf(t, clientOver(t, over, root))
}

// clientOver starts a server of the whole catalog for a directory and returns a client of it.
func clientOver(t *testing.T, over, root string) *client.Client {
	t.Helper()
	caller := new(run.Caller)
	process := cli.Process{
		Args:    []string{"serve", "--confirm=client", "--preset=all", root},
		Environ: []string{"TOOLCRIB_STATE_DIR=" + t.TempDir()}, Stderr: io.Discard,
		IsTerminal: func(any) bool { return false }, LookPath: exec.LookPath,
		Caller: caller, Categories: catalog.All(&catalog.Services{Caller: caller}),
	}
	var server sync.WaitGroup
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var way transport.Interface
	if over == "http" {
		lines := stderrLines{make(chan string, 1000)}
		process.Stdin, process.Stdout, process.Stderr = strings.NewReader(""), io.Discard, lines
		process.Args = append(process.Args, "--http=127.0.0.1:0", "--auth=none", "--log-level=info")
		server.Go(func() { cli.Main(ctx, process) })
		for line := range lines.lines {
			if url := regexp.MustCompile(`http://[^ "]+/mcp`).FindString(line); url != "" {
				var err error
				if way, err = transport.NewStreamableHTTP(url, transport.WithContinuousListening()); err != nil { //nolint:staticcheck // clients of that era have it
					t.Fatal(err)
				}
				break
			}
		}
	} else {
		fromClient, toServer := io.Pipe()
		fromServer, toClient := io.Pipe()
		process.Stdin, process.Stdout = fromClient, toClient
		server.Go(func() {
			defer toClient.Close()
			cli.Main(ctx, process)
		})
		way = transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader("")))
	}
	c := client.NewClient(way)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		stop()
		server.Wait()
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = "2025-11-25"
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	if _, err := c.Initialize(t.Context(), hello); err != nil {
		t.Fatal(err)
	}
	return c
}

// callsOf returns how a client calls a tool.
func callsOf(t *testing.T, c *client.Client) (call func(tool string, args map[string]any) string) {
	return func(tool string, args map[string]any) string {
		t.Helper()
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = tool, args
		result, err := c.CallTool(t.Context(), req)
		if err != nil {
			return "error: " + err.Error()
		}
		var text strings.Builder
		for _, part := range result.Content {
			text.WriteString(mcp.GetTextFromContent(part) + "\n")
		}
		return text.String()
	}
}
