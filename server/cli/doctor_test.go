package cli_test

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolcrib/tools/catalog"
)

func TestDoctor(t *testing.T) {
	dir := inProject(t)
	for _, tt := range []struct {
		name     string
		args     []string
		programs []string
		want     []string // parts
		not      string
		code     int
	}{
		{
			"fit", []string{"--exclude-tools=fly"}, []string{"git", "claude", "toolcrib"},
			[]string{
				"ok      version  toolcrib ", "ok      git      /bin/git\n", "ok      files    opened by ",
				"ok      root     " + dir + ", can be written\n", "ok      state    ",
				"ok      tools    4 can be called, 4 of them are listed\n", "ok      client   Claude Code: ", " config claude-code --write --exclude-tools=fly --state-dir=",
			},
			"missing", 0,
		},
		{
			"bare", nil, nil,
			[]string{"missing git ", "missing tool     fly: TOOLCRIB_WINGS is not set: buy wings\n", "missing client ", "missing path     toolcrib is not on PATH, which a shell needs to find it: "},
			"broken", 0,
		},
		{"a tool that is asked for", []string{"--tools=fly"}, nil, []string{"broken  tool     fly: TOOLCRIB_WINGS is not set: buy wings\n"}, "", 1},
		{"what is switched off is not missing", []string{"--tools=echo"}, nil, []string{"tools    1 can"}, "fly", 0},
		{
			"nobody is asked who calls, beyond this machine", []string{"--http=0.0.0.0:8080", "--auth=none"}, nil,
			[]string{"broken  config   --http=0.0.0.0:8080 can be reached from other machines, so --auth=none is refused\n"}, "", 1,
		},
		{
			"metrics for all", []string{"--metrics=0.0.0.0:9464"}, nil,
			[]string{"broken  config   --metrics=0.0.0.0:9464 can be reached from other machines, so it needs a token\n"}, "", 1,
		},
		{"no such root", []string{"nowhere"}, nil, []string{"broken  root     nowhere: no such directory\n"}, "", 1},
		{"state in the workspace", []string{"--state-dir", filepath.Join(dir, "state")}, nil, []string{"broken  state ", "; name one outside of the roots: --state-dir="}, "root  ", 1},
		{"no place for state", []string{"/"}, nil, []string{"broken  state ", "; leave --state-dir out"}, "root  ", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stdout, stderr, code := invocation{args: append([]string{"doctor"}, tt.args...), programs: tt.programs}.start(t)
			if code != tt.code || stderr != "" {
				t.Errorf("exit code %d, want %d; stderr %q", code, tt.code, stderr)
			}
			for _, want := range tt.want {
				if !strings.Contains(stdout, want) {
					t.Errorf("no %q in:\n%s", want, stdout)
				}
			}
			if tt.not != "" && strings.Contains(stdout, tt.not) {
				t.Errorf("%q in:\n%s", tt.not, stdout)
			}
		})
	}
}

// Where a limit of programs that is set does not hold, doctor says so.
func TestDoctorLimits(t *testing.T) {
	inProject(t)
	stdout, _, _ := invocation{args: []string{"doctor", "--sandbox=landlock"}, categories: catalog.All(new(catalog.Services))}.start(t)
	if runtime.GOOS != "linux" || !strings.Contains(stdout, "ok      sandbox ") {
		t.Skipf("needs: a sandbox at level landlock:\n%s", stdout)
	}
	if want := "missing limits   programs.processes does not hold, so that a program may have any number of processes: level landlock"; !strings.Contains(stdout, want) {
		t.Errorf("no %q in:\n%s", want, stdout)
	}
}
