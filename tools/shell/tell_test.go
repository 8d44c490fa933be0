package shell_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"toolcrib/tools"
)

// told is what records may tell of a call now.
func (s server) told(tool string, args map[string]any) string {
	s.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range s.all {
		if t.Name != tool {
			continue
		}
		bound, err := t.Bind(raw)
		if err != nil {
			s.t.Fatal(err)
		}
		ctx := tools.WithSession(s.t.Context(), &tools.SessionInfo{Principal: tools.Local, Workspace: s.ws})
		return string(t.Redacted(ctx, bound))
	}
	s.t.Fatalf("no tool %s", tool)
	return ""
}

func TestToldOfCommands(t *testing.T) {
	s := start(t)
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"bash", map[string]any{"command": "mysql -phunter2", "env": []string{"DB_PASS=hunter2", "A=b"}}, `"mysql -p[redacted]","env":["DB_PASS=[redacted]","A=b"]`},
		{"bash", map[string]any{"command": "ls", "cwd": "."}, `"ls","cwd":"."`},
		{"bash", map[string]any{"command": "mysql -phunter2 '"}, `"mysql -p[redacted] '"`},
		{"powershell", map[string]any{"command": "$env:DB_PASS = 'hunter2'; ls"}, `"$env:DB_PASS = '[redacted]'; ls"`},
	} {
		if got := s.told(tt.tool, tt.args); !strings.Contains(got, tt.want) {
			t.Errorf("%v: %s, want %s", tt.args, got, tt.want)
		}
	}
}

// What is typed into a terminal that does not show it is told by the class of its length;
// so is what answers a question for a secret. What a shell reads is told as a command.
func TestToldOfInput(t *testing.T) {
	s, ctx := start(t), t.Context()
	open := func(command string, more map[string]any, until string) string {
		t.Helper()
		args := map[string]any{"command": command}
		maps.Copy(args, more)
		text := s.call(ctx, "bash", args)
		if strings.Contains(text, "no terminal") {
			t.Skip("needs: a sandbox that has terminals")
		}
		job := s.want(text, `^running: job ([a-z0-9-]+)`)[1]
		if !strings.Contains(text, until) {
			s.want(s.call(ctx, "job_output", map[string]any{"job": job, "until": until, "wait": "10s"}), `found`)
		}
		return job
	}
	terminal, pipe := map[string]any{"terminal": true}, map[string]any{"input": true}
	const unseen, asked, whole = `[typed without echo: at most 16 characters]`, `[typed where a secret may be asked for: at most 16 characters]`, `hunter2\n`
	const bash = "PS1='$ ' exec bash --norc --noprofile -i"
	for _, tt := range []struct {
		name, command, until string
		open                 map[string]any
		in                   map[string]any
		want                 string
	}{
		{"read -s", "read -sp 'go: ' x; echo", "go:", terminal, map[string]any{"text": "hunter2\n"}, unseen},
		{"read -s -n", "read -sp 'go: ' -n 9 x; echo", "go:", terminal, map[string]any{"text": "hunter2\n"}, unseen},
		{"keys", "read -sp 'go: ' x; echo", "go:", terminal, map[string]any{"keys": []string{"h", "u", "n", "enter"}}, unseen + `","keys":["enter"]`},
		{"keys behind text", "read -sp 'go: ' x; echo", "go:", terminal, map[string]any{"text": "hun", "keys": []string{"t", "e", "r"}}, unseen + `"}`},
		{"raw", "stty raw -echo; echo go; cat", "go", terminal, map[string]any{"text": "hunter2"}, unseen},
		{"with echo", "read -p 'go: ' x; echo", "go:", terminal, map[string]any{"text": "hunter2\n"}, whole},
		{"a password with echo", "read -p 'Password: ' x; echo", "Password:", terminal, map[string]any{"text": "hunter2\n"}, asked},
		{"a pipe", "echo -n 'go: '; cat", "go:", pipe, map[string]any{"text": "hunter2\n"}, whole},
		{"a password by a pipe", "echo -n 'Enter token: '; cat", "token:", pipe, map[string]any{"text": "hunter2\n"}, asked},
		{"what asks for one", "echo go; cat; : sudo; sudo -h", "go", pipe, map[string]any{"text": "hunter2\n"}, asked},
		{"a shell", bash, "$", terminal, map[string]any{"text": "ls -la\n"}, `"ls -la\n"`},
		{"a secret for a shell", bash, "$", terminal, map[string]any{"text": "mysql -phunter2\n"}, `"mysql -p[redacted]\n"`},
		{"by keys", bash, "$", terminal, map[string]any{"text": "mysql -p", "keys": []string{"x", "enter"}}, `"mysql -p[redacted]","keys":["enter"]`},
		{"an answer ahead", bash, "$", terminal, map[string]any{"text": "su\nhunter2\n"}, `"su\n[typed where a secret may be asked for: at most 16 characters]"`},
		{"only keys", bash, "$", terminal, map[string]any{"keys": []string{"up", "enter"}}, `"keys":["up","enter"]`},
		{"no job", bash, "$", terminal, map[string]any{"text": "hunter2", "job": "none"}, `[typed into no job: at most 16 characters]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			job := open(tt.command, tt.open, tt.until)
			args := map[string]any{"job": job}
			maps.Copy(args, tt.in)
			got := s.told("job_input", args)
			if !strings.Contains(got, tt.want) || tt.want != whole && strings.Contains(got, "hunter2") {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A part of a line may be that of a secret.
func TestToldOfParts(t *testing.T) {
	s, ctx := start(t), t.Context()
	text := s.call(ctx, "bash", map[string]any{"command": "PS1='$ ' exec bash --norc --noprofile -i", "terminal": true})
	if strings.Contains(text, "no terminal") {
		t.Skip("needs: a sandbox that has terminals")
	}
	job := s.want(text, `^running: job (\S+); .*\n\n\$\n?$`)[1]
	s.call(ctx, "job_input", map[string]any{"job": job, "text": "echo -phun"})
	if got := s.told("job_input", map[string]any{"job": job, "text": "ter2\n"}); strings.Contains(got, "ter2") {
		t.Error(got)
	}
}
