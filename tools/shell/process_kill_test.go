//go:build unix

package shell_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"toolcrib/tools"
)

// Nobody is asked about what this server has started, if it is who started the server.
func TestProcessKill(t *testing.T) {
	local, remote := as(t, tools.Local), as(t, "somebody")
	seconds := fmt.Sprintf("64.%d", os.Getpid()) // no other run has it
	cmd := sleeper(t, seconds)
	this := map[string]any{"process": idOf(t, cmd.Process.Pid)}
	if q := local.asked("process_kill", this); q != "" {
		t.Errorf("asked about a process of ours: %s", q)
	}
	for _, tc := range []struct {
		caller processTool
		want   tools.Effects
	}{{local, tools.Process}, {remote, tools.Process | tools.Outside | tools.Destroys}} {
		tool, bound := tc.caller.bind("process_kill", this)
		if plan, err := tool.Plan(tc.caller.ctx, bound); err != nil || plan.Effects != tc.want {
			t.Errorf("effects %s, %v; want %s", plan.Effects, err, tc.want)
		}
	}
	if q := remote.asked("process_kill", this); !strings.HasPrefix(q, "Send TERM to process ") || !strings.Contains(q, "sleep "+seconds+"?") {
		t.Errorf("asked: %s", q)
	}
	for _, args := range []map[string]any{{"process": "1717"}, {"process": strings.Split(this["process"].(string), "@")[0] + "@1"}} {
		if got := local.call("process_kill", args); !strings.HasPrefix(got, "invalid_argument") && !strings.HasPrefix(got, "not_found") {
			t.Errorf("%v: %s", args, got)
		}
	}
	pid, _, _ := strings.Cut(this["process"].(string), "@")
	for _, tc := range []struct{ name, given, want string }{
		{"pid", pid, "/process: " + pid + " is a PID alone, which may be another process by now (now it is sleep " + seconds + ": process=" + this["process"].(string) + ")"},
		{"pid", "4194304", "no process has it now; process_list shows the ids"},
		{"session_id", "abcdefgh", "/process: abcdefgh is the handle of a job (job_stop job=abcdefgh ends it)"},
		{"handle", "Job ABCDEFGH", "/process: abcdefgh is the handle of a job (job_stop job=abcdefgh ends it)"},
		{"process", "sleep", `/process: "sleep" is not PID@START (process_list shows the ids; name takes a text of the command line)`},
	} {
		if got := local.call("process_kill", map[string]any{tc.name: tc.given}); !strings.Contains(got, tc.want) {
			t.Errorf("%s=%s: %s\nwant %s", tc.name, tc.given, got, tc.want)
		}
	}
	if got := local.call("process_kill", this); !strings.HasPrefix(got, "ended by TERM after ") {
		t.Errorf("killed: %s", got)
	}
	if got := local.call("process_kill", this); !strings.HasPrefix(got, "not_found") {
		t.Errorf("once more: %s", got)
	}
}

// A job whose program was killed is over when the kill has answered.
func TestProcessKillEndsTheJob(t *testing.T) {
	s := start(t)
	for i := range 5 {
		name := fmt.Sprintf("sleep 65.%d%d", os.Getpid(), i)
		job := s.begin("echo ready; exec "+name, plain)
		s.want(s.call(t.Context(), "process_kill", map[string]any{"name": name, "signal": "KILL"}), "^ended by KILL")
		s.want(s.call(t.Context(), "job_list", map[string]any{"all": true}), job+" killed by SIGKILL")
	}
}

func TestProcessKillOfTheServer(t *testing.T) {
	c := as(t, tools.Local)
	for what, pid := range map[string]int{"this server": os.Getpid(), "started by": os.Getppid(), "first process": 1} {
		this := map[string]any{"process": idOf(t, pid), "signal": "CONT"}
		if got := c.asked("process_kill", this); !strings.HasPrefix(got, "denied") {
			t.Errorf("%s is asked about: %s", what, got)
		}
		if got := c.call("process_kill", this); !strings.HasPrefix(got, "denied") {
			t.Errorf("%s: %s", what, got)
		}
	}
}

// Nobody ends a process by a secret in its command line.
func TestProcessKillSecrets(t *testing.T) {
	secretive(t, func(t *testing.T, secret string, _ int) {
		if text := as(t, tools.Local).asked("process_kill", map[string]any{"name": secret}); !strings.Contains(text, "nothing that this server has started") {
			t.Errorf("ended by it: %s", text)
		}
	})
}
