package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// detachedWorld is a user who has configured jobs.detach.
type detachedWorld struct {
	t                           *testing.T
	binary, root, state, config string
	env                         []string
}

// newDetachedWorld lets the test run in parallel with others: they wait for processes most of the time.
func newDetachedWorld(t *testing.T, settings string) *detachedWorld {
	t.Helper()
	t.Parallel()
	binary := built(t)
	dir, err := os.MkdirTemp("", "detached") // the name of a test may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	w := &detachedWorld{t: t, binary: binary, root: filepath.Join(dir, "root"), state: filepath.Join(dir, "state"), config: filepath.Join(dir, "c.yaml"), env: os.Environ()}
	if err := os.Mkdir(w.root, 0o700); err != nil {
		t.Fatal(err)
	}
	w.configure(settings)
	t.Cleanup(func() {
		out, err := exec.Command(binary, "detached", "--state-dir", w.state, "stop", "all").CombinedOutput()
		if err != nil {
			t.Errorf("stop all: %v: %s", err, out)
		}
		if t.Failed() {
			logs, _ := filepath.Glob(filepath.Join(w.state, "keepers", "*.log"))
			for _, name := range logs {
				text, _ := os.ReadFile(name)
				t.Logf("%s:\n%s", name, text)
			}
		}
		os.RemoveAll(dir)
	})
	return w
}

func (w *detachedWorld) configure(settings string) {
	w.t.Helper()
	if err := os.WriteFile(w.config, []byte(settings), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *detachedWorld) command(args ...string) *exec.Cmd {
	cmd := exec.Command(w.binary, append([]string{"serve", "--config", w.config, "--state-dir", w.state, "--sandbox=none", "--confirm=client"}, append(args, w.root)...)...)
	cmd.Env = w.env
	return cmd
}

// daemons returns the processes in the background.
func (w *detachedWorld) daemons() (pids []int) {
	w.t.Helper()
	out, err := exec.Command(w.binary, "detached", "--state-dir", w.state).Output()
	if err != nil {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if pid, err := strconv.Atoi(strings.Fields(line)[0]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (w *detachedWorld) sockets() []string {
	names, _ := filepath.Glob(filepath.Join(w.state, "keepers", "*.sock"))
	return names
}

// reload has the daemon of a client read other settings, and waits until newcomers find it by these.
func (w *detachedWorld) reload(c *relayClient, settings string) {
	w.t.Helper()
	before := w.sockets()
	w.configure(settings)
	if err := c.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, 20*time.Second, "the daemon has another socket", func() bool {
		now := w.sockets()
		return len(now) == 1 && !slices.Equal(now, before)
	})
}

// relayClient is a client of a relay.
type relayClient struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *bytes.Buffer
	id     int
}

func (w *detachedWorld) dial(args ...string) *relayClient {
	w.t.Helper()
	c := &relayClient{t: w.t, cmd: w.command(args...), stderr: new(bytes.Buffer)}
	in, err := c.cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	c.in, c.out, c.cmd.Stderr = in, bufio.NewReader(out), c.stderr
	if err := c.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.cmd.Process.Kill() }) // it may have ended
	c.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *relayClient) send(m any) {
	c.t.Helper()
	line, err := json.Marshal(m)
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	if err != nil {
		c.t.Fatalf("%v; stderr: %s", err, c.stderr)
	}
}

func (c *relayClient) request(method string, params any) string {
	c.t.Helper()
	c.id++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	return c.answer(c.id)
}

// answer waits for the answer to a request, and returns its text or all of it.
func (c *relayClient) answer(id int) string {
	c.t.Helper()
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("%v; stderr: %s", err, c.stderr)
		}
		var m struct {
			ID     int
			Method string
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Fatalf("%v: %s", err, line)
		}
		switch {
		case m.ID != id || m.Method != "":
		case len(m.Result.Content) > 0:
			return m.Result.Content[0].Text
		default:
			return line
		}
	}
}

func (c *relayClient) call(tool string, args map[string]any) string {
	c.t.Helper()
	return c.request("tools/call", map[string]any{"name": tool, "arguments": args})
}

func (c *relayClient) kill() {
	c.t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		c.t.Fatal(err)
	}
	_ = c.cmd.Wait() // it was killed
}

// leave ends the client's input and returns the exit code of the relay.
func (c *relayClient) leave() int {
	c.t.Helper()
	if err := c.in.Close(); err != nil {
		c.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, c.out) // what comes late
	_ = c.cmd.Wait()                  // the code tells
	return c.cmd.ProcessState.ExitCode()
}

var handleRule = regexp.MustCompile(`job ([a-z2-7]{8})\b`)

