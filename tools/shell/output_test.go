package shell_test

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
)

// Long lines are cut in every answer, unless an offset asks for them.
func TestLongLines(t *testing.T) {
	s, ctx := start(t), t.Context()
	all, shown := strings.Repeat("y", 2500), strings.Repeat("y", 2000)
	const command = "echo first; printf 'y%.0s' $(seq 2500); echo; echo last"
	text := s.call(ctx, "bash", map[string]any{"command": command})
	job := s.want(text, `^exit 0 in [^\n]*\n(?:files[^\n]*\n)?1 line cut at 2000 characters; job_output job=(\w{8}) offset=6 shows all\n\nfirst\n`+shown+`…\[\+500 bytes\]\nlast\n$`)[1]
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 6}), `\n\n`+all+`\nlast\n$`)
	for _, args := range []map[string]any{{"tail": 2}, {"line": 2}} {
		args["job"] = job
		s.want(s.call(ctx, "job_output", args), `\n1 line cut at 2000 characters; job_output job=\w+ offset=6 shows all\n\n`+shown+`…\[\+500 bytes\]\nlast\n$`)
	}
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
	job := s.want(text, `^exit 0 in [^\n]*\n(?:files[^\n]*\n)?\n1\n2\n[\d\n]*\n\[[^\n]* are not shown here; job_output job=(\w+) offset=\d+ shows them\]\n[\d\n]*1000\n$`)[1]
	if len(text) > 500 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 0, "max_output": 200}), `next: offset=\d{3}\n\n1\n2\n[\d\n]{100,200}$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "seq 1000", "max_output": 200}), `^exit 0`)
	cut := map[string]any{"max_output": 45_000}
	rest := s.want(s.call(ctx, "job_output", cut), `; 1000 lines[^\n]*\nfrom offset (\d+), where the last answer was cut\n\n\d+\n[\d\n]*\n1000\n$`)[1]
	if rest == "0" {
		t.Error("what was shown is shown again")
	}
	s.want(s.call(ctx, "job_output", cut), `nothing new since offset 3893; offset=0`)
	if text := s.call(ctx, "bash", map[string]any{"command": "seq 1000", "max_output_tokens": 100}); len(text) > 800 || !strings.Contains(text, "\n1\n2\n") {
		t.Errorf("by tokens: %d bytes: %s", len(text), text)
	}
	if diff := tooltest.Match("…\n\n998\n999\n1000\n", s.call(ctx, "job_output", map[string]any{"job": job, "tail": 3})); diff != "" {
		t.Error(diff)
	}
	if diff := tooltest.Match("error: invalid_argument: …", s.call(ctx, "bash", map[string]any{"command": "true", "max_output": 50_000})); diff != "" {
		t.Error(diff)
	}
}

// A bare job_output goes on where the last answer has ended, and says so.
func TestGoesOn(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "echo one; read a; echo two; read a; echo three; read a", "input": true})
	job := s.want(text, `^running: job (\w{8})\n[^\n]*\n\none\n$`)[1]
	args := map[string]any{"job": job}
	s.want(s.call(ctx, "job_output", args), `^running for [^\n]*; next: offset=4\nnothing new since offset 4; offset=0 shows the output again\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "\n"}), `\n\ntwo\n$`)
	s.want(s.call(ctx, "job_output", args), `nothing new since offset 8; `)
	s.want(s.call(ctx, "job_output", map[string]any{"line": 1}), `\n\none\ntwo\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"offset": 0, "max_output": 200}), `\n\none\ntwo\n$`)
	j, err := s.jobs.Get("local", job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	<-j.Log().Grown(8)
	s.want(s.call(ctx, "job_output", args), `\nfrom offset 8, where the last answer ended\n\nthree\n$`)
	s.want(s.call(ctx, "job_stop", args), `^ended`)
	s.want(s.call(ctx, "job_output", args), `\nnothing new since offset 14; offset=0 shows the output again\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"offset": 0}), `\n\none\ntwo\nthree\n$`)
}

