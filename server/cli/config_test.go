package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolcrib/server/cli"
)

// desk is a user's home and project for the config command.
type desk struct {
	home, project string
	env           []string
}

func atDesk(t *testing.T) desk {
	t.Helper()
	d := desk{home: t.TempDir(), project: inProject(t)}
	d.env = []string{"HOME=" + d.home, "USERPROFILE=" + d.home, "TOOLCRIB_STATE_DIR="}
	return d
}

// run carries out a config command that is to work.
func (d desk) run(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, code := invocation{args: append([]string{"config"}, args...), env: d.env}.start(t)
	if code != 0 || stderr != "" {
		t.Errorf("config %q: exit code %d, stderr %q", args, code, stderr)
	}
	return stdout
}

// files returns what home and project hold, by name, without the backups.
func (d desk) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for label, dir := range map[string]string{"~": d.home, ".": d.project} {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || strings.HasSuffix(name, ".bak") {
				return err
			}
			data, err := os.ReadFile(name)
			rel, relErr := filepath.Rel(dir, name)
			if relErr != nil {
				return relErr
			}
			files[label+"/"+filepath.ToSlash(rel)] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestConfigClients writes each client's entries, and takes them out again.
func TestConfigClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs: Linux: its paths stand here")
	}
	const url = "http://127.0.0.1:8080/mcp"
	for _, tt := range []struct {
		args       string
		file, want string // of the entry alone; PROGRAM and PROJECT stand for what they say
		own        string // the client's own way, "" = there is none
	}{
		{
			"claude-desktop", "~/.config/Claude/claude_desktop_config.json",
			`{"mcpServers": {"toolcrib": {"command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`, "",
		},
		{
			"claude-code", "~/.claude.json",
			`{"mcpServers": {"toolcrib": {"type": "stdio", "command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`,
			"claude mcp add --scope user toolcrib -- PROGRAM serve --read-only PROJECT",
		},
		{
			"claude-code --scope=project --name=crib", "./.mcp.json",
			`{"mcpServers": {"crib": {"type": "stdio", "command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`,
			"claude mcp add --scope project crib -- PROGRAM serve --read-only PROJECT",
		},
		{
			"claude-code --url " + url, "~/.claude.json",
			`{"mcpServers": {"toolcrib": {"type": "http", "url": "URL", "headers": {"Authorization": "Bearer ${TOOLCRIB_TOKEN}"}}}}`,
			"claude mcp add --scope user --transport http toolcrib URL --header 'Authorization: Bearer ${TOOLCRIB_TOKEN}'",
		},
		{
			"vscode", "~/.config/Code/User/mcp.json",
			`{"servers": {"toolcrib": {"type": "stdio", "command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`,
			`code --add-mcp '{"name":"toolcrib","type":"stdio","command":"PROGRAM","args":["serve","--read-only","PROJECT"]}'`,
		},
		{
			"vscode --scope project", "./.vscode/mcp.json",
			`{"servers": {"toolcrib": {"type": "stdio", "command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`, "",
		},
		{
			"vscode --scope project --url " + url, "./.vscode/mcp.json",
			`{"servers": {"toolcrib": {"type": "http", "url": "URL", "headers": {"Authorization": "Bearer ${env:TOOLCRIB_TOKEN}"}}}}`, "",
		},
		{
			"cursor", "~/.cursor/mcp.json",
			`{"mcpServers": {"toolcrib": {"type": "stdio", "command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`,
			"cursor://anysphere.cursor-deeplink/mcp/install?config=",
		},
		{
			"cursor --scope project --auth none --url " + url, "./.cursor/mcp.json",
			`{"mcpServers": {"toolcrib": {"url": "URL"}}}`, "",
		},
		{
			"codex", "~/.codex/config.toml",
			"[mcp_servers.toolcrib]\ncommand = 'PROGRAM'\nargs = ['serve', '--read-only', 'PROJECT']\n",
			"codex mcp add toolcrib -- PROGRAM serve --read-only PROJECT",
		},
		{
			"codex --url " + url, "~/.codex/config.toml",
			"[mcp_servers.toolcrib]\nurl = 'URL'\nbearer_token_env_var = 'TOOLCRIB_TOKEN'\n",
			"codex mcp add toolcrib --url URL --bearer-token-env-var TOOLCRIB_TOKEN",
		},
		{
			"codex --auth=none --url " + url, "~/.codex/config.toml",
			"[mcp_servers.toolcrib]\nurl = 'URL'\n", "codex mcp add toolcrib --url URL",
		},
		{
			"gemini", "~/.gemini/settings.json",
			`{"mcpServers": {"toolcrib": {"command": "PROGRAM", "args": ["serve", "--read-only", "PROJECT"]}}}`,
			"gemini mcp add --scope user toolcrib PROGRAM serve --read-only PROJECT",
		},
		{
			"gemini --exclude-tools=echo", "~/.gemini/settings.json",
			`{"mcpServers": {"toolcrib": {"command": "PROGRAM", "args": ["serve", "--exclude-tools=echo", "--read-only", "PROJECT"]}}}`, "",
		},
		{
			"gemini --scope project --url " + url, "./.gemini/settings.json",
			`{"mcpServers": {"toolcrib": {"httpUrl": "URL", "headers": {"Authorization": "Bearer ${TOOLCRIB_TOKEN}"}}}}`,
			"gemini mcp add --scope project --transport http --header 'Authorization: Bearer ${TOOLCRIB_TOKEN}' toolcrib URL",
		},
	} {
		t.Run(tt.args, func(t *testing.T) {
			d := atDesk(t)
			args := strings.Fields(tt.args)
			if !strings.Contains(tt.args, url) {
				args = append(args, "--read-only", ".")
			}
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			filled := strings.NewReplacer("PROGRAM", program, "PROJECT", d.project, "URL", url)
			file := strings.NewReplacer("~", d.home, "./", d.project+"/").Replace(tt.file)

			shown := d.run(t, args...)
			if len(d.files(t)) != 0 {
				t.Errorf("without --write there is %q", d.files(t))
			}
			if !strings.Contains(shown, " reads "+file) || !strings.Contains(shown, "\n  "+filled.Replace(tt.own)) {
				t.Errorf("no %s or no %s in:\n%s", file, filled.Replace(tt.own), shown)
			}
			if tt.own == "" && (strings.Contains(shown, "itself:") || strings.Contains(shown, "link:")) {
				t.Errorf("a way of its own in:\n%s", shown)
			}
			if strings.Contains(tt.args, url) != strings.Contains(shown, "environment: it must be set") && !strings.Contains(tt.args, "none") {
				t.Errorf("of the token says:\n%s", shown)
			}

			if said := d.run(t, append(args, "--write")...); strings.Contains(said, "\ntoolcrib is not on PATH") == strings.Contains(tt.args, url) {
				t.Errorf("of PATH says:\n%s", said)
			}
			written := d.files(t)
			if !strings.Contains(shown, "\n\n"+written[tt.file]+"\n") {
				t.Errorf("shown:\n%s\nwritten:\n%s", shown, written[tt.file])
			}
			text := written[tt.file]
			if strings.HasSuffix(tt.file, ".json") {
				text = flat(text)
			}
			if diff := cmp.Diff(map[string]string{tt.file: filled.Replace(tt.want)}, map[string]string{tt.file: text}); diff != "" || len(written) != 1 {
				t.Errorf("%d files (-want +got):\n%s", len(written), diff)
			}
			if again := d.run(t, append(args, "--write")...); !strings.Contains(again, "nothing is changed") {
				t.Errorf("written again: %s", again)
			}
			if diff := cmp.Diff(written, d.files(t)); diff != "" {
				t.Errorf("written again (-want +got):\n%s", diff)
			}
			d.run(t, append(args, "--remove")...)
			if left := d.files(t); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
			if again := d.run(t, append(args, "--remove")...); !strings.Contains(again, "nothing is changed") {
				t.Errorf("removed again: %s", again)
			}
		})
	}
}