// background starts a command as a job and returns its handle.
func (c *relayClient) background(args map[string]any) string {
	c.t.Helper()
	args["background"] = true
	text := c.call("bash", args)
	m := handleRule.FindStringSubmatch(text)
	if m == nil {
		c.t.Fatalf("no job: %s", text)
	}
	return m[1]
}

// eventually waits until f holds.
func eventually(t *testing.T, within time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !f(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", within, what)
		}
	}
}

// processes returns those whose command line holds a text.
func processes(text string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(text)) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// gone waits until the processes of a name have ended. Those that are known are asked by
// their numbers, since a look at all processes takes seconds while others fork.
func gone(t *testing.T, within time.Duration, name string, pids []int) {
	t.Helper()
	eventually(t, within, "the processes have ended", func() bool {
		return !slices.ContainsFunc(pids, func(pid int) bool {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return err == nil && len(line) > 0 // a killed one that nobody has waited for has none
		})
	})
	if left := processes(name); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

const detach = "jobs: {detach: true, keep: 1s}\n"

// Jobs and sessions outlast a client that is killed, calls do not.
func TestDetachRejoin(t *testing.T) {
	w := newDetachedWorld(t, detach)
	c := w.dial()
	ticking := c.background(map[string]any{"command": "for ((i = 0; ; i++)); do echo tick $i; sleep 0.05; done"})
	typing := c.background(map[string]any{"command": "read line; echo got $line", "terminal": true})
	c.call("bash", map[string]any{"command": "x=42; cd /", "session": "s"})
	mark := "sleep 86" + strconv.Itoa(os.Getpid())
	c.id++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": "tools/call", "params": map[string]any{
		"name": "bash", "arguments": map[string]any{"command": "(" + mark + " &) ; " + mark + "; true"}}})
	name := strings.ReplaceAll(mark, " ", "\x00")
	var pids []int
	eventually(t, 10*time.Second, "the call runs", func() bool { pids = processes(name); return len(pids) == 2 })
	c.kill()
	gone(t, time.Second, name, pids)

	c = w.dial()
	list := c.call("job_list", map[string]any{})
	if !strings.Contains(list, ticking) || !strings.Contains(list, typing) {
		t.Fatalf("job_list: %s", list)
	}
	c.call("job_output", map[string]any{"job": ticking, "offset": 0})
	if text := c.call("job_output", map[string]any{"job": ticking, "wait": "2s", "until": "tick [1-9][0-9]"}); !strings.Contains(text, "tick") {
		t.Errorf("job_output: %s", text)
	}
	if text := c.call("job_input", map[string]any{"job": typing, "text": "hello\n"}); !strings.Contains(text, "got hello") {
		t.Errorf("job_input: %s", text)
	}
	if text := c.call("bash", map[string]any{"command": "echo x=$x in $PWD", "session": "s"}); !strings.Contains(text, "x=42 in /\n") {
		t.Errorf("the session: %s", text)
	}
	if text := c.call("job_stop", map[string]any{"job": ticking}); !strings.Contains(text, "(stopped)") {
		t.Errorf("job_stop: %s", text)
	}
	if pids := w.daemons(); len(pids) != 1 {
		t.Errorf("daemons: %v", pids)
	}
	if code := c.leave(); code != 0 {
		t.Errorf("the relay ended with %d: %s", code, c.stderr)
	}
}

// The end of input leaves calls the time to answer that stdio gives them.
func TestDetachHalfClose(t *testing.T) {
	w := newDetachedWorld(t, detach)
	c := w.dial()
	c.id++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": "tools/call", "params": map[string]any{
		"name": "bash", "arguments": map[string]any{"command": "echo begun >begun; sleep 0.5; echo answered"}}})
	eventually(t, 10*time.Second, "the call runs", func() bool { _, err := os.Stat(filepath.Join(w.root, "begun")); return err == nil })
	if err := c.in.Close(); err != nil {
		t.Fatal(err)
	}
	if text := c.answer(c.id); !strings.Contains(text, "answered") {
		t.Error(text)
	}
	if _, err := c.out.ReadByte(); err != io.EOF {
		t.Errorf("after the answer: %v", err)
	}
	if err := c.cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, c.stderr)
	}
}

