package shell_test

import (
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/tools/shell"
)

const noRemoval = `[{"verdict":"deny","command":["rm"]}]`

// What is typed at the prompt of a shell is judged as a command line; what another
// program gets, and what would change the line, nobody can judge.
func TestPlanOfInput(t *testing.T) {
	t.Parallel()
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			planOfInput(t, level)
		})
	}
}

func planOfInput(t *testing.T, level sandbox.Level) {
	s, ctx := start(t), t.Context()
	s.engine.Configure(sandbox.Options{Level: level})
	job := s.begin("PS1='$ ' exec bash --norc --noprofile -i", terminal)
	s.engine.Configure(sandbox.Options{}) // an uncontained one would ask in any case
	const allowed, denied, asked = "allow by exec", "deny by policy[1]", "ask by policy[1]"
	judge := func(want string, in shell.JobInputIn) {
		t.Helper()
		in.Job = job
		if got := s.explains(noRemoval, "job_input", in); got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
	line := func(text string) shell.JobInputIn { return shell.JobInputIn{Text: text} }
	keys := func(names ...string) shell.JobInputIn { return shell.JobInputIn{Keys: names} }
	types := func(in map[string]any) {
		t.Helper()
		in["job"] = job
		s.want(s.call(ctx, "job_input", in), `^running`)
	}
	judge(allowed, line("ls\n"))
	judge(allowed, shell.JobInputIn{Text: "ls", Keys: []string{"enter"}})
	judge(denied, line("rm x\n"))
	judge(denied, line("ls; sudo rm x\n"))
	judge(denied, keys("r", "m", "space", "x", "enter"))
	for _, part := range []string{"ls", "rm", "!r\n", "ls\n^l^r\n", "l\t\n", "r\x7fls\n", "ls \\\n", "if true; then\n", "$X\n", "cat <<E\n"} {
		judge(asked, line(part))
	}
	judge(asked, keys("up", "enter"))
	judge(asked, keys("ctrl-r", "enter"))
	for _, name := range []string{"ctrl-c", "ctrl-d", "eof", "up", "esc", "enter", "pagedown"} {
		judge(allowed, keys(name))
	}
	if got := s.explains(noRemoval, "job_input", shell.JobInputIn{Text: "ls\n", Job: "nowhere"}); got != asked {
		t.Errorf("no job: %s, want %s", got, asked)
	}

	types(map[string]any{"text": "r"}) // waits on the line
	judge(asked, line("m x\n"))
	judge(asked, keys("enter"))
	types(map[string]any{"keys": []string{"ctrl-c"}})
	judge(allowed, line("ls\n"))
	judge(denied, line("rm x\n"))

	types(map[string]any{"text": "echo star; read x; cat\n", "until": "/^star/"}) // other programs read
	types(map[string]any{"text": "one\n"})
	judge(asked, line("ls\n"))
	types(map[string]any{"keys": []string{"ctrl-c"}})
	judge(allowed, line("ls\n"))

	types(map[string]any{"text": "echo 'one\n"}) // a text that is not closed
	judge(asked, line("rm x\n"))
}

// The job's own consent covers keys, and what is uncontained asks as bash does.
func TestPlanOfInputUncontained(t *testing.T) {
	t.Parallel()
	s := start(t)
	job := s.begin("echo up; cat", piped)
	for want, in := range map[string]shell.JobInputIn{
		"allow by exec":           {Job: job, Keys: []string{"eof"}},
		"ask by leaves-the-roots": {Job: job, Text: "x\n"},
	} {
		s.engine.Configure(sandbox.Options{Level: sandbox.None})
		if got := s.explains("[]", "job_input", in); got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
	s.engine.Configure(sandbox.Options{})
	if got := s.explains("[]", "job_input", shell.JobInputIn{Job: job, Text: "x\n"}); got != "allow by exec" {
		t.Errorf("contained: %s", got)
	}
}

// A run of an agent is no program: nothing is typed into it, so that nobody is asked.
func TestInputForWorks(t *testing.T) {
	s, ctx := start(t), t.Context()
	a := &agency{runs: []tools.Work{{Handle: "bbbbbbbb", What: "agent: old", State: "input_required: Which?\nanswer it", Steps: 3, Over: true, Input: "run_agent resume: answers"}}}
	s.all = shell.Tools(shell.Deps{Sandbox: s.engine, Jobs: s.jobs, Works: func() []tools.Works { return []tools.Works{a} }})
	s.want(s.call(ctx, "job_input", map[string]any{"job": "bbbbbbbb", "text": "x\n"}), `^error: unsupported: bbbbbbbb is no program that can be typed into: agent: old, input_required: Which\? \(run_agent resume: answers\)`)
	if got := s.explains(noRemoval, "job_input", shell.JobInputIn{Job: "bbbbbbbb", Text: "x\n"}); got != "allow by exec" {
		t.Errorf("the user is asked about what is not typed: %s", got)
	}
}
