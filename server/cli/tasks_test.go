//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolcrib/server/cli"
	"toolcrib/tools/catalog"
)

// taskClient is a client of a server on pipes that takes tasks.
type taskClient struct {
	to      io.Writer
	mu      sync.Mutex
	last    int
	answers map[int]chan taskAnswer
}

// taskAnswer is what of an answer the tests look at.
type taskAnswer struct {
	TaskID, Status, StatusMessage string
	Result                        struct {
		Content []struct{ Type, Text, MimeType, Data string }
		IsError bool
	}
}

func (c *taskClient) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     int
			Result taskAnswer
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == 0 {
			continue
		}
		c.mu.Lock()
		c.answers[m.ID] <- m.Result
		c.mu.Unlock()
	}
}

func (c *taskClient) ask(t *testing.T, method string, params map[string]any) taskAnswer {
	t.Helper()
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": map[string]any{"io.modelcontextprotocol/tasks": map[string]any{}}},
	}
	c.mu.Lock()
	c.last++
	id, answer := c.last, make(chan taskAnswer, 1)
	c.answers[id] = answer
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err == nil {
		_, err = fmt.Fprintf(c.to, "%s\n", message)
	}
	c.mu.Unlock()
	if err != nil {
		t.Error(err)
		return taskAnswer{}
	}
	select {
	case a := <-answer:
		return a
	case <-time.After(time.Minute):
		t.Errorf("%s: no answer", method)
		return taskAnswer{}
	}
}

// follow makes a call that becomes a task, and looks at it until it has ended or until
// says stop; it returns the last answer and what it said of itself meanwhile.
func (c *taskClient) follow(t *testing.T, tool string, args map[string]any, stop func(id string) bool) (last taskAnswer, said []string) {
	t.Helper()
	last = c.ask(t, "tools/call", map[string]any{"name": tool, "arguments": args})
	id := last.TaskID
	if id == "" {
		t.Errorf("%s: no task: %+v", tool, last)
		return last, nil
	}
	for range 600 {
		if last = c.ask(t, "tasks/get", map[string]any{"taskId": id}); last.Status != "working" {
			return last, said
		}
		said = append(said, last.StatusMessage)
		if stop != nil && stop(id) {
			stop = nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%s: %+v", tool, last)
	return last, said
}

// Calls of scripts, cells and commands become tasks: with progress, with images, and
// ended by tasks/cancel.
func TestTasksOfPrograms(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	dir := inProject(t)
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	var server sync.WaitGroup
	server.Go(func() {
		defer toClient.Close()
		cli.Main(context.WithoutCancel(t.Context()), cli.Process{
			Args: []string{"serve", "--confirm=client"}, Environ: []string{"TOOLCRIB_STATE_DIR=" + t.TempDir()},
			Stdin: fromClient, Stdout: toClient, Stderr: io.Discard,
			IsTerminal: func(any) bool { return false }, LookPath: exec.LookPath,
			Categories: catalog.All(new(catalog.Services)),
		})
	})
	c := &taskClient{to: toServer, answers: map[int]chan taskAnswer{}}
	server.Go(func() { c.read(fromServer) })
	text := func(a taskAnswer) string {
		if a.Status != "completed" || len(a.Result.Content) == 0 {
			return fmt.Sprintf("%+v", a)
		}
		return a.Result.Content[0].Text
	}
	if probe := c.ask(t, "tools/call", map[string]any{"name": "run_python", "arguments": map[string]any{"code": "1"}}); strings.Contains(fmt.Sprint(probe), "the sandbox cannot be made") {
		t.Skip("needs: the sandbox")
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		last, said := c.follow(t, "run_python", map[string]any{"code": "import time\nfor i in range(6):\n    print('step', i, flush=True); time.sleep(0.5)\n40 + 2", "timeout": "50s"}, nil)
		if got := text(last); !strings.HasPrefix(got, "ok in ") || !strings.Contains(got, "\nvalue: 42\n") || !strings.Contains(got, "step 5") {
			t.Errorf("a script: %s", got)
		}
		if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "step ") }) {
			t.Errorf("a script: progress: %q", said)
		}
	})
	calls.Go(func() {
		last, _ := c.follow(t, "code_interpreter", map[string]any{"code": `import struct, time, zlib
class Dot:
    def _repr_png_(self):
        part = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        return b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack('>IIBBBBB', 1, 1, 8, 0, 0, 0, 0)) + part(b'IDAT', zlib.compress(b'\0\0')) + part(b'IEND', b'')
time.sleep(3)
Dot()`}, nil)
		if images := last.Result.Content; !strings.HasPrefix(text(last), "ok in ") || len(images) != 2 || images[1].Type != "image" || images[1].MimeType != "image/png" || images[1].Data == "" {
			t.Errorf("a cell with an image: %+v", last)
		}
	})
	calls.Go(func() {
		last, _ := c.follow(t, "bash", map[string]any{"command": "sleep 3; echo done; exit 3"}, nil)
		if got := text(last); !strings.HasPrefix(got, "exit 3 in ") || !strings.HasSuffix(got, "\ndone\n") {
			t.Errorf("a command: %s", got)
		}
	})
	for _, tc := range []struct {
		tool string
		args map[string]any
	}{
		{"run_python", map[string]any{"code": "import time\nfor i in range(900):\n    open('run_python', 'a').write('x'); time.sleep(0.1)", "timeout": "5m"}},
		{"bash", map[string]any{"command": "while :; do printf x >> bash; sleep 0.1; done"}},
	} {
		calls.Go(func() {
			file := filepath.Join(dir, tc.tool)
			last, _ := c.follow(t, tc.tool, tc.args, func(id string) bool {
				if info, err := os.Stat(file); err != nil || info.Size() == 0 { // it has not begun
					return false
				}
				c.ask(t, "tasks/cancel", map[string]any{"taskId": id})
				return true
			})
			if last.Status != "cancelled" {
				t.Errorf("%s: cancelled: %+v", tc.tool, last)
			}
			size := func() int64 {
				info, err := os.Stat(file)
				if err != nil {
					t.Error(err)
					return 0
				}
				return info.Size()
			}
			time.Sleep(time.Second) // until it has ended
			was := size()
			if time.Sleep(time.Second); size() != was || was == 0 {
				t.Errorf("%s goes on: %d bytes, then %d", tc.tool, was, size())
			}
		})
	}
	calls.Wait()
	if err := toServer.Close(); err != nil {
		t.Fatal(err)
	}
	server.Wait()
}
