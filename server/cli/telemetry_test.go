package cli_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMetricsRefused(t *testing.T) {
	dir := inProject(t)
	for _, tc := range []struct {
		flag string
		env  []string
		want string
	}{
		{"--metrics=9464", nil, "--metrics=127.0.0.1:9464 for this machine only"},
		{"--metrics=nowhere", nil, `--metrics: "nowhere" is not host:port`},
		{"--metrics=0.0.0.0:0", nil, "can be reached from other machines, so it needs a token"},
		{"--metrics=127.0.0.1:0", []string{"TOOLCRIB_METRICS_TOKEN=short"}, "TOOLCRIB_METRICS_TOKEN has 5 characters"},
	} {
		_, stderr, code := invocation{args: []string{"serve", tc.flag, dir}, env: tc.env}.start(t)
		if code != 2 || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: exit %d, %q", tc.flag, code, stderr)
		}
	}
}

// conversation is the stdin of a server: it says lines, calls look when all are
// answered, and ends.
func conversation(t *testing.T, answers io.Reader, look func(), lines ...string) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	go func() {
		defer w.Close()
		dec := json.NewDecoder(answers)
		for _, line := range lines {
			if _, err := io.WriteString(w, line+"\n"); err != nil {
				return
			}
			if strings.Contains(line, `"id"`) && dec.Decode(new(any)) != nil {
				return
			}
		}
		look()
	}()
	return r
}

// TestShown has a server whose page is asked for, and whose calls stats tells.
func TestShown(t *testing.T) {
	dir, state := inProject(t), t.TempDir()
	answers, stdout := io.Pipe()
	messages, stderr := io.Pipe()
	page, where := make(chan string, 1), make(chan string, 1)
	go func() {
		lines := bufio.NewReader(messages)
		line, _ := lines.ReadString('\n')
		_, url, _ := strings.Cut(strings.TrimSpace(line), "metrics at ")
		where <- url
		_, _ = io.Copy(io.Discard, lines)
	}()
	in := conversation(t, answers, func() {
		res, err := http.Get(<-where)
		if err != nil {
			page <- err.Error()
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		page <- string(body)
	},
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":""}}}`,
	)
	_, _, code := invocation{args: []string{"serve", "--metrics=127.0.0.1:0", dir}, env: []string{"TOOLCRIB_STATE_DIR=" + state}, stdin: in, stdout: stdout, stderr: stderr}.start(t)
	if got := <-page; code != 0 || !strings.Contains(got, `toolcrib_calls_total{tool="echo",outcome="invalid_argument"} 1`) {
		t.Errorf("exit %d, page %s", code, got)
	}

	report, _, _ := invocation{args: []string{"stats", "--json", dir}, env: []string{"TOOLCRIB_STATE_DIR=" + state}}.start(t)
	var got struct {
		Servers int
		Tools   []struct {
			Tool   string
			Calls  int
			Errors map[string]int
		}
	}
	if err := json.Unmarshal([]byte(report), &got); err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	if len(got.Tools) != 1 || got.Servers != 1 || got.Tools[0].Tool != "echo" || got.Tools[0].Calls != 2 || got.Tools[0].Errors["invalid_argument"] != 1 {
		t.Errorf("stats: %+v", got)
	}
	table, _, _ := invocation{args: []string{"stats"}, env: []string{"TOOLCRIB_STATE_DIR=" + state}}.start(t)
	if lines := strings.Split(strings.TrimSpace(table), "\n"); len(lines) != 3 || !strings.HasSuffix(lines[1], "  echo") || !strings.HasSuffix(lines[2], "servers: 1, last 24h") {
		t.Errorf("stats: %s", table)
	}
	for args, want := range map[string]string{
		filepath.Join(dir, "elsewhere"): "nothing was called in the last 24h\n", "--since=90m": "last 1h30m\n", "--since=-1h": "",
	} {
		stdout, stderr, code := invocation{args: []string{"stats", args}, env: []string{"TOOLCRIB_STATE_DIR=" + state}}.start(t)
		if !strings.HasSuffix(stdout, want) || want == "" && (code != 2 || !strings.Contains(stderr, "is no time")) {
			t.Errorf("stats %s: exit %d, %q, %q", args, code, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(state, "shared", "stats.d")); err != nil {
		t.Error(err)
	}
}