// A daemon ends by itself when nobody needs it, and so does what is left of it.
func TestDetachEnd(t *testing.T) {
	w := newDetachedWorld(t, detach)
	c := w.dial()
	c.background(map[string]any{"command": "until [ -e enough ]; do sleep 0.1; done"})
	daemons := w.daemons()
	c.leave()
	time.Sleep(1500 * time.Millisecond) // the job runs
	if again := w.daemons(); !slices.Equal(again, daemons) {
		t.Fatalf("daemons %v, then %v", daemons, again)
	}
	if err := os.WriteFile(filepath.Join(w.root, "enough"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, 15*time.Second, "the daemon has ended", func() bool { return len(w.daemons()) == 0 })
	if sockets := w.sockets(); len(sockets) > 0 {
		t.Errorf("left: %v", sockets)
	}
}

// A daemon that does not answer is listed, and can be ended.
func TestDetachSilent(t *testing.T) {
	w := newDetachedWorld(t, detach)
	w.dial()
	daemons := w.daemons()
	if len(daemons) != 1 {
		t.Fatalf("daemons: %v", daemons)
	}
	pid := daemons[0]
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may have ended
	eventually(t, 10*time.Second, "all its threads have stopped", func() bool {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		return err == nil && !slices.ContainsFunc(threads, func(name string) bool {
			stat, err := os.ReadFile(name)
			return err == nil && !bytes.Contains(stat, []byte(") T "))
		})
	})
	detached := func(args ...string) *exec.Cmd {
		return exec.Command(w.binary, append([]string{"detached", "--state-dir", w.state}, args...)...)
	}
	if out, err := detached().CombinedOutput(); err != nil || !regexp.MustCompile(fmt.Sprintf(`\n%d +does not answer\n`, pid)).Match(out) {
		t.Errorf("it lists %v: %s", err, out)
	}
	stop := detached("stop", strconv.Itoa(pid))
	var said bytes.Buffer
	stop.Stdout, stop.Stderr = &said, &said
	if err := stop.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 10*time.Second, "it is asked to end", func() bool {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return strings.Contains(string(status), "\nShdPnd:\t0000000000004000\n")
	})
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := stop.Wait(); err != nil || said.String() != fmt.Sprintf("process %d has ended, with all its jobs\n", pid) {
		t.Errorf("stop: %v: %s", err, &said)
	}
	if again := w.daemons(); len(again) > 0 {
		t.Errorf("daemons: %v", again)
	}
}

