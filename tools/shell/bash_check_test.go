package shell_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/shell"
)

// What no program could be given is refused, by the name of the argument.
func TestRefused(t *testing.T) {
	s, ctx := start(t), t.Context()
	for _, tc := range []struct {
		args map[string]any
		want string
	}{
		{map[string]any{"command": "echo a\x00b"}, `^error: invalid_argument: /command: it has a NUL at byte 6`},
		{map[string]any{"session": "a\nb"}, `^error: invalid_argument: /session: a name`},
		{map[string]any{"session": " "}, `^error: invalid_argument: /session: a name`},
		{map[string]any{"session": "a\x1b[2J"}, `^error: invalid_argument: /session: a name`},
		{map[string]any{"command": "set -n", "session": "a"}, `^error: invalid_argument: /command: set -n`},
		{map[string]any{"command": "echo x; set -eno pipefail", "session": "a"}, `^error: invalid_argument: /command: set -n`},
		{map[string]any{"command": "set -o pipefail -n", "session": "a"}, `^error: invalid_argument: /command: set -n`},
		{map[string]any{"command": "set -o noexec", "session": "a"}, `^error: invalid_argument: /command: set -n`},
		{map[string]any{"command": "set -e; set -o pipefail; set -- -n; set +e +n", "session": "a"}, `^exit 0`},
		{map[string]any{"command": "set -n"}, `^exit 0`},
		{map[string]any{"session": ""}, `^exit 0 [^\n]*no output\n(sandbox[^\n]*\n)?$`},
		{map[string]any{"env": []string{"1A=x"}}, `^error: invalid_argument: /env: "1A" is no name`},
		{map[string]any{"env": []string{"A B=3"}}, `^error: invalid_argument: /env: "A B" is no name`},
		{map[string]any{"env": []string{"A=\x00x"}}, `^error: invalid_argument: /env: "A" has a NUL`},
		{map[string]any{"env": []string{"A"}}, `^error: invalid_argument: /env: "A" is not KEY=VALUE`},
		{map[string]any{"timeout": "NaN"}, `^error: invalid_argument: /timeout: "NaN" is not a duration`},
		{map[string]any{"timeout": "5"}, `^exit 0`},
		{map[string]any{"timeout": 0}, `^error: invalid_argument: /timeout: 0 is no time`},
		{map[string]any{"timeout": "-5"}, `^error: invalid_argument: /timeout: -5s is out of range`},
		{map[string]any{"timeout": "-5s"}, `^error: invalid_argument: /timeout: -5s is out of range \(from 0 to 24h\)`},
		{map[string]any{"timeout": "0s"}, `^error: invalid_argument: /timeout: 0 is no time`},
		{map[string]any{"timeout": "9999999999999h"}, `^error: invalid_argument: /timeout: 9999999999999h is out of range`},
		{map[string]any{"env": []string{"PATH=/nonexistent"}}, `^exit 0`},
	} {
		args := map[string]any{"command": "true"}
		maps.Copy(args, tc.args)
		s.want(s.call(ctx, "bash", args), tc.want)
	}
	s.want(s.call(ctx, "bash", map[string]any{"command": "nothing-of-the-kind", "env": []string{"PATH=/nonexistent"}}), `\n\n\S*bash: line 1: nothing-of-the-kind: `)
}

// Nobody is asked about a call that is then refused.
func TestRefusedFirst(t *testing.T) {
	landlock := sandbox.New()
	landlock.Configure(sandbox.Options{Level: sandbox.Landlock})
	for _, tc := range []struct {
		engine *sandbox.Engine
		in     shell.BashIn
	}{
		{nil, shell.BashIn{Command: "x", Session: "a", Ports: []int{8000}}},
		{nil, shell.BashIn{Command: "x", Session: "a", Input: true, Network: true}},
		{nil, shell.BashIn{Command: "x", Timeout: "soon", Network: true}},
		{landlock, shell.BashIn{Command: "x", Ports: []int{8000}}},
	} {
		args, err := json.Marshal(tc.in)
		if err != nil {
			t.Fatal(err)
		}
		tool := bash(t, shell.Deps{Sandbox: tc.engine})
		bound, err := tool.Bind(args)
		if err != nil {
			t.Fatal(err)
		}
		if plan, err := tool.Plan(t.Context(), bound); err == nil {
			t.Errorf("%+v: planned as %+v", tc.in, plan)
		}
	}
}

// A session keeps its directory: another one is not passed over in silence.
func TestSessionDirectory(t *testing.T) {
	s, ctx := start(t), t.Context()
	s.want(s.call(ctx, "bash", map[string]any{"command": "mkdir sub; cd sub", "session": "a", "cwd": "."}), `session a is in sub\n$`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "pwd", "session": "a", "cwd": "."}), `^error: invalid_argument: session a keeps`)
	s.want(s.call(ctx, "bash", map[string]any{"command": "pwd", "session": "a"}), `session a is in sub\n`)
}

// A process that makes one call keeps no jobs: it waits for the end, and refuses what
// would need one.
func TestOnce(t *testing.T) {
	s := start(t)
	s.want(s.call(t.Context(), "bash", map[string]any{"command": "true"}), `^exit 0`) // the sandbox stands
	s.jobs.Configure(jobs.Options{Foreground: 50 * time.Millisecond})
	ctx := tools.WithSession(t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: s.ws, Once: true})
	call := func(in shell.BashIn) string {
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		tool := bash(t, shell.Deps{Sandbox: s.engine, Jobs: s.jobs})
		bound, err := tool.Bind(raw)
		if err != nil {
			t.Fatal(err)
		}
		out, err := tool.Run(ctx, bound)
		if err != nil {
			return "error: " + tools.AsError(err).Error()
		}
		return out.(shell.BashOut).Text()
	}
	s.want(call(shell.BashIn{Command: "sleep 0.3; echo end"}), `^exit 0 .*\n\nend\n$`)
	for name, in := range map[string]shell.BashIn{"background": {Background: true}, "input": {Input: true}, "terminal": {Terminal: true}} {
		in.Command = "true"
		if text := call(in); !strings.HasPrefix(text, "error: invalid_argument: /"+name+": this one call keeps no jobs") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// Only a write outside is told where commands may write.
func TestHintOfPlaces(t *testing.T) {
	s, ctx := start(t), t.Context()
	const hint = "hint: commands may write inside"
	for _, tc := range []struct {
		command string
		want    bool
	}{
		{"echo 'touch: cannot touch '\"'/etc/x': Permission denied\"; exit 1", true},
		{"echo 'touch: cannot touch /etc/x: Read-only file system'; exit 1", true},
		{"echo 'bash: line 1: /root/y: Permission denied'; exit 1", true},
		{"echo \"PermissionError: [Errno 13] Permission denied: '/etc/x'\"; exit 1", true},
		{"echo 'mkdir: cannot create directory ‘/x’: Permission denied'; exit 1", true},
		{"echo 'open /etc/x: permission denied'; exit 1", true},
		{"echo 'unshare: unshare failed: Operation not permitted'; exit 1", false},
		{"echo 'mount: /mnt: permission denied.'; exit 32", false},
		{"echo \"chroot: cannot change root directory to '.': Operation not permitted\"; exit 125", false},
		{"echo x > x; ./x", false},
	} {
		text := s.call(ctx, "bash", map[string]any{"command": tc.command})
		if strings.Contains(text, "sandbox: none") {
			t.Skip("needs: a sandbox")
		}
		if got := strings.Contains(text, hint); got != tc.want {
			t.Errorf("%s: %v\n%s", tc.command, got, text)
		}
	}
}
