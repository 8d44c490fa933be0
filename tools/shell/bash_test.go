package shell_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
)

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

// TestProgress has a program that prints the next line once the one before was reported.
func TestProgress(t *testing.T) {
	t.Parallel()
	s := start(t)
	dir := s.host(".")
	var events []tools.ProgressEvent
	ctx := tools.WithProgress(t.Context(), func(e tools.ProgressEvent) {
		events = append(events, e)
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(len(events))), nil, 0o644); err != nil {
			t.Error(err)
		}
	})
	s.want(s.call(ctx, "bash", map[string]any{"command": "for i in 1 2 3; do echo line $i; until [ -e $i ]; do sleep 0.02; done; done"}), `^exit 0`)
	if len(events) < 3 || len(events) > 5 {
		t.Fatalf("%d events: %+v", len(events), events)
	}
	for i, e := range events[:3] {
		if want := fmt.Sprintf("line %d", i+1); e.Message != want {
			t.Errorf("event %d is %q, want %q", i, e.Message, want)
		}
	}
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
	t.Parallel()
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "true"}), `^exit 0`) // the sandbox stands
	s.jobs.Configure(jobs.Options{Foreground: 300 * time.Millisecond})
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 30"}), `^still running after \d+ ms: it is job`)
	s.jobs.Configure(jobs.Options{Timeout: 300 * time.Millisecond})
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 30"}), `^ended by SIGTERM .* \(timeout 300ms\)`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "sleep 1", "timeout": "20s"}), `^exit 0`)
}

