package shell_test

import (
	"maps"
	"runtime"
	"strings"
	"testing"

	"toolcrib/tools/internal/programs/jobs"
	"toolcrib/tools/internal/programs/sandbox"
)

func TestInput(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	job := s.begin("echo name?; read n; echo hello $n; cat; echo bye", piped)
	s.want(s.call(ctx, "job_input", map[string]any{"job": job, "text": "Ada\n"}), `\n\nhello Ada\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "x", "keys": []string{"enter", "eof"}}), `\n\nx\nbye\n$`)
	s.want(s.call(ctx, "job_input", map[string]any{"job": job, "text": "x"}), `^error: conflict: job .* has ended`)
}

func TestInputOfTerminal(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	s.begin("read -p 'who? ' w; echo hi $w; read -s -n1 k; printf '[%q]' $k", terminal)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "me\n"}), `who\? me\nhi me\n`)
	s.want(s.call(ctx, "job_input", map[string]any{"keys": []string{"ctrl-c"}}), `^(killed by|ended by|exit 130)`)
}

// A program that computes its answer is waited for, though it prints nothing meanwhile.
func TestTerminalComputes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs: linux: elsewhere nobody tells what a program does")
	}
	s, ctx := start(t), t.Context()
	s.begin("read -p 'how long? ' n; for ((end = SECONDS + n; SECONDS < end; )); do :; done; echo computed; read", terminal)
	s.want(s.call(ctx, "job_input", map[string]any{"text": "2\n", "wait": "30s"}), `how long\? 2\ncomputed\n`)
}

// What is typed into a terminal that does not show it is told by the class of its length;
// so is what answers a question for a secret. What a shell reads is told as a command.
func TestRedactedInput(t *testing.T) {
	t.Parallel()
	s := start(t)
	const unseen, asked, whole = `[typed without echo: at most 16 characters]`, `[typed where a secret may be asked for: at most 16 characters]`, `hunter2\n`
	const bash = "PS1='$ ' exec bash --norc --noprofile -i"
	for _, tt := range []struct {
		name, command string
		open          jobs.Spec
		in            map[string]any
		want          string
	}{
		{"read -s", "read -sp 'go: ' x; echo", terminal, map[string]any{"text": "hunter2\n"}, unseen},
		{"read -s -n", "read -sp 'go: ' -n 9 x; echo", terminal, map[string]any{"text": "hunter2\n"}, unseen},
		{"keys", "read -sp 'go: ' x; echo", terminal, map[string]any{"keys": []string{"h", "u", "n", "enter"}}, unseen + `","keys":["enter"]`},
		{"keys behind text", "read -sp 'go: ' x; echo", terminal, map[string]any{"text": "hun", "keys": []string{"t", "e", "r"}}, unseen + `"}`},
		{"raw", "stty raw -echo; echo go; cat", terminal, map[string]any{"text": "hunter2"}, unseen},
		{"with echo", "read -p 'go: ' x; echo", terminal, map[string]any{"text": "hunter2\n"}, whole},
		{"a password with echo", "read -p 'Password: ' x; echo", terminal, map[string]any{"text": "hunter2\n"}, asked},
		{"a pipe", "echo -n 'go: '; cat", piped, map[string]any{"text": "hunter2\n"}, whole},
		{"a password by a pipe", "echo -n 'Enter token: '; cat", piped, map[string]any{"text": "hunter2\n"}, asked},
		{"what asks for one", "echo go; cat; : sudo; sudo -h", piped, map[string]any{"text": "hunter2\n"}, asked},
		{"a shell", bash, terminal, map[string]any{"text": "ls -la\n"}, `"ls -la\n"`},
		{"a secret for a shell", bash, terminal, map[string]any{"text": "mysql -phunter2\n"}, `"mysql -p[redacted]\n"`},
		{"by keys", bash, terminal, map[string]any{"text": "mysql -p", "keys": []string{"x", "enter"}}, `"mysql -p[redacted]","keys":["enter"]`},
		{"an answer ahead", bash, terminal, map[string]any{"text": "su\nhunter2\n"}, `"su\n[typed where a secret may be asked for: at most 16 characters]"`},
		{"only keys", bash, terminal, map[string]any{"keys": []string{"up", "enter"}}, `"keys":["up","enter"]`},
		{"no job", bash, terminal, map[string]any{"text": "hunter2", "job": "none"}, `[typed into no job: at most 16 characters]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := s
			s.t = t
			args := map[string]any{"job": s.begin(tt.command, tt.open)}
			maps.Copy(args, tt.in)
			got := s.redacted("job_input", args)
			if !strings.Contains(got, tt.want) || tt.want != whole && strings.Contains(got, "hunter2") {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A part of a line may be that of a secret.
func TestRedactedParts(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	job := s.begin("PS1='$ ' exec bash --norc --noprofile -i", terminal)
	s.call(ctx, "job_input", map[string]any{"job": job, "text": "echo -phun"})
	if got := s.redacted("job_input", map[string]any{"job": job, "text": "ter2\n"}); strings.Contains(got, "ter2") {
		t.Error(got)
	}
}

// A job that has met a limit says so where its output ends.
func TestLimitOfInput(t *testing.T) {
	t.Parallel()
	s, ctx := start(t), t.Context()
	s.engine.Configure(sandbox.Options{Limits: sandbox.Limits{FileSize: 1 << 20}})
	job := s.begin("read x; head -c 2000000 /dev/zero > big", piped)
	s.want(s.call(ctx, "job_input", map[string]any{"job": job, "text": "\n"}), `^(exit 153|killed by SIGXFSZ) .*\nhint: it has probably met the limit of 1 MB for a file`)
}
