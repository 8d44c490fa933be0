package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"toolcrib/server/cli"
)

// TestServe is a client's whole conversation.
func TestServe(t *testing.T) {
	dir := inProject(t)
	state := t.TempDir()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var stderr strings.Builder
	done := make(chan int, 1)
	go func() {
		defer toClient.Close()
		done <- cli.Main(context.WithoutCancel(t.Context()), cli.Process{
			Args:       []string{dir, "--state-dir", state, "--preset=all"},
			Stdin:      fromClient,
			Stdout:     toClient,
			Stderr:     &stderr,
			IsTerminal: func(any) bool { return false },
			LookPath:   func(string) (string, error) { return "", os.ErrNotExist },
			Categories: offering(fixtures(new([]string))...),
		})
	}()

	c := client.NewClient(transport.NewIO(fromServer, toServer, io.NopCloser(strings.NewReader(""))))
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "test", Version: "1"}
	server, err := c.Initialize(t.Context(), hello)
	if err != nil {
		t.Fatal(err)
	}
	if server.ServerInfo.Name != "toolcrib" || !strings.Contains(server.Instructions, dir) {
		t.Errorf("server %+v, instructions %q", server.ServerInfo, server.Instructions)
	}
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list.Tools, func(t mcp.Tool) bool { return t.Name == "echo" }) {
		t.Errorf("no echo among %d tools", len(list.Tools))
	}
	var call mcp.CallToolRequest
	call.Params.Name = "echo"
	call.Params.Arguments = map[string]any{"text": "good morning"}
	result, err := c.CallTool(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	if text := mcp.GetTextFromContent(result.Content[0]); result.IsError || !strings.Contains(text, "good morning") {
		t.Errorf("echo: error %t, %q", result.IsError, text)
	}

	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 || stderr.String() != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr.String())
	}
}

func TestServeWarns(t *testing.T) {
	inProject(t)
	stdout, stderr, code := invocation{args: []string{"--tools", "fly,echo"}}.start(t)
	if code != 0 || stdout != "" || !strings.Contains(stderr, `level=WARN msg="a tool that is asked for cannot be called" tool=fly reason="TOOLCRIB_WINGS is not set: buy wings"`) {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	if _, stderr, _ = (invocation{args: []string{"--log-level", "info", "--tools=echo"}}).start(t); !strings.Contains(stderr, "level=INFO msg=serving") {
		t.Errorf("log level info: stderr %q", stderr)
	}
	if _, stderr, _ = (invocation{args: []string{"--log-level", "error", "--tools", "fly"}}).start(t); stderr != "" {
		t.Errorf("log level error: stderr %q", stderr)
	}
}

// Started by hand, serve says what to do instead of waiting in silence.
func TestServeAtTerminal(t *testing.T) {
	dir := inProject(t)
	if err := os.Mkdir("my sub", 0o700); err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "my sub")
	stdout, stderr, code := invocation{
		args:     []string{"--tools=echo", "--read-only", "--tools", "dot", "my sub", "."},
		terminal: true, programs: []string{"codex"},
	}.start(t)
	if code != 0 || stdout != "" {
		t.Errorf("exit code %d, stdout %q", code, stdout)
	}
	_, rest, _ := strings.Cut(stderr, "\n{")
	snippet, rest, _ := strings.Cut(rest, "\n}\n")
	var got struct {
		MCPServers map[string]struct {
			Type, Command string
			Args          []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal([]byte("{"+snippet+"}"), &got); err != nil {
		t.Fatalf("%v:\n%s", err, stderr)
	}
	server := got.MCPServers["toolcrib"]
	if !filepath.IsAbs(server.Command) || server.Type != "stdio" {
		t.Errorf("launch: %+v", server)
	}
	args := slices.DeleteFunc(server.Args, func(arg string) bool { return strings.HasPrefix(arg, "--state-dir=") })
	if diff := cmp.Diff([]string{"serve", "--tools=echo,dot", "--read-only", sub, dir}, args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	for _, want := range []string{"serves 2 typed tools", "\n  claude mcp add toolcrib -- ", "\n  codex mcp add toolcrib -- ", "'" + sub + "'", "\n  toolcrib list\n"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("no %q in:\n%s", want, stderr)
		}
	}
	if strings.Contains(rest, "gemini") {
		t.Errorf("a client that is not there:\n%s", rest)
	}
}

func TestServeAtTerminalHome(t *testing.T) {
	home := inProject(t)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	_, stderr, code := invocation{terminal: true}.start(t)
	if code != 0 || !strings.Contains(stderr, filepath.Join("path", "to", "project")) {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	if _, stderr, code = (invocation{terminal: true, args: []string{"nowhere"}}).start(t); code != 2 {
		t.Errorf("a directory that is not there: exit code %d, stderr %q", code, stderr)
	}
}