// SIGKILL of a daemon ends its jobs, its client is told, and the next one has a fresh one.
func TestDetachKilled(t *testing.T) {
	w := newDetachedWorld(t, detach)
	c := w.dial()
	mark := "sleep 87" + strconv.Itoa(os.Getpid())
	c.background(map[string]any{"command": "setsid " + mark + " & " + mark})
	name := strings.ReplaceAll(mark, " ", "\x00")
	var pids []int
	eventually(t, 10*time.Second, "the job runs", func() bool { pids = processes(name); return len(pids) == 2 })
	daemons := w.daemons()
	if len(daemons) != 1 {
		t.Fatalf("daemons: %v", daemons)
	}
	if err := syscall.Kill(daemons[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	gone(t, 2*time.Second, name, pids)
	_, _ = io.Copy(io.Discard, c.out) // until its end
	if err := c.cmd.Wait(); err == nil || !strings.Contains(c.stderr.String(), "has ended the connection") {
		t.Errorf("the relay: %v, %s", err, c.stderr)
	}
	c = w.dial()
	if list := c.call("job_list", map[string]any{}); !strings.Contains(list, "no job is running") {
		t.Errorf("job_list: %s", list)
	}
	if again := w.daemons(); len(again) != 1 || again[0] == daemons[0] {
		t.Errorf("daemons: %v after %v", again, daemons)
	}
}

// Who has other settings, or another environment of programs, has another daemon, and
// hears of the jobs of the first.
func TestDetachKeys(t *testing.T) {
	w := newDetachedWorld(t, detach)
	first := w.dial()
	first.background(map[string]any{"command": "sleep 100"})
	w.env = append(w.env, "TOOLCRIB_READ_ONLY=") // an empty one is none
	same := w.dial()
	if pids := w.daemons(); len(pids) != 1 {
		t.Fatalf("two clients of the same settings: %v", pids)
	}
	if list := same.call("job_list", map[string]any{}); !strings.Contains(list, "sleep 100") {
		t.Errorf("job_list: %s", list)
	}
	w.configure(detach + "read_only: true\n")
	narrowed := w.dial()
	if pids := w.daemons(); len(pids) != 2 {
		t.Fatalf("with narrowed settings: %v", pids)
	}
	if text := narrowed.call("bash", map[string]any{"command": "true"}); !strings.Contains(text, "bash is off") {
		t.Errorf("bash, read-only: %s", text)
	}
	if list := narrowed.call("job_list", map[string]any{}); !strings.Contains(list, "no job is running") || !strings.Contains(list, "1 more run") {
		t.Errorf("job_list: %s", list)
	}
	link := w.root + ".link"
	if err := os.Symlink(w.root, link); err != nil {
		t.Fatal(err)
	}
	w.configure("read_only: true\n")
	call := exec.Command(w.binary, "call", "--config", w.config, "--state-dir", w.state, "--sandbox=none", "job_list", "{}", link)
	if out, err := call.CombinedOutput(); err != nil || !strings.Contains(string(out), "1 more runs in the server of other settings") || !strings.Contains(string(out), "--state-dir "+w.state+" stop ") {
		t.Errorf("job_list of a call: %v, %s", err, out)
	}
	w.configure("log_level: error\n")
	alone := w.dial()
	for _, handle := range []string{"nobody-has-this", "aaaaaaaa"} {
		if text := alone.call("job_output", map[string]any{"job": handle}); !strings.Contains(text, "1 more runs in the server of other settings") {
			t.Errorf("job_output of a server that is not detached: %s", text)
		}
	}
	w.configure(detach + "read_only: true\n")
	w.env = append(w.env, "LANG=xx")
	w.dial()
	if pids := w.daemons(); len(pids) != 3 {
		t.Errorf("with another language: %v", pids)
	}
}

// Fifty clients that start at once have one daemon.
func TestDetachTogether(t *testing.T) {
	w := newDetachedWorld(t, detach+"log_level: info\n")
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			cmd := w.command()
			cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
			out, err := cmd.Output()
			if err != nil || !bytes.Contains(out, []byte(`"id":1`)) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	wg.Wait()
	logs, _ := filepath.Glob(filepath.Join(w.state, "keepers", "*.log"))
	if len(logs) != 1 {
		t.Fatalf("logs: %v", logs)
	}
	text, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("msg=keeping")); n != 1 {
		t.Errorf("%d daemons:\n%s", n, text)
	}
}

// SIGHUP at a relay has the daemon read the files again, and who has the new settings
// joins it; who has the old ones does not.
func TestDetachReload(t *testing.T) {
	w := newDetachedWorld(t, detach)
	c := w.dial()
	c.background(map[string]any{"command": "sleep 100"})
	daemons := w.daemons()
	w.reload(c, detach+"exclude_tools: [bash]\n")
	if text := c.call("bash", map[string]any{"command": "true"}); !strings.Contains(text, "bash is off: excluded by --exclude-tools") {
		t.Errorf("bash: %s", text)
	}
	next := w.dial()
	if list := next.call("job_list", map[string]any{}); !strings.Contains(list, "sleep 100") {
		t.Errorf("job_list: %s", list)
	}
	if again := w.daemons(); !slices.Equal(again, daemons) {
		t.Errorf("daemons %v, then %v", daemons, again)
	}
	w.configure(detach)
	w.dial()
	if again := w.daemons(); len(again) != 2 {
		t.Errorf("with the old settings: %v", again)
	}
}

// A variable that programs are to get since a reload, and that the daemon was not given,
// is named in its log; a client that starts anew has it.
func TestDetachReloadVariable(t *testing.T) {
	w := newDetachedWorld(t, detach)
	w.env = append(w.env, "DETACH_NEW=here")
	doctor := exec.Command(w.binary, "doctor", "--sandbox=landlock", "--state-dir", w.state)
	if out, err := doctor.CombinedOutput(); err != nil {
		t.Skipf("needs: a sandbox at level landlock:\n%s", out)
	}
	c := w.dial("--sandbox=landlock")
	w.reload(c, detach+"programs: {env: [DETACH_NEW, LANG]}\n")
	log := ""
	logs, _ := filepath.Glob(filepath.Join(w.state, "keepers", "*.log"))
	for _, name := range logs {
		text, _ := os.ReadFile(name)
		log = string(text)
	}
	if !strings.Contains(log, "variable=DETACH_NEW") || strings.Contains(log, "variable=LANG") {
		t.Errorf("the log: %s", log)
	}
	next := w.dial("--sandbox=landlock")
	if text := next.call("bash", map[string]any{"command": "echo $DETACH_NEW"}); !strings.Contains(text, "here") {
		t.Errorf("programs of the next client: %s", text)
	}
}

// Stop does not wait until a parent process has asked how the server ended: none may ask.
func TestDetachedStopOrphan(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) }()
	w := newDetachedWorld(t, detach)
	c := w.dial()
	c.background(map[string]any{"command": "sleep 600"}) // without a job it would end by itself
	c.kill()
	pids := w.daemons()
	if len(pids) != 1 {
		t.Fatalf("servers in the background: %v", pids)
	}
	out, err := exec.Command(w.binary, "detached", "--state-dir", w.state, "stop", "all").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "has ended, with 1 job") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := unix.Wait4(pids[0], nil, 0, nil); err != nil {
		t.Errorf("the server was not left to this process: %v", err)
	}
}

