package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/config"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

type ranIn struct {
	Code  int      `json:"code,omitempty" jsonschema:"minimum=0,maximum=255,default=0" jsonschema_description:"exit code"`
	Lines []string `json:"lines,omitempty" jsonschema_description:"output"`
}

type ranOut struct{ ranIn }

func (o ranOut) Text() string { return strings.Join(append([]string{"ended"}, o.Lines...), "\n") }

func (o ranOut) Meta() map[string]any { return map[string]any{tools.MetaExit: o.Code} }

// ran is a tool that says how a program has ended, and tells its lines as progress.
func ran() tools.Tool {
	return tools.New(tools.Def[ranIn, ranOut]{
		Name: "ran", Title: "Run", Doc: "Runs.", Access: tools.Read, Effects: tools.None, Streams: true,
		Foreign: []tools.Foreign{{Name: "process", By: "action", Values: []string{"fail"}, Implied: map[string]any{"code": 9}}},
		Run: func(ctx context.Context, in ranIn) (ranOut, error) {
			for _, line := range in.Lines {
				tools.Progress(ctx)(tools.ProgressEvent{Message: line})
			}
			return ranOut{in}, nil
		},
	})
}

// TestCallArguments checks how arguments are written on the command line, and the exit code.
func TestCallArguments(t *testing.T) {
	inProject(t)
	for _, tt := range []struct {
		args   []string
		stdout string
		code   int
	}{
		{[]string{"ran"}, "ended\n", 0},
		{[]string{"ran", "."}, "ended\n", 0},
		{[]string{"ran", "code=3"}, "ended\n", 3},
		{[]string{"ran", `{"code": 3}`, "."}, "ended\n", 3},
		{[]string{"--json", "ran", "code=130"}, "{\n  \"content\": [\n    {\n      \"type\": \"text\",\n      \"text\": \"ended\"\n    }\n  ],\n  \"_meta\": {\n    \"toolcrib/exit_code\": 130\n  }\n}\n", 130},
		{[]string{"ran", "lines=a=b", "lines=c d", "code=1", "."}, "ended\na=b\nc d\n", 1},
		{[]string{"process", "action=fail"}, "ended\n", 9},
		{[]string{"process", "action=end"}, "", 2},
		{[]string{"echo", "text=hello"}, "hello\n", 0},
		{[]string{"echo"}, "", 1},
		{[]string{"ran", "./code=3"}, "", 2}, // a directory that is not there
	} {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			in := invocation{args: append([]string{"call"}, tt.args...), catalog: append(fixtures(new([]string)), ran())}
			stdout, stderr, code := in.start(t)
			if code != tt.code || stdout != tt.stdout {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, %q", code, stdout, stderr, tt.code, tt.stdout)
			}
		})
	}
	_, explained, _ := invocation{args: []string{"policy", "explain", "echo", "text=hello"}}.start(t)
	if explained != "" {
		t.Errorf("policy takes no key=value: %s", explained)
	}
}

// TestCallOnTerminal checks that the output of a program is there once: its progress is gone
// when the result comes.
func TestCallOnTerminal(t *testing.T) {
	inProject(t)
	in := invocation{args: []string{"call", "ran", "lines=one", "lines=two\x1b[2J"}, terminal: true, catalog: []tools.Tool{ran()}}
	stdout, stderr, _ := in.start(t)
	if want := "ended\none\ntwo\x1b[2J\n"; stdout != want {
		t.Errorf("stdout %q, want %q", stdout, want)
	}
	shown := regexp.MustCompile("\r\x1b\\[K[^\r]*").ReplaceAllString(stderr, "")
	if shown != "" || !strings.HasSuffix(stderr, "\r\x1b[K") || strings.Contains(stderr, "[2J\x1b") || strings.Contains(stderr, "\n") {
		t.Errorf("stderr keeps %q of %q", shown, stderr)
	}
	in.env = []string{"TERM=dumb"}
	if _, stderr, _ = in.start(t); stderr != "" {
		t.Errorf("a dumb terminal gets %q", stderr)
	}
}

