package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/config"
	"toolcrib/server/config/settings"
	"toolcrib/tools"
	"toolcrib/tools/catalog"
)

// write makes a file that only its owner can read.
func write(t *testing.T, name, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// shown returns the rows of config show, "VALUE (FROM)" by key.
func shown(t *testing.T, in invocation) map[string]string {
	t.Helper()
	in.args = append([]string{"config", "show"}, in.args...)
	stdout, stderr, code := in.start(t)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	rows := map[string]string{}
	head, rest, _ := strings.Cut(stdout, "\n")
	from, value := strings.Index(head, "FROM"), strings.Index(head, "VALUE")
	for line := range strings.Lines(rest) {
		rows[strings.TrimSpace(line[:from])] = fmt.Sprintf("%s (%s)", strings.TrimSpace(line[value:]), strings.TrimSpace(line[from:value]))
	}
	return rows
}

// A flag beats a variable, a variable the file, the file the default; the workspace's
// file narrows whatever came out.
func TestSettingsRank(t *testing.T) {
	project := inProject(t)
	workspace := filepath.Join(project, ".toolcrib.yaml")
	for _, tt := range []struct {
		name                  string
		flag, env, file, work string
		want                  string
	}{
		{"default", "", "", "", "", "ask (default)"},
		{"file", "", "", "deny", "", "deny (FILE:1)"},
		{"variable", "", "client", "deny", "", "client (TOOLCRIB_CONFIRM)"},
		{"flag", "ask", "client", "deny", "", "ask (--confirm)"},
		{"workspace over the default", "", "", "", "deny", "deny (narrowed by WORK:1)"},
		{"workspace over the file", "", "", "client", "ask", "ask (FILE:1, narrowed by WORK:1)"},
		{"workspace over a variable", "", "client", "deny", "ask", "ask (TOOLCRIB_CONFIRM, narrowed by WORK:1)"},
		{"workspace over a flag", "ask", "", "", "deny", "deny (--confirm, narrowed by WORK:1)"},
		{"workspace that would widen", "deny", "", "", "ask", "deny (--confirm)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, file := invocation{}, os.DevNull
			if tt.file != "" {
				file = write(t, filepath.Join(t.TempDir(), "c.yaml"), "confirm: "+tt.file+"\n")
			}
			in.env = append(in.env, "TOOLCRIB_CONFIG="+file)
			if tt.flag != "" {
				in.args = append(in.args, "--confirm="+tt.flag)
			}
			if tt.env != "" {
				in.env = append(in.env, "TOOLCRIB_CONFIRM="+tt.env)
			}
			if tt.work != "" {
				write(t, workspace, "confirm: "+tt.work+"\n")
				defer os.Remove(workspace)
			}
			got := strings.NewReplacer(file, "FILE", workspace, "WORK").Replace(shown(t, in)["confirm"])
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// The usual file is found without being named.
func TestSettingsUsualFile(t *testing.T) {
	inProject(t)
	home := t.TempDir()
	env := []string{"HOME=" + home, "USERPROFILE=" + home, "XDG_CONFIG_HOME=" + home, "APPDATA=" + home}
	dir := home
	if runtime.GOOS == "darwin" {
		dir = filepath.Join(home, "Library", "Application Support")
	}
	file := write(t, filepath.Join(dir, "toolcrib", "config.yaml"), "read_only: true\n")
	if got := shown(t, invocation{env: env})["read_only"]; got != "true ("+file+":1)" {
		t.Error(got)
	}
}

// A workspace's selection of tools takes away and never adds.
func TestSettingsNarrowTools(t *testing.T) {
	inProject(t)
	write(t, ".toolcrib.yaml", "tools: [echo, erase]\nread_only: true\ntool: {echo: {timeout: 1s}}\n")
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"echo"}},
		{[]string{"--tools=echo,dot"}, []string{"echo"}},
		{[]string{"--tools=dot"}, nil},
		{[]string{"--exclude-tools=echo"}, nil},
	} {
		stdout, stderr, code := invocation{args: append([]string{"list"}, tt.args...)}.start(t)
		var got []string
		for line := range strings.Lines(stdout) {
			if name := strings.Fields(line)[0]; name != "NAME" {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || code != 0 {
			t.Errorf("%q: exit code %d, %s (-want +got):\n%s", tt.args, code, stderr, diff)
		}
	}
	if got := shown(t, invocation{})["tool"]; !strings.HasPrefix(got, "{echo: {timeout: 1s, max_text: 50000}}") {
		t.Error(got)
	}
}

// These settings of the server, and of what categories share, can be set by the file of a
// workspace. A new one is entered here by hand. The settings of categories with tools are
// held by TestNarrow of tools/catalog. Each other setting is refused in such a file.
func TestSettingsNarrowable(t *testing.T) {
	var got []string
	cfg := config.New(slices.DeleteFunc(catalog.All(new(catalog.Services)), func(c tools.Category) bool { return len(c.Tools) > 0 }))
	for _, f := range settings.Fields(&cfg) {
		if f.Narrow != "" {
			got = append(got, f.Key+" "+f.Narrow)
		}
	}
	slices.Sort(got)
	want := []string{
		"allow_protected false", "confirm order=client,ask,deny", "exclude_tools union", "policy append verdict=deny",
		"read_only true",
		"sandbox order=none,landlock,full", "tool each", "tools catalog", "toolsets catalog",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	inProject(t)
	for _, text := range []string{
		"http: 127.0.0.1:1", "auth: none", "token: x", "preset: all", "state_dir: x", "log_level: debug", "durable: false",
		"index_memory: 0", "allow_host: [x]", "tokens: [{name: x}]", "scopes: {x: {}}", "read_only: false",
		"allow_protected: true", "confirm: client", "policy: [{verdict: allow}]", "policy: [{verdict: ask}]", "config: x",
	} {
		write(t, ".toolcrib.yaml", text)
		stdout, stderr, code := invocation{args: []string{"list"}}.start(t)
		if code != 2 || stdout != "" || !strings.Contains(stderr, ".toolcrib.yaml:1:") {
			t.Errorf("%s: exit code %d, %s", text, code, stderr)
		}
	}
}

// What files of configuration must not be.
func TestSettingsRefuses(t *testing.T) {
	project, away := inProject(t), t.TempDir()
	secret := write(t, filepath.Join(away, "secret"), "hunter2hunter2hunter2hunter2hunter2\n")
	open := write(t, filepath.Join(away, "open"), "hunter2hunter2hunter2hunter2hunter2\n")
	inside := write(t, filepath.Join(project, "secret"), "hunter2hunter2hunter2hunter2hunter2\n")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(away, "c.yaml")
	for _, tt := range []struct {
		name, content, want string
		mode                os.FileMode
		unix                bool
	}{
		{name: "unknown tools", content: "tools: [ehco]\ntool: {dto: {}}", want: `c.yaml:1:9: tools[1]: no tool is called "ehco"; did you mean echo`},
		{name: "a cache of what changes things", content: "tool: {erase: {cache: 1m}}", want: "only results of tools that read"},
		{name: "an old name", content: "tool: {say: {max_text: 1000}}", want: "this is an old name; write echo"},
		{name: "a secret inside a root", content: "token: {file: " + inside + "}", want: "is inside the root"},
		{name: "a secret that others can read", content: "token: {file: open}", want: "can be read by others", unix: true},
		{name: "a clear secret that others can read", content: "token: hunter2", mode: 0o644, want: "c.yaml:1: token: a secret is in a file that others can read", unix: true},
		{name: "a file that everybody can write", content: "read_only: true", mode: 0o666, want: "can be written by everybody", unix: true},
		{name: "too large", content: strings.Repeat("#", 1<<20+1), want: "more than 1048576 bytes"},
	} {
		if tt.unix && runtime.GOOS == "windows" {
			continue
		}
		write(t, config, tt.content)
		if tt.mode != 0 {
			if err := os.Chmod(config, tt.mode); err != nil {
				t.Fatal(err)
			}
		}
		_, stderr, code := invocation{args: []string{"list", "--config", config}}.start(t)
		if code != 2 || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, "hunter2") {
			t.Errorf("%s: exit code %d, %s, want %q", tt.name, code, stderr, tt.want)
		}
		if err := os.Remove(config); err != nil {
			t.Fatal(err)
		}
	}
	if _, stderr, code := (invocation{args: []string{"list", "--config", config}}).start(t); code != 2 || !strings.Contains(stderr, "c.yaml") {
		t.Errorf("a file that is not there: exit code %d, %s", code, stderr)
	}
	write(t, filepath.Join(project, "c.yaml"), "read_only: true")
	if _, stderr, code := (invocation{args: []string{"list", "--config", "c.yaml"}}).start(t); code != 2 || !strings.Contains(stderr, "where tools could change it") {
		t.Errorf("a file inside the root: exit code %d, %s", code, stderr)
	}
	if err := os.Symlink(secret, ".toolcrib.yaml"); err == nil {
		if _, stderr, code := (invocation{args: []string{"list"}}).start(t); code != 2 || !strings.Contains(stderr, "not a link") {
			t.Errorf("a link: exit code %d, %s", code, stderr)
		}
		if err := os.Remove(".toolcrib.yaml"); err != nil {
			t.Fatal(err)
		}
	}
	write(t, ".toolcrib.yaml", strings.Repeat("#", 64<<10+1))
	if _, stderr, code := (invocation{args: []string{"list"}}).start(t); code != 2 || !strings.Contains(stderr, "more than 65536 bytes") {
		t.Errorf("too large: exit code %d, %s", code, stderr)
	}
}

func TestConfigCheck(t *testing.T) {
	dir := inProject(t)
	good := write(t, filepath.Join(dir, "good.yaml"), "read_only: true\ntool: {echo: {timeout: 5s}}\n")
	if stdout, stderr, code := (invocation{args: []string{"config", "check", good}}).start(t); code != 0 || !strings.Contains(stdout, "is right") {
		t.Errorf("good: exit code %d, %s", code, stderr)
	}
	for text, want := range map[string]string{
		"audit_files: -1": ":1:14: audit_files: -1 is less than 1",
		"audit_size: -1":  ":1:13: audit_size: -1 is less than 1",
		"policy:\n- verdict: deny\n  tool: [nope]":                   `:3:3: policy[1].tool: there is no "nope"`,
		"policy:\n- {name: x, verdict: deny, path: ['!x']}":          ":2:28: policy[1].path: ",
		"policy: [{verdict: deny, path: []}]":                        ":1:32: policy[1].path: the list names nothing",
		"hooks: [{event: pre, command: [no-such-command]}]":          ":1:22: hooks[1].command: ",
		"hooks: [{event: pre, command: [sh], url: 'http://x.y'}]":    ":1:9: hooks[1]: give exactly one",
		"hooks: [{event: pre, url: 'https://x.y/', timeout: '-1s'}]": ":1:43: hooks[1].timeout: ",
		"limits: {rate: 0/s}":                                        ":1:1: limits: ",
		"limits: {tools: {nope: {concurrent: 1}}}":                   ":1:1: limits: ",
		"preset: foo":                       ":1:9: preset: ",
		"index_memory: -3":                  ":1:1: index_memory: ",
		"jobs: {foreground: 2m}":            ":1:8: jobs.foreground: 2m0s is not between 1s and 1m0s",
		"jobs: {output: -1}":                ":1:16: jobs.output: -1 is less than 1",
		"http: 99999":                       ":1:1: http: ",
		"state_key: abc":                    ":1:1: state_key: ",
		"tokens: [{name: x, token: short}]": ":1:10: tokens[1]: token x: the token has 5 characters",
		"tokens:\n- {name: x, hash: 'sha256:0000000000000000000000000000000000000000000000000000000000000000'}\n- {name: 'x y', hash: 'sha256:1111111111111111111111111111111111111111111111111111111111111111'}": ":3:4: tokens[2].name: the name of a token",
		"tokens:\n- {name: x, hash: 'sha256:0000000000000000000000000000000000000000000000000000000000000000', scopes: [tools:raed]}":                                                                             `:2:94: tokens[1].scopes: token x: no scope is called "tools:raed"; did you mean "tools:read"`,
		"scopes: {'a b': {}}":                                                     ":1:10: scopes.a b: ",
		"scopes:\n  look: {access: [raed]}":                                       ":2:10: scopes.look.access: scope look: ",
		"token: short":                                                            ":1:1: token: TOOLCRIB_TOKEN: the token has 5 characters, it needs 32",
		"http: 0.0.0.0:8080\nauth: none":                                          ":2:1: auth: --http=0.0.0.0:8080 can be reached from other machines",
		"http: '[::]:8080'\nauth: none":                                           ":2:1: auth: --http=[::]:8080 can be reached from other machines",
		"metrics: 192.0.2.1:9464":                                                 ":1:1: metrics: --metrics=192.0.2.1:9464 can be reached from other machines, so it needs a token",
		"http: 127.0.0.1:0\npublic_url: nowhere":                                  ":2:1: public_url: ",
		"http: 127.0.0.1:0\nauth: jwt\nissuer: 'http://x.y'":                      ":3:1: issuer: the issuer ",
		"http: 127.0.0.1:0\nauth: jwt\nissuer: 'https://x.y'\nalgorithms: [none]": ":4:1: algorithms: ",
		"http: 127.0.0.1:0\nauth: jwt":                                            ":2:1: auth: ",
		"metrics: 99999":                                                          ":1:1: metrics: ",
	} {
		file := write(t, filepath.Join(dir, "wrong.yaml"), text+"\n")
		_, stderr, code := invocation{args: []string{"config", "check", file}}.start(t)
		if code != 2 || !strings.Contains(stderr, "wrong.yaml"+want) {
			t.Errorf("%s: exit code %d, %s, want %q", text, code, stderr, want)
		}
		config := write(t, filepath.Join(t.TempDir(), "wrong.yaml"), text+"\n")
		_, stderr, code = invocation{args: []string{"serve", "--config", config}}.start(t)
		if code != 2 || !strings.Contains(stderr, "wrong.yaml"+want) {
			t.Errorf("serve with %s: exit code %d, %s, want %q", text, code, stderr, want)
		}
	}
	bad := write(t, filepath.Join(dir, ".toolcrib.yaml"), "htpp: 1\nhttp: x\ntools: [ehco]\n")
	_, stderr, code := invocation{args: []string{"config", "check", bad}}.start(t)
	for _, want := range []string{"in 3 places", ":1:1: htpp: there is no such key; did you mean http", ":2:1: http: the file of a workspace can only narrow", ":3:9: tools[1]: no tool"} {
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, no %q in %s", code, want, stderr)
		}
	}
	many := write(t, filepath.Join(dir, "many.yaml"), "confirm: maybe\ntools: [ehco]\nindex_memory: -5\npython: /none\nlimits: {rate: 0/s}\n")
	_, stderr, code = invocation{args: []string{"config", "check", many}}.start(t)
	for _, want := range []string{"in 5 places", ":1:10: confirm: ", ":2:9: tools[1]: ", ":3:1: index_memory: ", ":4:1: python: ", ":5:1: limits: "} {
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, no %q in %s", code, want, stderr)
		}
	}
	if stdout, stderr, code := (invocation{args: []string{"config", "schema"}}).start(t); code != 0 || !strings.Contains(stdout, `"read_only"`) {
		t.Errorf("schema: exit code %d, %s", code, stderr)
	}
}

// A setting that would have no effect is refused with its line.
func TestSettingsThatDoNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs: paths that begin with /")
	}
	dir := t.TempDir()
	for _, tt := range []struct{ text, want string }{
		{"programs:\n  hide: [" + dir + ", " + dir + "/none]\n", `:2:`},
		{"programs:\n  hide: [" + dir + "/none]\n", `programs.hide[1]: "` + dir + `/none" does not exist`},
		{"programs:\n  hide: [/]\n", `programs.hide[1]: "/" is everything`},
		{"programs:\n  read: [rel]\n", `programs.read[1]: "rel" is not an absolute path`},
		{"programs:\n  env: [A=b]\n", `programs.env[1]: "A=b" is not the name of a variable`},
		{"programs:\n  env: ['']\n", `programs.env[1]: "" is not the name of a variable`},
		{"python: " + dir + "/none\n", `:1:1: python: `},
		{"network_hosts: ['http://x/y']\n", `:1:1: network_hosts: `},
		{"network_private: ['http://x/y']\n", `"http://x/y" is a URL; give a host`},
	} {
		file := write(t, filepath.Join(dir, "c.yaml"), tt.text)
		if _, stderr, code := (invocation{args: []string{"config", "check", file}}).start(t); code != 2 || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: %d, %s", tt.text, code, stderr)
		}
	}
	file := write(t, filepath.Join(dir, "c.yaml"), "programs: {hide: ["+dir+"], read: ["+dir+"], env: [A_B]}\n")
	if stdout, stderr, code := (invocation{args: []string{"config", "check", file}}).start(t); code != 0 {
		t.Errorf("%s%s", stdout, stderr)
	}
}
