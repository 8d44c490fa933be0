package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
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

func (s server) want(text, pattern string) []string {
	s.t.Helper()
	m := regexp.MustCompile("(?s)" + pattern).FindStringSubmatch(text)
	if m == nil {
		s.t.Fatalf("got\n%s\nwant %s", text, pattern)
	}
	return m
}

// TestHeldPipe ends with the program, whoever holds its output.
func TestHeldPipe(t *testing.T) {
	s := start(t)
	s.want(s.call(t.Context(), "bash", map[string]any{"command": "true"}), `^exit 0`) // the sandbox stands
	begin := time.Now()
	s.want(s.call(t.Context(), "bash", map[string]any{"command": "sleep 3 & echo started"}), `^exit 0 in .*\n\nstarted\n$`)
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestBackground(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "echo one; sleep 0.6; echo two; sleep 60", "background": true})
	job := s.want(text, `^running: job (\S+)\n.*offset=4 .*\n\none\n$`)[1]
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 4, "wait": "10s"}), `^running for .*next: offset=8\n\ntwo\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"line": 2}), `\n\ntwo\n$`)
	s.want(s.call(ctx, "job_list", nil), `^1 job\n`+job+` running for .*; 2 lines, 8 B; echo one`)
	s.want(s.call(ctx, "job_stop", nil), `^ended by .* \(stopped\); job `+job)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "tail": 1}), `^ended by .*\n\ntwo\n$`)
	s.want(s.call(ctx, "job_list", nil), `^no job is running; 1 ended`)
	s.want(s.call(ctx, "job_input", map[string]any{"job": job, "text": "x"}), `^error: conflict: job .* has ended`)
}

// TestLong shows the two ends of a long output, and pages lead through all of it.
// What a Python program prints is seen while it runs, unless the caller wants otherwise.
func TestUnbuffered(t *testing.T) {
	t.Setenv("PYTHONUNBUFFERED", "")
	if err := os.Unsetenv("PYTHONUNBUFFERED"); err != nil {
		t.Fatal(err)
	}
	s := start(t)
	for _, tc := range []struct {
		env  []string
		want string
	}{{nil, "1"}, {[]string{"PYTHONUNBUFFERED="}, ""}} {
		s.want(s.call(t.Context(), "bash", map[string]any{"command": `echo "<$PYTHONUNBUFFERED>"`, "env": tc.env}), `\n<`+tc.want+`>\n$`)
	}
	t.Setenv("PYTHONUNBUFFERED", "x")
	s.want(s.call(t.Context(), "bash", map[string]any{"command": `echo "<$PYTHONUNBUFFERED>"`}), `\n<>\n$`)
}

// A handle is taken as models write it.
func TestWrittenHandles(t *testing.T) {
	s := start(t)
	id := s.want(s.call(t.Context(), "bash", map[string]any{"command": "echo one; sleep 60", "background": true}), `^running: job (\w+)`)[1]
	for _, written := range []string{strings.ToUpper(id), "job " + id, "Job: " + strings.ToUpper(id), " job=" + id + " "} {
		s.want(s.call(t.Context(), "job_output", map[string]any{"job": written, "offset": 0}), `^running for .*; job `+id)
	}
}

func TestLong(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "seq 1 60000"})
	if len(text) > 22_000 {
		t.Errorf("%d bytes", len(text))
	}
	m := s.want(text, `^exit 0 in .*; 60000 lines, 349 kB\n(?:.*\n)?\n1\n2\n.*\n\[\d+ kB are not shown here; job_output job=(\S+) offset=(\d+) shows them\]\n.*\n60000\n$`)
	var all strings.Builder
	for at := 0; ; {
		text := s.call(ctx, "job_output", map[string]any{"job": m[1], "offset": at})
		head, body, _ := strings.Cut(text, "\n\n")
		all.WriteString(body)
		next := regexp.MustCompile(`next: offset=(\d+)`).FindStringSubmatch(head)
		if next == nil {
			break
		}
		if _, err := fmt.Sscan(next[1], &at); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Fields(all.String())
	if len(lines) != 60000 || lines[0] != "1" || lines[59999] != "60000" {
		t.Errorf("%d lines", len(lines))
	}
	s.want(s.call(ctx, "job_output", map[string]any{"job": m[1], "line": 31234}), `\n\n31234\n31235\n`)
}

func TestSession(t *testing.T) {
	s, ctx := start(t), t.Context()
	run := func(command string) string {
		return s.call(ctx, "bash", map[string]any{"command": command, "session": "a"})
	}
	s.want(run("mkdir -p sub; cd sub; export X=1; f() { echo f$X; }"), `^exit 0 in .*session a is in sub\n$`)
	s.want(run("f"), `session a is in sub\n\nf1\n$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "session": "a", "cwd": "sub"}), `^error: invalid_argument: session a keeps`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "session": "a", "terminal": true}), `^error: invalid_argument: /session`)
	s.want(run("exit 3"), `^exit 3 in .*session a has ended with it\n$`)
	s.want(run("echo $X; pwd"), `^exit 0 in .*session a is in \.\n\n\n`)
}

// A command in a session that deletes a repository is told of as any other.
func TestSessionDeletes(t *testing.T) {
	s, ctx := start(t), t.Context()
	run := func(command string) string {
		return s.call(ctx, "bash", map[string]any{"command": command, "session": "a"})
	}
	s.want(run("mkdir .git; touch .git/HEAD .mcp.json"), `\nmade meanwhile: \.mcp\.json; `)
	s.want(run("true"), `^exit 0 in [^\n]*\nsession a is in \.\n$`)
	s.want(run("rm -rf .git"), `\ndeleted or moved away meanwhile: \.git; undo: restore_file undo=true\n`)
}

