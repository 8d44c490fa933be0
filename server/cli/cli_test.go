package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/cli"
)

// A command line that is wrong ends with code 2, nothing on stdout, and an
// error with the way out on stderr.
func TestUsageErrors(t *testing.T) {
	inProject(t)
	for _, tt := range []struct {
		args string
		env  string
		want string
	}{
		{"--toolset files", "", "unknown flag --toolset; did you mean --toolsets\n  toolcrib help serve lists the flags"},
		{"list -preset all", "", "unknown flag -preset; did you mean --preset\n  toolcrib help list lists the flags"},
		{"list --zzzzzzzz", "", "unknown flag --zzzzzzzz\n  toolcrib help list lists the flags"},
		{"list --preset", "", "--preset wants a value: --preset=NAME\n  toolcrib help list lists the flags"},
		{"list --preset --all", "", "--preset wants a value: --preset=NAME\n  toolcrib help list lists the flags"},
		{"list --confirm cliend", "", "--confirm: \"cliend\" is not a value; did you mean \"client\"\n  toolcrib help list lists the flags"},
		{"list --read-only=maybe", "", "--read-only: \"maybe\" is neither true nor false\n  toolcrib help list lists the flags"},
		{"list", "TOOLCRIB_CONFIRM=zzzzzz", "TOOLCRIB_CONFIRM: \"zzzzzz\" is not a value; there are: ask, client, deny\n  toolcrib help list lists the flags"},
		{"list --preset minimum", "", "--preset: \"minimum\" is not a value; did you mean \"minimal\"\n  toolcrib help list lists the flags"},
		{"list --tools ecko", "", "no tool is called \"ecko\"; did you mean \"echo\"\n  toolcrib list --all shows every tool with its category"},
		{"list more", "", "one argument too many: \"more\"\n  toolcrib list [FLAGS]; toolcrib show TOOL describes one"},
		{"lisst", "", "lisst: no such directory\n  did you mean the command \"list\"? It comes first: toolcrib list"},
		{"call echo hi", "", "hi: no such directory\n  an argument has its name, as in toolcrib call echo text=hi; a directory comes after the arguments"},
		{"nowhere", "", "nowhere: no such directory\n  toolcrib serve DIR: the directory that the tools may use"},
		{"help echo", "", "\"echo\" is no command but a tool\n  toolcrib show echo"},
		{"help lisst", "", "no command or topic is called \"lisst\"; did you mean \"list\"\n  toolcrib help lists the commands; topics: agents, audit, benchmarks, clients, configuration, detached, documents, files, hooks, http, licences, memory, metrics, policy, resources, sandbox, schedules, search, security, state, tools, web"},
		{"schedule instal", "", "schedule takes run, install or uninstall, not \"instal\"\n  toolcrib schedule run DIR; toolcrib schedule install DIR"},
		{"schedule install .", "TOOLCRIB_DATABASE=postgres://host/name", "TOOLCRIB_DATABASE is set, and what the system starts would not have it: it would run the schedules of another database\n  set database in the configuration instead; toolcrib help state tells how"},
		{"help list show", "", "help takes one command or topic, not 2\n  toolcrib help COMMAND; toolcrib help TOPIC"},
		{"show", "", "no tool is named\n  toolcrib show TOOL; toolcrib list shows the names"},
		{"show ecko", "", "no tool is called \"ecko\"; did you mean \"echo\"\n  toolcrib list --all shows every tool"},
		{"call", "", "call wants a tool\n  toolcrib call TOOL [JSON | KEY=VALUE ...] [DIR ...]; toolcrib show TOOL tells the arguments"},
		{"completion", "", "completion wants a shell\n  toolcrib completion SHELL: bash, fish, powershell, zsh"},
		{"completion csh", "", "there is no completion for \"csh\"\n  toolcrib completion SHELL: bash, fish, powershell, zsh"},
		{"call ecko {}", "", "no tool is called \"ecko\"; did you mean \"echo\"\n  toolcrib list --all shows every tool"},
		{"call fly {}", "", "fly cannot be called: TOOLCRIB_WINGS is not set: buy wings\n  toolcrib list --all shows what can be called"},
		{"docs", "", "no directory is given, and there is no tools here\n  toolcrib docs [DIR]"},
		{"version 2", "", "one argument too many: \"2\"\n  toolcrib version"},
	} {
		t.Run(tt.args+tt.env, func(t *testing.T) {
			stdout, stderr, code := invocation{args: strings.Fields(tt.args), env: []string{tt.env}}.start(t)
			if code != 2 || stdout != "" {
				t.Errorf("exit code %d, stdout %q; want 2 and nothing", code, stdout)
			}
			if diff := cmp.Diff("toolcrib: "+tt.want+"\n", stderr); diff != "" {
				t.Errorf("stderr (-want +got):\n%s", diff)
			}
		})
	}
}

