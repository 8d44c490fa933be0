//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"toolcrib/server/cli"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// stderrLines hands out what a server logs, line by line.
type stderrLines struct{ lines chan string }

func (s stderrLines) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		s.lines <- line
	}
	return len(p), nil
}

// until waits for a line that holds a text. Before it nothing may need a restart.
func (s stderrLines) until(t *testing.T, text string) {
	t.Helper()
	for line := range s.lines {
		if strings.Contains(line, text) {
			return
		}
		if strings.Contains(line, "needs a restart") {
			t.Error(line)
		}
	}
	t.Fatalf("the server ended without %q", text)
}

// A server that was started with a file reads it again on SIGHUP: calls in flight end as
// they began, the next ones have the new settings, and a wrong file changes nothing.
func TestReload(t *testing.T) {
	inProject(t)
	config := write(t, filepath.Join(t.TempDir(), "c.yaml"), "log_level: info\n")
	entered, leave := make(chan struct{}), make(chan struct{})
	slow := tools.New(tools.Def[noneIn, textOut]{
		Name: "slow", Title: "Wait", Doc: "Waits.", Access: tools.Write, Effects: tools.State,
		Run: func(context.Context, noneIn) (textOut, error) {
			close(entered)
			<-leave
			return textOut{"slow is done"}, nil
		},
	})
	services := new(catalog.Services)
	categories := catalog.All(services)
	for i := range categories {
		categories[i].Tools = nil
	}
	categories = append(categories, tools.Category{ID: "cli_test", Tools: append(fixtures(new([]string)), slow)})
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	stderr := stderrLines{make(chan string, 1000)}
	var server sync.WaitGroup
	server.Go(func() {
		defer close(stderr.lines)
		defer toClient.Close()
		cli.Main(context.WithoutCancel(t.Context()), cli.Process{
			Args: []string{"serve", "--config", config}, Environ: []string{"TOOLCRIB_STATE_DIR=" + t.TempDir()},
			Stdin: fromClient, Stdout: toClient, Stderr: stderr,
			IsTerminal: func(any) bool { return false }, LookPath: func(string) (string, error) { return "", io.EOF },
			Categories: categories,
		})
	})
	answers := map[int]chan string{}
	var mu sync.Mutex
	ask := func(id int, method, params string) chan string {
		mu.Lock()
		answers[id] = make(chan string, 1)
		answer := answers[id]
		mu.Unlock()
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", id, method, params)
		return answer
	}
	go func() {
		for lines := bufio.NewScanner(fromServer); lines.Scan(); {
			var m struct{ ID int }
			if json.Unmarshal(lines.Bytes(), &m) == nil && m.ID > 0 {
				mu.Lock()
				answers[m.ID] <- lines.Text()
				mu.Unlock()
			}
		}
	}()
	want := func(what, answer, text string) {
		t.Helper()
		if !strings.Contains(answer, text) {
			t.Errorf("%s: %s, want %q", what, answer, text)
		}
	}
	hangup := func(content, told string) {
		t.Helper()
		write(t, config, content)
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		stderr.until(t, told)
	}
	stderr.until(t, "msg=serving")
	<-ask(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	waiting := ask(2, "tools/call", `{"name":"slow","arguments":{}}`)
	<-entered

	hangup("log_level: info\nread_only: true\ntool: {echo: {max_text: 1000}}\n", "the configuration is reloaded")
	want("a tool that writes", <-ask(3, "tools/call", `{"name":"erase","arguments":{"path":"x"}}`), `erase is off: the server is read-only (--read-only), and its access is write`)
	want("the list", <-ask(4, "tools/list", `{}`), `"echo"`)
	long := strings.Repeat("x", 2000)
	want("a longer text", <-ask(5, "tools/call", `{"name":"echo","arguments":{"text":"`+long+`"}}`), `"isError":true`)

	hangup("read_only: maybe\n", "the configuration is not reloaded")
	want("after a wrong file", <-ask(6, "tools/call", `{"name":"echo","arguments":{"text":"hello"}}`), `hello`)
	want("still read-only", <-ask(7, "tools/call", `{"name":"erase","arguments":{"path":"x"}}`), `erase is off: the server is read-only (--read-only), and its access is write`)

	for _, refused := range []string{"limits: {rate: 0/s}", "limits: {tools: {nope: {concurrent: 1}}}", "audit_files: -1", "http: 99999"} {
		hangup("log_level: info\n"+refused+"\n", "the configuration is not reloaded")
		want("still read-only with "+refused, <-ask(9, "tools/call", `{"name":"erase","arguments":{"path":"x"}}`), `erase is off: the server is read-only (--read-only), and its access is write`)
	}

	hangup("log_level: info\nstate_dir: /elsewhere\nhttp: 127.0.0.1:1\n", "needs a restart")
	stderr.until(t, "the configuration is reloaded")
	want("no longer read-only", <-ask(8, "tools/call", `{"name":"echo","arguments":{"text":"`+long+`"}}`), `xxx`)

	hangup("log_level: info\nsandbox: landlock\njobs: {running: 3}\nprograms: {files: 99}\nnetwork_hosts: [example.com]\n", "needs a restart")
	stderr.until(t, "the configuration is reloaded") // and nothing else needed a restart
	if got := services.Jobs().Options().Running; got != 3 {
		t.Errorf("%d jobs may run", got)
	}

	close(leave)
	want("the call in flight", <-waiting, "slow is done")
	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	server.Wait()
}