// A command in the background answers with its job; so does one that has input.
func TestBackground(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "echo one; sleep 60", "background": true}), `^running: job \S+\n.*offset=4 .*\n\none\n$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "printf '%03000d\\n' 0; sleep 60", "background": true}),
		`^running: job \S+\n1 line cut at 2000 characters; job_output job=\w{8} offset=0 shows all\n.*offset=3001 .*\n\n0{1000}0{1000}…`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "echo name?; read n", "input": true}), `^running: job \S+.*\n\nname\?\n$`)
}

// A command in a terminal shows its screen.
func TestTerminal(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "tty; stty size; read -p 'who? ' w", "terminal": true})
	if strings.Contains(text, "no terminal") {
		t.Skip("needs: a sandbox with terminals")
	}
	s.want(text, `^running: job \S+; screen, cursor at 3,6\n.*\n\n/dev/pts/\d+\n30 100\nwho\?\n$`)
}

// A result shows the two ends of a long output, and says where the rest is.
func TestLong(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "seq 1 60000"})
	if len(text) > 22_000 {
		t.Errorf("%d bytes", len(text))
	}
	s.want(text, `^exit 0 in .*; 60000 lines, 349 kB\n(?:.*\n)?\n1\n2\n.*\n\[\d+ kB are not shown here; job_output job=\S+ offset=\d+ shows them\]\n.*\n60000\n$`)
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
	for _, j := range s.jobs.List(tools.Local) {
		<-j.Done()
		if _, why := j.Exit(); why != jobs.ByCancel {
			t.Errorf("the command ended by %q", why)
		}
	}
}

// Long lines are cut, and the result says how to see them whole.
func TestLongLines(t *testing.T) {
	s, ctx := start(t), t.Context()
	shown := strings.Repeat("y", 2000)
	const command = "echo first; printf 'y%.0s' $(seq 2500); echo; echo last"
	text := s.call(ctx, "bash", map[string]any{"command": command})
	s.want(text, `^exit 0 in [^\n]*\n(?:files[^\n]*\n)?1 line cut at 2000 characters; job_output job=\w{8} offset=6 shows all\n\nfirst\n`+shown+`…\[\+500 bytes\]\nlast\n$`)
	many := "for i in 1 2 3 4 5 6 7 8; do printf 'y%.0s' $(seq 5000); echo; done"
	if text := s.call(ctx, "bash", map[string]any{"command": many}); len(text) > 22_000 || !strings.Contains(text, "\n8 lines cut at 2000 characters; ") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
	if text := s.call(ctx, "bash", map[string]any{"command": "head -c 3000000 /dev/zero | tr '\\0' x; seq 9"}); len(text) > 6_000 || !strings.HasSuffix(text, "\n8\n9\n") {
		t.Errorf("%d bytes: %.300s", len(text), text)
	}
}

// max_output bounds what is shown, from both ends.
func TestMaxOutput(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "seq 1000", "max_output": 200})
	s.want(text, `^exit 0 in [^\n]*\n(?:files[^\n]*\n)?\n1\n2\n[\d\n]*\n\[[^\n]* are not shown here; job_output job=\w+ offset=\d+ shows them\]\n[\d\n]*1000\n$`)
	if len(text) > 500 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	if text := s.call(ctx, "bash", map[string]any{"command": "seq 1000", "max_output_tokens": 100}); len(text) > 800 || !strings.Contains(text, "\n1\n2\n") {
		t.Errorf("by tokens: %d bytes: %s", len(text), text)
	}
	if diff := tooltest.Match("error: invalid_argument: …", s.call(ctx, "bash", map[string]any{"command": "true", "max_output": 50_000})); diff != "" {
		t.Error(diff)
	}
}

// A failure of a known cause says the way out.
func TestHints(t *testing.T) {
	s := start(t)
	for said, want := range map[string]string{
		"bash: line 1: sudo: command not found": "commands run without privileges, ",
		"sudo: a password is required":          "commands run without privileges, ",
		"top: failed tty get":                   "terminal: true gives it a terminal, ",
		"Error opening terminal: unknown.":      "terminal: true gives it a terminal, ",
	} {
		s.want(s.call(t.Context(), "bash", map[string]any{"command": "echo '" + said + "'; false"}), `^exit 1 [^\n]*\nhint: `+want)
	}
}

// draws does what a program for a screen does.
const draws = `echo before; printf '\033[24;1H"x"\033[2;1H~\033[3;1H~\033[1;1H'; `

// A program that draws on a screen, without a terminal, ends early and leaves nothing.
func TestDrawsWithoutTerminal(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	begin := time.Now()
	text := s.call(ctx, "bash", map[string]any{"command": draws + "sleep 60"})
	s.want(text, `^ended by SIGTERM after [^\n]* \(it waits for keys, without a terminal\); [^\n]*\n(?:files[^\n]*\n)?hint: terminal: true [^\n]*\n\nbefore\n$`)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if kept := s.jobs.List(tools.Local); len(kept) > 0 {
		t.Errorf("%d jobs are kept", len(kept))
	}
}

// One that goes on after it has drawn may end by itself.
func TestDrawsAndGoesOn(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.want(s.call(t.Context(), "bash", map[string]any{"command": draws + "for i in 1 2 3 4 5 6; do sleep 0.7; echo $i; done"}), `^exit 0 `)
}

func TestEditorWithoutTerminal(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("vim"); err != nil {
		t.Skip("needs: vim")
	}
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "vim x"}), `\(it waits for keys, without a terminal\).*Vim: Warning: Output is not to a terminal`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "ls -A"}), `no output\n`)
}

// A file that a command wrote to a directory for temporary files cannot be opened by its path;
// the error says what to do, at every level of the sandbox.
func TestPrivateTemp(t *testing.T) {
	s, ctx := start(t), t.Context()
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock, sandbox.None} {
		s.engine.Configure(sandbox.Options{Level: level})
		text := s.call(ctx, "bash", map[string]any{"command": `f=$(mktemp); echo x > "$f"; echo "$f"`})
		if strings.HasPrefix(text, "error: unavailable: ") {
			t.Logf("needs: level %s: %s", level, text)
			continue
		}
		file := s.want(text, `\n\n(/\S+)\n$`)[1]
		told := `^error: denied: ` + regexp.QuoteMeta(file) + ` is outside the workspace \(if a command has made it, have the command write in the workspace, or cp the file there; roots: `
		s.want(s.call(ctx, "bash", map[string]any{"command": "true", "cwd": file}), told)
		s.want(s.call(ctx, "bash", map[string]any{"command": "cp " + file + " made; rm " + file + "; cat made"}), `\n\nx\n$`)
	}
	text := s.call(ctx, "bash", map[string]any{"command": "true", "cwd": "/usr/lib"})
	s.want(text, `^error: denied: /usr/lib is outside the workspace \(roots: `)
}

// A port of a job is open on 127.0.0.1 if it was asked for, as long as the job runs.
func TestPorts(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	s.want(s.call(ctx, "bash", map[string]any{"command": "true"}), `^exit 0`)
	for _, family := range []string{"4", "6"} {
		port := unused(t)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		text := s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, port, family), "background": true, "ports": []int{port}})
		job := s.want(text, fmt.Sprintf(`^running: job (\w+)\nport %d is open for the user at http://%s\n`, port, address))[1]
		j, err := s.jobs.Get(tools.Local, job)
		if err != nil {
			t.Fatal(err)
		}
		<-j.Log().Grown(0)
		if got := exchange(t, address, "hello"); got != "got hello" {
			t.Errorf("over IPv%s: %q", family, got)
		}
		if !s.jobs.Opened(tools.Local, port) || s.jobs.Opened("another", port) || s.jobs.Opened(tools.Local, port+1) {
			t.Error("Opened is wrong")
		}
		j.Stop(jobs.ByStop, 0)
		<-j.Done()
		for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) { // until its exec, a process that is being started has it too
			conn, err := net.Dial("tcp", address)
			if err != nil {
				break
			}
			conn.Close()
			if time.Since(begin) > 5*time.Second {
				t.Fatal("the port outlasts its job")
			}
		}
		if s.jobs.Opened(tools.Local, port) {
			t.Error("Opened after the end")
		}
	}
}