// TestCompletion checks the words that a shell is given.
func TestCompletion(t *testing.T) {
	inProject(t)
	for _, tt := range []struct{ words, want string }{
		{"ca", "call"},
		{"|", "audit call completion config demo detached docs doctor help list man policy schedule serve show stats token version"},
		{"--toolse", "--toolsets"},
		{"list --form", "--format"},
		{"list --format=o", "--format=openai"},
		{"serve --confirm |", "ask client deny"},
		{"serve --confirm=d", "--confirm=deny"},
		{"serve --preset |", "all companion default deferred minimal"},
		{"--log-level w", "warn"},
		{"serve |", ""},
		{"call e", "echo erase"},
		{"call echo |", "text="},
		{"call --json echo t", "text="},
		{"call echo text=x", ""},
		{"show d", "dot"},
		{"policy |", "explain"},
		{"policy explain er", "erase"},
		{"policy explain erase |", "path="},
		{"config cl", "claude-code claude-desktop"},
		{"help con", "config configuration"},
		{"completion f", "fish"},
		{"none |", ""},
	} {
		var words []string
		for word := range strings.SplitSeq(tt.words, " ") {
			words = append(words, strings.TrimSuffix(word, "|"))
		}
		stdout, stderr, code := invocation{args: append([]string{"completion", "zsh", "--"}, words...)}.start(t)
		if got := strings.Join(strings.Fields(stdout), " "); got != tt.want || stderr != "" || code != 0 {
			t.Errorf("%s: %q, want %q; %s, exit code %d", tt.words, got, tt.want, stderr, code)
		}
	}
	for words, want := range map[string]string{"serve --confirm = d": "deny", "serve --confirm =": "ask client deny", "call ec": "echo"} { // as bash splits them
		stdout, _, _ := invocation{args: append([]string{"completion", "bash", "--"}, strings.Fields(words)...)}.start(t)
		if got := strings.Join(strings.Fields(stdout), " "); got != want {
			t.Errorf("bash, %s: %q, want %q", words, got, want)
		}
	}
}

// TestCompletionScripts checks that each shell that is here takes its script.
func TestCompletionScripts(t *testing.T) {
	for shell, check := range map[string][]string{"bash": {"-n"}, "zsh": {"-n"}, "fish": {"--no-execute"}, "pwsh": {"-NoProfile", "-Command", "-"}} {
		t.Run(shell, func(t *testing.T) {
			name := strings.Replace(shell, "pwsh", "powershell", 1)
			script, _, code := invocation{args: []string{"completion", name}}.start(t)
			if code != 0 || !strings.Contains(script, "toolcrib completion "+name+" -- ") {
				t.Fatalf("exit code %d: %s", code, script)
			}
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("needs: " + shell + ": it is not on PATH")
			}
			cmd := exec.CommandContext(t.Context(), program, check...)
			cmd.Stdin = strings.NewReader(script)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// TestCompletionOfFiles checks that a shell names files also after "=", where the command
// names no words.
func TestCompletionOfFiles(t *testing.T) {
	for shell, tt := range map[string]struct {
		args []string
		ask  string // with the script in it
		want string
	}{
		"zsh": {
			[]string{"-f"},
			"toolcrib() :; compdef() :; compset() print -r compset $*; _files() print _files\n%s\nwords=(toolcrib call look path=pro) CURRENT=4; _toolcrib\n",
			"compset -P *=\n_files\n",
		},
		"fish": {
			[]string{"--no-config"},
			"function toolcrib; end\n%s\ncomplete -C 'toolcrib call look path=pro'; complete -C 'toolcrib call look pro'\n",
			"path=project/\nproject/\n",
		},
	} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("needs: " + shell + ": it is not on PATH")
			}
			script, _, _ := invocation{args: []string{"completion", shell}}.start(t)
			cmd := exec.CommandContext(t.Context(), program, tt.args...)
			cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(fmt.Sprintf(tt.ask, script))
			if err := os.Mkdir(filepath.Join(cmd.Dir, "project"), 0o700); err != nil {
				t.Fatal(err)
			}
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != tt.want {
				t.Errorf("%v: %q, want %q", err, out, tt.want)
			}
		})
	}
}

// TestMan checks that the man page has every command, flag and topic, and that man takes it.
func TestMan(t *testing.T) {
	page, stderr, code := invocation{args: []string{"man"}}.start(t)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	plain := strings.ReplaceAll(page, `\-`, "-")
	for _, want := range []string{".SS toolcrib call [FLAGS] TOOL ", "--read-only, TOOLCRIB_READ_ONLY", ".B security", "\n.EX\n", "--format FORMAT"} {
		if !strings.Contains(plain, want) {
			t.Errorf("there is no %q", want)
		}
	}
	for i, line := range strings.Split(page, "\n") {
		if macro := regexp.MustCompile(`^['.][A-Z]{0,2}`).FindString(line); macro != "" &&
			!slices.Contains([]string{".TH", ".SH", ".SS", ".TP", ".B", ".PP", ".EX", ".EE"}, macro) {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
	program, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("needs: groff: it is not on PATH")
	}
	cmd := exec.CommandContext(t.Context(), program, "-man", "-Tascii", "-ww", "-z")
	cmd.Stdin = strings.NewReader(page)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestFlagTopics checks that each setting belongs to a page of the help.
func TestFlagTopics(t *testing.T) {
	cfg := config.New(catalog.All(new(catalog.Services)))
	for _, o := range config.Options(&cfg) {
		if !slices.Contains(topicsOf(t), o.Topic) {
			t.Errorf("%s %s: no page of the help is called %q", o.Name, o.Env, o.Topic)
		}
	}
	for name, want := range map[string]string{"issuer": "http", "web-private": "web"} {
		opts := config.Options(&cfg)
		at := slices.IndexFunc(opts, func(o config.Option) bool { return o.Name == name })
		if diff := cmp.Diff(want, opts[at].Topic); diff != "" {
			t.Errorf("--%s: %s", name, diff)
		}
	}
}