// What there is to say where nothing runs.
func TestDetachedNothing(t *testing.T) {
	w := newDetachedWorld(t, detach)
	if err := os.Mkdir(w.state, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) (string, int) {
		cmd := exec.Command(w.binary, append([]string{"detached"}, args...)...)
		out, _ := cmd.CombinedOutput() // the code tells
		return string(out), cmd.ProcessState.ExitCode()
	}
	for _, args := range [][]string{{"--state-dir", w.state}, {"--state-dir", w.state, "stop", "all"}} {
		if out, code := run(args...); code != 0 || out != "no server is in the background\n" {
			t.Errorf("%q: %d, %s", args, code, out)
		}
	}
	for _, dir := range []string{filepath.Join(w.state, "missing"), w.config} {
		if out, code := run("--state-dir", dir); code != 2 || !strings.Contains(out, "is no directory") {
			t.Errorf("%s: %d, %s", dir, code, out)
		}
	}
}

// What is wrong is told by the relay, with the code that a server would end with.
func TestDetachRefusals(t *testing.T) {
	w := newDetachedWorld(t, detach)
	cmd := w.command("--python=/no/such/python")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "/no/such/python") {
		t.Errorf("a wrong setting: %v, %s", err, out)
	}
	if out, err := exec.Command(w.binary, "detached", "--state-dir", w.state, "stop", "1").CombinedOutput(); err == nil || !strings.Contains(string(out), "no server in the background") {
		t.Errorf("stop 1: %v, %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(w.root, ".toolcrib.yaml"), []byte(detach), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd = w.command()
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "can only narrow") {
		t.Errorf("the file of a workspace: %s", out)
	}
}

// A program that a job runs is no client of the daemon, whatever it says, and neither is
// who says nothing that can be understood.
func TestDetachFromInside(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3: a program that connects to a socket")
	}
	w := newDetachedWorld(t, detach)
	c := w.dial()
	sockets := w.sockets()
	if len(sockets) != 1 {
		t.Fatalf("sockets: %v", sockets)
	}
	const ask = `import socket; s = socket.socket(socket.AF_UNIX); s.connect("%s"); s.send(b"serve\n"); print(s.recv(10000).decode())`
	command := "setsid -w python3 -c '" + fmt.Sprintf(ask, sockets[0]) + "'"
	if text := c.call("bash", map[string]any{"command": command}); !strings.Contains(text, "does not use the server that runs it") {
		t.Errorf("a job was served: %s", text)
	}
	if out, err := exec.Command("bash", "-c", command).CombinedOutput(); err != nil || !strings.Contains(string(out), `"clients":2`) {
		t.Errorf("another program of the user: %v, %s", err, out)
	}
	conn, err := net.Dial("unix", sockets[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "nonsense\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || len(answer) > 0 {
		t.Errorf("nonsense: %q, %v", answer, err)
	}
}

// Another user is refused, even one who gets at the socket, and so is a daemon of another.
func TestDetachOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs: root: a program of another user")
	}
	const python = "/usr/bin/python3" // that of PATH may lie in a home
	if _, err := os.Stat(python); err != nil {
		t.Skip("needs: python3: a program that connects to a socket")
	}
	w := newDetachedWorld(t, detach)
	w.dial()
	sockets := w.sockets()
	if len(sockets) != 1 {
		t.Fatalf("sockets: %v", sockets)
	}
	asOther := func() string {
		const ask = `import socket; s = socket.socket(socket.AF_UNIX); s.connect("%s"); s.send(b"serve\n"); print(s.recv(10000).decode())`
		cmd := exec.Command(python, "-c", fmt.Sprintf(ask, sockets[0]))
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		return fmt.Sprintf("%s %v", out, err)
	}
	if said := asOther(); !strings.Contains(said, "PermissionError") {
		t.Errorf("of the directory: %s", said)
	}
	for _, name := range []string{filepath.Dir(w.state), w.state, filepath.Dir(sockets[0])} {
		if err := os.Chmod(name, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(sockets[0], 0o666); err != nil {
		t.Fatal(err)
	}
	if said := asOther(); !strings.Contains(said, "another user") {
		t.Errorf("of the daemon: %s", said)
	}
	if err := os.Chmod(filepath.Dir(sockets[0]), 0o700); err != nil {
		t.Fatal(err)
	}
}
