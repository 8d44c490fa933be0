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
	if q := remote.asked("process_kill", this); !strings.HasPrefix(q, "Send TERM to process ") || !strings.Contains(q, "sleep "+seconds+"?") {
		t.Errorf("asked: %s", q)
	}
	for _, args := range []map[string]any{{"process": "1717"}, {"process": strings.Split(this["process"].(string), "@")[0] + "@1"}} {
		if got := local.call("process_kill", args); !strings.HasPrefix(got, "invalid_argument") && !strings.HasPrefix(got, "not_found") {
			t.Errorf("%v: %s", args, got)
		}
	}
	if got := local.call("process_kill", this); !strings.HasPrefix(got, "ended by TERM after ") {
		t.Errorf("killed: %s", got)
	}
	if got := local.call("process_kill", this); !strings.HasPrefix(got, "not_found") {
		t.Errorf("once more: %s", got)
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
