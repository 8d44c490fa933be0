//go:build unix

package shell_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"toolcrib/tools"
)

func TestProcessList(t *testing.T) {
	t.Parallel()
	seconds := fmt.Sprintf("63.%d", os.Getpid()) // no other run has it
	cmd := sleeper(t, seconds)
	c := as(t, tools.Local)
	for _, args := range []map[string]any{
		{"name": "SLEEP " + seconds}, {"pid": cmd.Process.Pid}, {"pid": os.Getpid(), "name": "sleep " + seconds, "tree": true}, {"name": "sleep " + seconds, "sort": "age", "limit": 1},
	} {
		got := c.call("process_list", args)
		if !strings.HasPrefix(got, "1 of 1 processes, ") || !strings.Contains(got, fmt.Sprintf("\n%d@", cmd.Process.Pid)) {
			t.Errorf("%v: %s", args, got)
		}
	}
	if got := c.call("process_list", map[string]any{"limit": 2, "sort": "memory"}); strings.Count(got, "\n") != 4 {
		t.Errorf("two rows: %s", got)
	}
	if got := c.call("process_list", map[string]any{"name": "no program has this name"}); !strings.HasPrefix(got, "no process of ") {
		t.Errorf("none: %s", got)
	}
	if got := c.call("process_list", map[string]any{"pid": 4194304}); !strings.HasPrefix(got, "not_found") {
		t.Errorf("no such PID: %s", got)
	}
}

// Nobody is shown the secrets in the command lines of others, or finds a process by one.
func TestProcessSecrets(t *testing.T) {
	t.Parallel()
	secretive(t, func(t *testing.T, secret string, pid int) {
		p := as(t, tools.Local)
		list := p.call("process_list", map[string]any{"name": "toolcrib-test-veil", "pid": pid})
		if !strings.Contains(list, "toolcrib-test-veil") || strings.Contains(list, secret) {
			t.Errorf("the list:\n%s", list)
		}
		if list := p.call("process_list", map[string]any{"name": secret, "pid": pid}); !strings.HasPrefix(list, "no process") {
			t.Errorf("found by it:\n%s", list)
		}
	})
}