// flat is indented JSON on one line.
func flat(text string) string {
	words := strings.Fields(text)
	line := strings.Join(words, " ")
	return strings.NewReplacer("{ ", "{", " }", "}", "[ ", "[", " ]", "]").Replace(line)
}

// TestConfigKeeps shows that a file that was written and then cleaned is the old
// one, whatever it looked like, and that each step has a backup.
func TestConfigKeeps(t *testing.T) {
	for client, doc := range map[string]string{
		"claude-code": "{\"mcpServers\": { }, \"n\": 1.0}",
		"vscode":      "\ufeff// mine\r\n{\r\n\t\"inputs\": [],\r\n\t\"servers\": {\r\n\t},\r\n}\r\n\r\n",
		"gemini":      "{}",
		"cursor":      "",
		"codex":       "model = \"o3\" # mine",
	} {
		t.Run(client, func(t *testing.T) {
			d := atDesk(t)
			file := d.file(t, client)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
			d.run(t, client, "--write", ".")
			changed := d.run(t, client, "--write", "--read-only", ".")
			if strings.Contains(changed, "also had") {
				t.Errorf("an entry of ours had nothing else: %s", changed)
			}
			removed := d.run(t, client, "--remove")
			if data, err := os.ReadFile(file); err != nil || string(data) != doc {
				t.Errorf("%v\n got %q\nwant %q", err, data, doc)
			}
			backups, err := filepath.Glob(file + ".toolcrib-*.bak")
			if err != nil || len(backups) != 3 || !strings.Contains(removed, "as it was before: "+backups[2]) {
				t.Errorf("%d backups, %v: %s", len(backups), err, removed)
			}
		})
	}
}