// A session that a command has broken ends, and says so.
func TestSessionBroken(t *testing.T) {
	s, ctx := start(t), t.Context()
	run := func(command string) string {
		return s.call(ctx, "bash", map[string]any{"command": command, "session": "a"})
	}
	s.want(run("x=1; builtin() { :; }; (exit 3)"), `^exit 3 .*\nsession a has ended: a command has redefined`)
	s.want(run("echo [$x]"), `^exit 0 .*\nsession a is in \.\n\n\[\]\n$`)
	s.want(run("mkdir d; cd d; rmdir ../d"), `^exit 0 .*\nsession a is in a directory that is gone`)
	s.want(run("cd ..; for i in {3..255}; do eval \"exec $i>&-\"; done"), `^ended after .*, how is not known: its shell could not report it; .*\nsession a has ended: a command`)
}

// A session whose output is closed says so.
func TestMuteSession(t *testing.T) {
	s, ctx := start(t), t.Context()
	run := func(command string) string {
		return s.call(ctx, "bash", map[string]any{"command": command, "session": "a"})
	}
	s.want(run("exec 1>&-"), `session a is in \.; its output is closed`)
	s.want(run("echo x"), `^exit 1 .*\nsession a is in \.; its output is closed`)
	s.want(run("exit"), `session a has ended with it`)
	s.want(run("echo x"), `^exit 0 .*\nsession a is in \.\n\nx\n$`)
}

func TestCancel(t *testing.T) {
	s := start(t)
	s.want(s.call(t.Context(), "bash", map[string]any{"command": "true"}), `^exit 0`) // the sandbox stands
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	begin := time.Now()
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 30"}), `^error: timeout`)
	if took := time.Since(begin); took > time.Second {
		t.Errorf("took %v", took)
	}
	s.want(s.call(t.Context(), "job_output", map[string]any{"wait": "5s"}), `\(cancelled\)`)
}

func TestProgress(t *testing.T) {
	s := start(t)
	var events []tools.ProgressEvent
	ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) { events = append(events, e) })
	s.want(s.call(ctx, "bash", map[string]any{"command": "for i in 1 2 3; do echo line $i; sleep 0.3; done"}), `^exit 0`)
	if len(events) < 2 || len(events) > 5 || !strings.Contains(events[0].Message, "line 1") {
		t.Errorf("%d events: %+v", len(events), events)
	}
}

func TestInput(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "echo name?; read n; echo hello $n; cat; echo bye", "input": true})
	job := s.want(text, `^running: job (\S+).*\n\nname\?\n$`)[1]
	s.want(s.call(ctx, "job_input", map[string]any{"job": job, "text": "Ada\n"}), `\n\nhello Ada\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "x", "keys": []string{"enter", "eof"}}), `\n\nx\nbye\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"job": job, "text": "x"}), `^error: conflict`)
}

func TestTerminal(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "tty; stty size; read -p 'who? ' w; echo hi $w; read -s -n1 k; printf '[%q]' $k", "terminal": true})
	if strings.Contains(text, "no terminal") {
		t.Skip("needs: a sandbox with terminals")
	}
	s.want(text, `^running: job \S+; screen, cursor at 3,6\n.*\n\n/dev/pts/\d+\n30 100\nwho\?\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "me\n"}), `who\? me\nhi me\n`)
	s.want(s.call(ctx, "job_input", map[string]any{"keys": []string{"ctrl-c"}}), `^(killed by|ended by|exit 130)`)
}

// A program that computes its answer is waited for, though it prints nothing meanwhile.
func TestTerminalComputes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs: linux: elsewhere nobody tells what a program does")
	}
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "read -p 'how long? ' n; for ((end = SECONDS + n; SECONDS < end; )); do :; done; echo computed; read", "terminal": true})
	if strings.Contains(text, "no terminal") {
		t.Skip("needs: a sandbox with terminals")
	}
	s.want(text, `\n\nhow long\?\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "2\n", "wait": "30s"}), `how long\? 2\ncomputed\n`)
	s.want(s.call(ctx, "job_stop", nil), `stopped`)
}

func TestChanged(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "mkdir d; echo 1 > d/a; echo 2 > b; ln -s b c"}), `\nfiles: created b, c, d/a\n$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "mv b e; touch d/a; rm c"}), `\nfiles: created e; changed d/a; deleted b, c \(undo: restore_file undo=true\)\n$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "true"}), `^exit 0 in [^\n]*; no output\n(sandbox[^\n]*\n)?$`)
}

// A command that only looks changes nothing, so that an undo takes back what was meant.
func TestGitStatus(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs: git: ", err)
	}
	s := start(t)
	s.call(t.Context(), "bash", map[string]any{"command": "git init -q . && echo 1 >a && git add a"})
	s.call(t.Context(), "bash", map[string]any{"command": "touch -d yesterday a"})
	if text := s.call(t.Context(), "bash", map[string]any{"command": "git status --short"}); strings.Contains(text, "files:") {
		t.Error(text)
	}
}

// The times of the configuration count from the next command on.
func TestConfiguredTimes(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "true"}), `^exit 0`) // the sandbox stands
	s.jobs.Configure(jobs.Options{Foreground: 300 * time.Millisecond})
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 30"}), `^still running after \d+ ms: it is job`)
	s.jobs.Configure(jobs.Options{Timeout: 300 * time.Millisecond})
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 30"}), `^ended by SIGTERM .* \(timeout 300ms\)`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 1", "timeout": "20s"}), `^exit 0`)
}