func TestImpliedRoot(t *testing.T) {
	home := inProject(t)
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for _, args := range [][]string{nil, {"serve"}, {"call", "echo", `{"text":"x"}`}} {
		stdout, stderr, code := invocation{args: args}.start(t)
		if code != 2 || stdout != "" || !strings.Contains(stderr, "no directory is given") || !strings.Contains(stderr, "\n  to serve it all the same: toolcrib ") {
			t.Errorf("%q at home: exit code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
	if _, stderr, code := (invocation{args: []string{home}}).start(t); code != 0 || stderr != "" {
		t.Errorf("home, named: exit code %d, stderr %q", code, stderr)
	}
}

func TestTooWide(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(base, "home", "project"), 0o755); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(base, "home", "project", "link")
	if err := os.Symlink(filepath.Join(base, "home"), link); err != nil {
		t.Skip("needs: the right to make symlinks")
	}
	for _, home := range []string{filepath.Join(base, "home"), link} {
		t.Setenv("HOME", home)
		t.Setenv("USERPROFILE", home)
		for dir, wide := range map[string]bool{"home": true, ".": true, "home/project/link": true, "home/project/other": false, "two": false} {
			if got := cli.TooWide(filepath.Join(base, filepath.FromSlash(dir))); (got != "") != wide {
				t.Errorf("home %s, %s: %q", home, dir, got)
			}
		}
	}
	if cli.TooWide(string(filepath.Separator)) == "" {
		t.Error("the top of the file system is accepted as an implied root")
	}
}

func TestHelp(t *testing.T) {
	overview, _, _ := invocation{args: []string{"help"}}.start(t)
	for _, want := range []string{"\n  serve ", "\n  doctor ", " --toolsets ", " --read-only\n"} {
		if !strings.Contains(overview, want) {
			t.Errorf("help has no %q:\n%s", want, overview)
		}
	}
	if lines := strings.Count(overview, "\n"); lines > 55 {
		t.Errorf("help has %d lines, which is more than a screen", lines)
	}
	list, _, _ := invocation{args: []string{"help", "list"}}.start(t)
	for _, want := range []string{"Usage: toolcrib list [FLAGS]\n", "  --all\n", "  --format FORMAT\n", "TOOLCRIB_PRESET"} {
		if !strings.Contains(list, want) {
			t.Errorf("help list has no %q:\n%s", want, list)
		}
	}
	if strings.Count(list, "\n") > 40 || !strings.Contains(list, " --exclude-tools ") || !strings.Contains(list, "toolcrib help serve explains it") {
		t.Errorf("help list explains more than it has of its own:\n%s", list)
	}
	serve, _, _ := invocation{args: []string{"help", "serve"}}.start(t)
	if !strings.Contains(serve, "--toolsets NAMES, TOOLCRIB_TOOLSETS\n") || !strings.Contains(serve, "--read-only, TOOLCRIB_READ_ONLY\n") {
		t.Errorf("help serve explains nothing:\n%s", serve)
	}
	version, _, _ := invocation{args: []string{"help", "version"}}.start(t)
	if strings.Contains(version, "TOOLCRIB_") {
		t.Errorf("help version shows a configuration that version does not take:\n%s", version)
	}
	for args, want := range map[string]string{"-h": overview, "--help": overview, "list -h": list, "list --all --help": list} {
		stdout, stderr, code := invocation{args: strings.Fields(args)}.start(t)
		if code != 0 || stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q", args, code, stderr)
		}
		if diff := cmp.Diff(want, stdout); diff != "" {
			t.Errorf("%s (-want +got):\n%s", args, diff)
		}
	}
	for line := range strings.Lines(overview + list) {
		if len(line) > 100 {
			t.Errorf("line of %d characters: %s", len(line), line)
		}
	}
}

func TestVersion(t *testing.T) {
	stdout, stderr, code := invocation{args: []string{"version"}}.start(t)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, "toolcrib ") ||
		!strings.HasSuffix(stdout, " "+runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH+"\n") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
}

// TestEmptyList shows that a list without a name is refused: an unset variable
// of a script must not widen what can be called.
func TestEmptyList(t *testing.T) {
	for _, in := range []invocation{
		{args: []string{"list", "--tools", ""}},
		{args: []string{"list", "--toolsets=,"}},
		{args: []string{"list"}, env: []string{"TOOLCRIB_TOOLSETS=,"}},
	} {
		if _, stderr, code := in.start(t); code != 2 || !strings.Contains(stderr, "names nothing") {
			t.Errorf("%v %v: exit %d, %s", in.args, in.env, code, stderr)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	want, _, _ := (invocation{args: []string{"version"}}).start(t)
	if got, stderr, code := (invocation{args: []string{"--version"}}).start(t); got != want || code != 0 || want == "" {
		t.Errorf("%q, %d, %s; want %q", got, code, stderr, want)
	}
}