// file returns a client's file in the scope of the user.
func (d desk) file(t *testing.T, client string) string {
	t.Helper()
	file, err := cli.ClientFile(client, "user", runtime.GOOS, d.home, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestConfigReplaces shows that what an old entry had is named.
func TestConfigReplaces(t *testing.T) {
	d := atDesk(t)
	if err := os.WriteFile(".mcp.json", []byte(`{"mcpServers": {"toolcrib": {"command": "x", "env": {"K": "v"}, "cwd": "/"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := d.run(t, "claude-code", "--write", "--scope=project")
	if !strings.Contains(got, "the old entry also had cwd, env: ") {
		t.Errorf("no cwd and env in:\n%s", got)
	}
}

// TestConfigSecrets shows that the token, and what is for serving HTTP, gets into
// no entry.
func TestConfigSecrets(t *testing.T) {
	d := atDesk(t)
	d.env = append(d.env, "TOOLCRIB_TOKEN=hush-hush-hush-hush-hush-hush-hush", "TOOLCRIB_HTTP=127.0.0.1:1", "TOOLCRIB_ALLOW_HOST=h", "TOOLCRIB_TOOLS=echo")
	for _, args := range [][]string{{"codex"}, {"claude-code"}, {"codex", "--url=http://h/mcp"}, {"claude-code", "--url=http://h/mcp"}} {
		shown := d.run(t, args...)
		d.run(t, append(args, "--write")...)
		for name, text := range d.files(t) {
			if all := shown + text; strings.Contains(all, "hush") || strings.Contains(all, "--http") || strings.Contains(all, "allow-host") {
				t.Errorf("%q: %s: %s\n%s", args, name, text, shown)
			}
		}
		if len(args) == 1 && !strings.Contains(shown, "--tools=echo") {
			t.Errorf("%q: the tools of the environment are not in\n%s", args, shown)
		}
	}
}

// TestConfigExpands shows that a client that would read a path in another way is
// named.
func TestConfigExpands(t *testing.T) {
	d := atDesk(t)
	if err := os.Mkdir("$x", 0o700); err != nil {
		t.Fatal(err)
	}
	if got := d.run(t, "gemini", "$x"); !strings.Contains(got, "Beware: Gemini CLI takes the $ in ") {
		t.Errorf("no warning in:\n%s", got)
	}
	if got := d.run(t, "cursor", "$x") + d.run(t, "codex", "$x"); strings.Contains(got, "Beware") {
		t.Errorf("a warning in:\n%s", got)
	}
}

func TestConfigList(t *testing.T) {
	d := atDesk(t)
	d.run(t, "cursor", "--write")
	if err := os.WriteFile(".mcp.json", []byte("{\n\n!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(".gemini/settings.json", 0o700); err != nil {
		t.Fatal(err)
	}
	list := d.run(t)
	for _, want := range []string{
		"cursor user set up " + d.file(t, "cursor"),
		"cursor project no file " + filepath.Join(d.project, ".cursor", "mcp.json"),
		"claude-code project broken in line 3 " + filepath.Join(d.project, ".mcp.json"),
		"not a regular file " + filepath.Join(d.project, ".gemini", "settings.json"),
	} {
		if !strings.Contains(strings.Join(strings.Fields(list), " "), want) {
			t.Errorf("no %q in:\n%s", want, list)
		}
	}
	if strings.Contains(d.run(t, "--name=other"), "set up ") != true || strings.Contains(d.run(t, "--name=other"), "  set up") {
		t.Errorf("an entry of another name:\n%s", d.run(t, "--name=other"))
	}
}

// TestConfigGone checks that an entry whose program is gone is not called set up.
func TestConfigGone(t *testing.T) {
	d := atDesk(t)
	program := filepath.Join(d.project, "toolcrib")
	for _, tt := range []struct{ name, entry, want string }{
		{"gone", `{"command": ` + strconv.Quote(program) + `, "args": []}`, "broken: no program " + program},
		{"a directory", `{"command": ` + strconv.Quote(d.project) + `}`, "broken: no program " + d.project},
		{"not on PATH", `{"command": "toolcrib-gone"}`, "broken: no program toolcrib-gone"},
		{"of a variable", `{"command": "${HOME}/toolcrib"}`, "set up "},
		{"a URL", `{"url": "http://127.0.0.1:8080/mcp"}`, "set up "},
	} {
		if err := os.MkdirAll(filepath.Dir(d.file(t, "cursor")), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.file(t, "cursor"), []byte(`{"mcpServers": {"toolcrib": `+tt.entry+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		list := strings.Join(strings.Fields(d.run(t)), " ")
		if !strings.Contains(list, "cursor user "+tt.want) {
			t.Errorf("%s: no %q in:\n%s", tt.name, tt.want, list)
		}
	}
}

// TestConfigRefuses shows that a file that cannot be edited safely is not touched.
func TestConfigRefuses(t *testing.T) {
	for _, tt := range []struct{ client, doc, want string }{
		{"claude-desktop", "{\n// c\n}", ":2:1: invalid character '/' looking for beginning of object key string"},
		{"claude-code", `{"mcpServers": {"toolcrib": {}}`, ":1:31: unexpected end of JSON input"},
		{"gemini", "{\n\"mcpServers\": {},}", ":2:17: there is a comma before the closing bracket"},
		{"vscode", `{"servers": "none"}`, `:1:13: "servers" is not an object`},
		{"cursor", `{"mcpServers": {"toolcrib": {}, "toolcrib": {}}}`, `:1:33: the key "toolcrib" appears twice`},
		{"codex", "mcp_servers = {toolcrib = {}}", ":1:1: mcp_servers is an inline table, which cannot be edited in place; write its entries as [mcp_servers.NAME]"},
		{"codex", "a = 1\na = 2\n", ":2:1: key a is already defined"},
	} {
		t.Run(tt.doc, func(t *testing.T) {
			d := atDesk(t)
			file := d.file(t, tt.client)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.doc), 0o600); err != nil {
				t.Fatal(err)
			}
			old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
			if err := os.Chtimes(file, old, old); err != nil {
				t.Fatal(err)
			}
			for _, how := range []string{"--write", "--remove"} {
				stdout, stderr, code := invocation{args: []string{"config", tt.client, how}, env: d.env}.start(t)
				want := "toolcrib: " + file + tt.want + "; the file is left as it is\n"
				if code != 1 || stdout != "" || stderr != want {
					t.Errorf("%s: exit code %d, stdout %q\n got %s\nwant %s", how, code, stdout, stderr, want)
				}
			}
			info, err := os.Stat(file)
			if err != nil || !info.ModTime().Equal(old) {
				t.Errorf("the file is of %v, %v", info.ModTime(), err)
			}
			entries, err := os.ReadDir(filepath.Dir(file))
			if data, readErr := os.ReadFile(file); err != nil || readErr != nil || string(data) != tt.doc || len(entries) != 1 {
				t.Errorf("%q, %d files: %v, %v", data, len(entries), err, readErr)
			}
		})
	}
}

func TestConfigUsage(t *testing.T) {
	d := atDesk(t)
	for args, want := range map[string]string{
		"cusror":                             "no client is called \"cusror\"; did you mean \"cursor\"\n  there are: claude-desktop, claude-code, vscode, cursor, codex, gemini",
		"emacs":                              "no client is called \"emacs\"\n  there are: ",
		"--write":                            "no client is named\n",
		"codex --scope=project":              "Codex has no configuration of a project\n  leave --scope out",
		"cursor --scope=team":                "--scope: \"team\" is not a value; there are: user, project\n",
		"cursor --write --remove":            "only one of --print, --write and --remove at a time\n",
		"cursor --print --write":             "only one of --print, --write and --remove at a time\n",
		"cursor --name a.b":                  "--name: \"a.b\" cannot be the name of an entry\n",
		"cursor --tools=ecko":                "no tool is called \"ecko\"; did you mean \"echo\"\n",
		"cursor nowhere":                     "nowhere: no such directory\n",
		"cursor --http 127.0.0.1:1":          "--http is for serve; a client is told a URL\n  toolcrib config CLIENT --url=http://ADDR/mcp",
		"cursor --url ftp://h/mcp":           "--url: \"ftp://h/mcp\" is not the URL of a server over HTTP\n",
		"cursor --url http://h":              "--url: http://h has no path\n  --url=http://h/mcp is where toolcrib serves",
		"cursor --url http://u:p@h/mcp":      "--url: a URL with a password is not written into a file\n",
		"cursor --url http://h/mcp .":        ".: the server at --url has its own directories\n",
		"cursor --url http://h/ --read-only": "--read-only is for the server, which --url says is running already\n",
		"claude-desktop --url http://h/mcp":  "Claude Desktop takes no URL from its configuration file\n  let it start the server",
	} {
		stdout, stderr, code := invocation{args: append([]string{"config"}, strings.Fields(args)...), env: d.env}.start(t)
		if code != 2 || stdout != "" || !strings.HasPrefix(stderr, "toolcrib: "+want) {
			t.Errorf("%s: exit code %d, stdout %q\n got %s\nwant %s", args, code, stdout, stderr, want)
		}
	}
	if _, stderr, code := (invocation{args: []string{"config"}, env: []string{"HOME=", "USERPROFILE="}}).start(t); code != 1 || !strings.Contains(stderr, "is not set") {
		t.Errorf("without a home: exit code %d, stderr %q", code, stderr)
	}
	if left := d.files(t); len(left) != 0 {
		t.Errorf("files: %q", left)
	}
}

func TestClientFiles(t *testing.T) {
	env := map[string]string{"APPDATA": "roaming", "XDG_CONFIG_HOME": "xdg", "CLAUDE_CONFIG_DIR": "cc", "CODEX_HOME": "cx", "GEMINI_CLI_HOME": "gm"}
	for _, tt := range []struct {
		client, goos, want, withEnv string
	}{
		{"claude-desktop", "darwin", "home/Library/Application Support/Claude/claude_desktop_config.json", "home/Library/Application Support/Claude/claude_desktop_config.json"},
		{"claude-desktop", "windows", "home/AppData/Roaming/Claude/claude_desktop_config.json", "roaming/Claude/claude_desktop_config.json"},
		{"claude-desktop", "linux", "home/.config/Claude/claude_desktop_config.json", "xdg/Claude/claude_desktop_config.json"},
		{"vscode", "darwin", "home/Library/Application Support/Code/User/mcp.json", "home/Library/Application Support/Code/User/mcp.json"},
		{"vscode", "windows", "home/AppData/Roaming/Code/User/mcp.json", "roaming/Code/User/mcp.json"},
		{"vscode", "linux", "home/.config/Code/User/mcp.json", "xdg/Code/User/mcp.json"},
		{"claude-code", "linux", "home/.claude.json", "cc/.claude.json"},
		{"cursor", "windows", "home/.cursor/mcp.json", "home/.cursor/mcp.json"},
		{"codex", "darwin", "home/.codex/config.toml", "cx/config.toml"},
		{"gemini", "linux", "home/.gemini/settings.json", "gm/.gemini/settings.json"},
	} {
		for want, getenv := range map[string]func(string) string{
			tt.want:    func(string) string { return "" },
			tt.withEnv: func(name string) string { return env[name] },
		} {
			if tt.want == tt.withEnv {
				getenv = func(name string) string { return env[name] }
			}
			got, err := cli.ClientFile(tt.client, "user", tt.goos, "home", getenv)
			if err != nil || filepath.ToSlash(got) != want {
				t.Errorf("%s on %s: %s, %v; want %s", tt.client, tt.goos, got, err, want)
			}
		}
	}
}