// Sessions, and programs without a sandbox, have no ports of their own.
func TestPortsRefused(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "session": "a", "ports": []int{80}}), `^error: invalid_argument: /session: `)
	s.engine.Configure(sandbox.Options{Level: sandbox.None})
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "ports": []int{80}}), `^error: unsupported: /ports: `)
}

func TestRedactedCommands(t *testing.T) {
	s := start(t)
	for _, tt := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"command": "mysql -phunter2", "env": []string{"DB_PASS=hunter2", "A=b"}}, `"mysql -p[redacted]","env":["DB_PASS=[redacted]","A=b"]`},
		{map[string]any{"command": "ls", "cwd": "."}, `"ls","cwd":"."`},
		{map[string]any{"command": "mysql -phunter2 '"}, `"mysql -p[redacted] '"`},
	} {
		if got := s.redacted("bash", tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%v: %s, want %s", tt.args, got, tt.want)
		}
	}
}

// What a Python program prints is seen while it runs, unless the caller wants otherwise.
func TestUnbuffered(t *testing.T) {
	const name = "PYTHONUNBUFFERED"
	s := start(t)
	contained, passing := sandbox.Options{}, sandbox.Options{Env: []string{name}}
	for _, tc := range []struct {
		server string // its variable, "" = unset
		opt    sandbox.Options
		env    []string
		want   string
	}{
		{"", contained, nil, "1"},
		{"", contained, []string{name + "="}, ""},
		{"x", contained, nil, "1"},
		{"x", passing, nil, "x"},
		{"x", sandbox.Options{Level: sandbox.None}, nil, "x"},
		{"", passing, nil, "1"},
	} {
		t.Setenv(name, tc.server)
		if tc.server == "" {
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
		s.engine.Configure(tc.opt)
		s.want(s.call(t.Context(), "bash", map[string]any{"command": `echo "<$PYTHONUNBUFFERED>"`, "env": tc.env}), `\n<`+tc.want+`>\n$`)
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	s.call(t.Context(), "bash", map[string]any{"command": `exec python3 -c 'import time; print("u" + "p"); time.sleep(60)'`, "background": true})
	s.want(s.call(t.Context(), "job_output", map[string]any{"until": "up", "wait": "20s"}), `\n(found: )?up\n`) // the call before may have shown it
}

// A command that finds its port taken is told which job holds it, and one that finds no server
// which ports have one.
func TestPortHolder(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	job := s.want(s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, 18304, "4"), "background": true}), `^running: job (\w{8})`)[1]
	s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"})
	s.want(s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, 18304, "4")}), `^exit 1 [^\n]*\nhint: port 18304 is held by job `+job+`: exec python3 [^\n]*; job_stop job=`+job+` ends it\n`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "echo EADDRINUSE 18305; false"}), `^exit 1 [^\n]*\n\nEADDR`)
	const reach = "(: < /dev/tcp/127.0.0.1/18306)"
	s.want(s.call(ctx, "bash", map[string]any{"command": reach}), `^exit 1 [^\n]*\nhint: nothing listens at localhost:18306 here: [^\n]*; job `+job+` listens at 18304\n`)
	s.want(s.call(ctx, "bash", map[string]any{"command": reach + "; true"}), `^exit 0 [^\n]*\n\n`)
	s.call(ctx, "job_stop", map[string]any{"job": job})
	s.want(s.call(ctx, "bash", map[string]any{"command": reach}), `; bash with background: true starts one\n`)
}