// A program that draws on a screen, without a terminal, ends early and leaves nothing.
func TestDrawsWithoutTerminal(t *testing.T) {
	s, ctx := start(t), t.Context()
	const draws = `echo before; printf '\033[24;1H"x"\033[2;1H~\033[3;1H~\033[1;1H'; `
	begin := time.Now()
	text := s.call(ctx, "bash", map[string]any{"command": draws + "sleep 60"})
	s.want(text, `^ended by SIGTERM after [^\n]* \(it waits for keys, without a terminal\); [^\n]*\n(?:files[^\n]*\n)?hint: terminal: true [^\n]*\n\nbefore\n$`)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	s.want(s.call(ctx, "job_list", map[string]any{"all": true}), `^no job is running\n$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": draws + "for i in 1 2 3 4 5 6; do sleep 0.7; echo $i; done"}), `^exit 0 `)
	if _, err := exec.LookPath("vim"); err != nil {
		t.Skip("needs: vim")
	}
	s.want(s.call(ctx, "bash", map[string]any{"command": "vim x"}), `\(it waits for keys, without a terminal\).*Vim: Warning: Output is not to a terminal`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "ls -A"}), `no output\n`)
}

// A file that a command wrote to its private /tmp cannot be opened by its path; the error says
// what to do.
func TestPrivateTemp(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "echo x > /tmp/made.txt; cat /tmp/made.txt"}), `\n\nx\n$`)
	const told = `^error: denied: /tmp/made.txt is outside the workspace \(commands have a /tmp and a HOME of their own: have the command write in the workspace, or cp the file there; roots: `
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "cwd": "/tmp/made.txt"}), told)
	text := s.call(ctx, "bash", map[string]any{"command": "true", "cwd": "/usr/lib"})
	s.want(text, `^error: denied: /usr/lib is outside the workspace \(roots: `)
}

// serving is a server that says back what it gets.
const serving = `exec python3 -u -c '
import socket, sys
s = socket.socket(socket.AF_INET6 if sys.argv[2] == "6" else socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("::1" if sys.argv[2] == "6" else "127.0.0.1", int(sys.argv[1])))
s.listen()
print("up")
while True:
    c, _ = s.accept()
    while True:
        d = c.recv(9)
        if not d: break
        c.sendall(b"got " + d)
    c.close()
' %d %s`

// A port of a job is open on 127.0.0.1 if it was asked for, as long as the job runs.
func TestPorts(t *testing.T) {
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	s.want(s.call(ctx, "bash", map[string]any{"command": "true"}), `^exit 0`)
	for _, family := range []string{"4", "6"} {
		text := s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, 18301, family), "background": true, "ports": []int{18301}})
		job := s.want(text, `^running: job (\w+)\nport 18301 is open for the user at http://127.0.0.1:18301\n`)[1]
		s.want(s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"}), `\nport 18301 is open for the user at http://127.0.0.1:18301\n`)
		s.want(s.call(ctx, "job_list", nil), `; 127.0.0.1:18301 = port 18301; exec`)
		if got := exchange(t, "127.0.0.1:18301", "hello"); got != "got hello" {
			t.Errorf("over IPv%s: %q", family, got)
		}
		if !s.jobs.Opened(tools.Local, 18301) || s.jobs.Opened("another", 18301) || s.jobs.Opened(tools.Local, 18302) {
			t.Error("Opened is wrong")
		}
		s.want(s.call(ctx, "job_stop", map[string]any{"job": job}), `^ended`)
		if conn, err := net.Dial("tcp", "127.0.0.1:18301"); err == nil {
			conn.Close()
			t.Error("the port outlasts its job")
		}
		if s.jobs.Opened(tools.Local, 18301) {
			t.Error("Opened after the end")
		}
	}
}

// A port that is taken on the machine gets another number, and the result says which.
func TestPortTaken(t *testing.T) {
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, port, "4"), "background": true, "ports": []int{port}})
	text := s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"})
	m := s.want(text, fmt.Sprintf(`\nport %d is open for the user at http://(127.0.0.1:\d+)\n`, port))
	if m[1] == taken.Addr().String() {
		t.Fatal("the port that is taken")
	}
	if got := exchange(t, m[1], "hello"); got != "got hello" {
		t.Errorf("%q", got)
	}
}

// A command that finds its port taken is told which job holds it.
func TestPortHolder(t *testing.T) {
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	job := s.want(s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, 18304, "4"), "background": true}), `^running: job (\w{8})`)[1]
	s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"})
	s.want(s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, 18304, "4")}), `^exit 1 [^\n]*\nhint: port 18304 is held by job `+job+`: exec python3 [^\n]*; job_stop job=`+job+` ends it\n`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "echo EADDRINUSE 18305; false"}), `^exit 1 [^\n]*\n\nEADDR`)
}

// A result says which port a job has opened in the sandbox alone, and how it is opened for
// the user.
func TestPortUnasked(t *testing.T) {
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	s.call(ctx, "bash", map[string]any{"command": "sleep 60", "background": true}) // another job, which listens to nothing
	s.call(ctx, "bash", map[string]any{"command": fmt.Sprintf(serving, 18303, "4"), "background": true})
	text := s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"})
	s.want(text, `\nport 18303 is open in the sandbox only; ports: \[18303\] opens it for the user's browser\n`)
	other := s.want(s.call(ctx, "job_list", nil), `(\w{8}) running for [^\n]*; sleep 60`)[1]
	if text := s.call(ctx, "job_output", map[string]any{"job": other}); strings.Contains(text, "18303") {
		t.Errorf("the port of another job: %s", text)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:18303"); err == nil {
		conn.Close()
		t.Error("the port is open on the machine")
	}
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "session": "a", "ports": []int{80}}), `^error: invalid_argument: /session: `)
	s.engine.Configure(sandbox.Options{Level: sandbox.None})
	s.want(s.call(ctx, "bash", map[string]any{"command": "true", "ports": []int{80}}), `^error: unsupported: /ports: `)
}

// exchange sends a text to an address, ends its side, and returns the whole answer.
func exchange(t *testing.T, address, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
