package shell_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/internal/tooltest"
	"toolcrib/tools/shell"
)

// startPowerShell is start with pwsh, or what stands for it.
func startPowerShell(t *testing.T) server {
	t.Helper()
	s := start(t)
	dir := t.TempDir()
	t.Setenv("PATH", os.Getenv("PATH")) // is as it was afterwards
	if err := tooltest.PowerShell(dir); err != nil {
		t.Fatal(err)
	}
	s.engine.Configure(sandbox.Options{Read: []string{dir}})
	return s
}

func TestPowerShell(t *testing.T) {
	s, ctx := startPowerShell(t), t.Context()
	run := func(args map[string]any) string { return s.call(ctx, "powershell", args) }
	s.want(run(map[string]any{"command": "Write-Output one; exit 7"}), `^exit 7 in .*\n\none\n$`)
	s.want(run(map[string]any{"command": "Set-Content -Path a.txt -Value one"}), `^exit 0 in .*; no output\n.*files: created a.txt\n$`)
	s.want(run(map[string]any{"command": "Read-Host name"}), `^exit 1 in .*NonInteractive`)
	s.want(run(map[string]any{"command": "Start-Sleep -Seconds 30", "timeout": "300ms"}), `^ended by SIGTERM .*\(timeout 300ms\)`)
	s.want(run(map[string]any{"command": "exit", "session": "a"}), `^error: invalid_argument: .*session`)

	job := s.want(run(map[string]any{"command": "Read-Host name", "input": true}), `^running: job (\S+)\n.*\n\nname: $`)[1]
	j, err := s.jobs.Get(tools.Local, job)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Write([]byte("Ada\n")); err != nil {
		t.Fatal(err)
	}
	<-j.Done()
	if exit, _ := j.Exit(); exit.Code != 0 {
		t.Errorf("exit %d", exit.Code)
	}

	s.want(run(map[string]any{"command": "Write-Output up; Start-Sleep -Seconds 30", "background": true}), `^running: job \S+\n.*\n\nup\n$`)
}

// The policy sees that pwsh runs, and that nobody sees what it runs.
func TestPlanOfPowerShell(t *testing.T) {
	none := sandbox.New()
	none.Configure(sandbox.Options{Level: sandbox.None})
	for _, tc := range []struct {
		d            shell.Deps
		policy, want string
		in           shell.PowerShellIn
	}{
		{shell.Deps{}, `[]`, "allow by exec", shell.PowerShellIn{Command: "ls"}},
		{shell.Deps{}, `[]`, "ask by exec-with-network", shell.PowerShellIn{Command: "ls", Network: true}},
		{shell.Deps{}, `[]`, "ask by opens-ports", shell.PowerShellIn{Command: "ls", Ports: []int{8000}}},
		{shell.Deps{Sandbox: none}, `[]`, "ask by leaves-the-roots", shell.PowerShellIn{Command: "ls"}},
		{shell.Deps{}, `[{"verdict":"deny","command":["rm"]}]`, "ask by policy[1]", shell.PowerShellIn{Command: "ls"}},
		{shell.Deps{}, `[{"verdict":"deny","command":["pwsh"]}]`, "deny by policy[1]", shell.PowerShellIn{Command: "ls"}},
		{shell.Deps{}, `[{"verdict":"deny","tool":["powershell"]}]`, "deny by policy[1]", shell.PowerShellIn{Command: "ls"}},
		{shell.Deps{}, `[{"verdict":"deny","command":["rm"]},{"verdict":"allow","command":["pwsh *"]}]`, "allow by policy[2]", shell.PowerShellIn{Command: "ls"}},
	} {
		x := explainCall(t, tc.d, tc.policy, "powershell", tc.in)
		if got := x.Verdict + " by " + x.Rule; got != tc.want {
			t.Errorf("%s, %+v: %s, want %s\n%s", tc.policy, tc.in, got, tc.want, x)
		}
	}
}

// Where there is no pwsh the tool is left out, and costs nobody anything.
func TestWithoutPowerShell(t *testing.T) {
	host := tools.Host{OS: "linux", LookPath: func(file string) (string, error) {
		if file == "pwsh" {
			return "", errors.New("there is none")
		}
		return "/usr/bin/" + file, nil
	}}
	selected, err := tools.Select(shell.Tools(shell.Deps{}), tools.Selection{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	if len(selected.Omitted) != 1 || selected.Omitted[0].Tool.Name != "powershell" || selected.Omitted[0].Reason != "no pwsh on PATH: install PowerShell 7" {
		t.Errorf("left out: %+v", selected.Omitted)
	}
	for _, tool := range selected.Listed {
		if tool.Name == "powershell" {
			t.Error("it is listed")
		}
	}
}

func TestRedactedPowerShell(t *testing.T) {
	const want = `"$env:DB_PASS = '[redacted]'; ls"`
	if got := start(t).redacted("powershell", map[string]any{"command": "$env:DB_PASS = 'hunter2'; ls"}); !strings.Contains(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}
