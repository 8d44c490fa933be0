package shell_test

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
)

func TestJobOutput(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	job := s.begin("echo one; read a; echo two; read a", piped)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 0}), `\n\none\n$`)
	j, err := s.jobs.Get(tools.Local, job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 4, "wait": "10s"}), `^running for .*next: offset=8\n\ntwo\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"line": 2}), `\n\ntwo\n$`)
	j.Stop(jobs.ByStop, 0)
	<-j.Done()
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "tail": 1}), `^(ended|killed) by .*\n\ntwo\n$`)
}

// Pages lead through all of a long output.
func TestLongOutput(t *testing.T) {
	s, ctx := start(t), t.Context()
	job := s.begin("seq 1 60000", plain)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "wait": "20s", "tail": 1}), `^exit 0 in `)
	var all strings.Builder
	for at := 0; ; {
		text := s.call(ctx, "job_output", map[string]any{"job": job, "offset": at})
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
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "line": 31234}), `\n\n31234\n31235\n`)
}

// Long lines are cut in every answer, unless an offset asks for them.
func TestLongLinesOfOutput(t *testing.T) {
	s, ctx := start(t), t.Context()
	all, shown := strings.Repeat("y", 2500), strings.Repeat("y", 2000)
	job := s.begin("echo first; printf 'y%.0s' $(seq 2500); echo; echo last", plain)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "until": "last", "wait": "20s"}), `found`)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 6}), `\n\n`+all+`\nlast\n$`)
	for _, args := range []map[string]any{{"tail": 2}, {"line": 2}} {
		args["job"] = job
		s.want(s.call(ctx, "job_output", args), `\n1 line cut at 2000 characters; job_output job=\w+ offset=6 shows all\n\n`+shown+`…\[\+500 bytes\]\nlast\n$`)
	}
}

// max_output bounds what is shown.
func TestMaxOutputOfJob(t *testing.T) {
	s, ctx := start(t), t.Context()
	job := s.begin("seq 1000", plain)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "wait": "20s", "tail": 3}), `\n\n998\n999\n1000\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"job": job, "offset": 0, "max_output": 200}), `next: offset=\d{3}\n\n1\n2\n[\d\n]{100,200}$`)
}

// A bare job_output shows what the result of a call has cut.
func TestCutOutput(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "seq 1000", "max_output": 200}), `^exit 0`)
	cut := map[string]any{"max_output": 45_000}
	rest := s.want(s.call(ctx, "job_output", cut), `; 1000 lines[^\n]*\nfrom offset (\d+), where the last answer was cut\n\n\d+\n[\d\n]*\n1000\n$`)[1]
	if rest == "0" {
		t.Error("what was shown is shown again")
	}
	s.want(s.call(ctx, "job_output", cut), `nothing new since offset 3893; offset=0`)
}

// A bare job_output goes on where the last answer has ended, and says so.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	job := s.begin("echo one; read a; echo two; read a; echo three; read a", piped)
	args := map[string]any{"job": job}
	j, err := s.jobs.Get(tools.Local, job)
	if err != nil {
		t.Fatal(err)
	}
	types := func(grown int64) {
		t.Helper()
		if _, err := j.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}
		<-j.Log().Grown(grown)
	}
	s.want(s.call(ctx, "job_output", args), `\n\none\n$`)
	s.want(s.call(ctx, "job_output", args), `^running for [^\n]*; next: offset=4\nnothing new since offset 4; offset=0 shows the output again\n$`)
	types(4)
	s.want(s.call(ctx, "job_output", args), `\nfrom offset 4, where the last answer ended\n\ntwo\n$`)
	s.want(s.call(ctx, "job_output", args), `nothing new since offset 8; `)
	s.want(s.call(ctx, "job_output", map[string]any{"line": 1}), `\n\none\ntwo\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"offset": 0, "max_output": 200}), `\n\none\ntwo\n$`)
	types(8)
	s.want(s.call(ctx, "job_output", args), `\nfrom offset 8, where the last answer ended\n\nthree\n$`)
	j.Stop(jobs.ByStop, 0)
	<-j.Done()
	s.want(s.call(ctx, "job_output", args), `\nnothing new since offset 14; offset=0 shows the output again\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"offset": 0}), `\n\none\ntwo\nthree\n$`)
}

// Beyond the end of an output its length is told.
func TestBeyondOutput(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.begin("echo one; sleep 60", plain)
	s.want(s.call(ctx, "job_output", map[string]any{"offset": 0, "wait": "10s"}), `\n\none\n$`)
	s.want(s.call(ctx, "job_output", map[string]any{"offset": 1000}), `\noffset 1000 is beyond the end: the output has 4 bytes\n`)
	s.want(s.call(ctx, "job_output", map[string]any{"line": 7}), `\nline 7 is beyond the end: the output has 1 line\n`)
	if text := s.call(ctx, "job_output", map[string]any{"offset": 4}); strings.Contains(text, "beyond") {
		t.Error(text)
	}
}

// A job that has met a limit says so where its output ends.
func TestLimitOfJob(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.engine.Configure(sandbox.Options{Limits: sandbox.Limits{FileSize: 1 << 20}})
	job := s.begin("seq 9; head -c 2000000 /dev/zero > big", plain)
	s.call(ctx, "job_output", map[string]any{"job": job, "wait": "20s"})
	if text := s.call(ctx, "job_output", map[string]any{"job": job, "line": 3}); !strings.Contains(text, "\nhint: ") {
		t.Errorf("no hint at the end:\n%s", text)
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
	s.begin(fmt.Sprintf(serving, port, "4"), jobs.Spec{Ports: []int{port}})
	text := s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"})
	m := s.want(text, fmt.Sprintf(`\nport %d is open for the user at http://(127.0.0.1:\d+)\n`, port))
	if m[1] == taken.Addr().String() {
		t.Fatal("the port that is taken")
	}
	if got := exchange(t, m[1], "hello"); got != "got hello" {
		t.Errorf("%q", got)
	}
}

// A result says which port a job has opened in the sandbox alone, and how it is opened for
// the user.
func TestPortUnasked(t *testing.T) {
	s, ctx := start(t), t.Context()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs: python3")
	}
	other := s.begin("echo quiet; sleep 60", plain)
	s.begin(fmt.Sprintf(serving, 18303, "4"), plain)
	text := s.call(ctx, "job_output", map[string]any{"until": "up", "wait": "20s"})
	s.want(text, `\nport 18303 is open in the sandbox only; ports: \[18303\] opens it for the user's browser\n`)
	if text := s.call(ctx, "job_output", map[string]any{"job": other}); strings.Contains(text, "18303") {
		t.Errorf("the port of another job: %s", text)
	}
	if conn, err := net.Dial("tcp", "127.0.0.1:18303"); err == nil {
		conn.Close()
		t.Error("the port is open on the machine")
	}
}

// A handle is taken as models write it.
func TestWrittenHandles(t *testing.T) {
	s := start(t)
	id := s.want(s.call(t.Context(), "bash", map[string]any{"command": "echo one; sleep 60", "background": true}), `^running: job (\w+)`)[1]
	for _, written := range []string{strings.ToUpper(id), "job " + id, "Job: " + strings.ToUpper(id), " job=" + id + " "} {
		s.want(s.call(t.Context(), "job_output", map[string]any{"job": written, "offset": 0}), `^running for .*; job `+id)
	}
}
