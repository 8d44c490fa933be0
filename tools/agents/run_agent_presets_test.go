package agents_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/agents"
)

// place writes a file below a directory.
func place(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// offered returns the names of the tools that the model was offered last.
func (a *agency) offered() string {
	var names []string
	for _, name := range []string{"look", "edit", "program", "nothing", "fail", "run_agent"} {
		if strings.Contains(a.model.requests[len(a.model.requests)-1], `"name":"`+name+`"`) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// A preset may be a file: the user's own may give tools that change things, one of the workspace
// may not, unless the call names them.
func TestPresetFiles(t *testing.T) {
	a := newAgency(t)
	a.model.always = "ok"
	root := a.ws.Roots()[0]
	place(t, root, ".claude/agents/helper.md", "---\nname: helper\ndescription: helps\ntools: look, edit, mcp__toolcrib__nothing, mcp__other__x, look(a:*)\nmodel: sonnet\nmaxTurns: 40\nhooks: {}\n---\nBe a helper.")
	place(t, root, ".toolcrib/agents/all.md", "---\ndisallowedTools: [look]\nmax_rounds: 3\n---\nDo all but look.")
	place(t, root, ".toolcrib/agents/brief.md", "---\ntools: [edit]\n---\nBe long.") // the configuration has one of this name
	place(t, root, ".toolcrib/agents/armed.md", "---\ntools: [program]\nurl: http://elsewhere\nkey: x\n---\nShoot.")
	place(t, root, ".toolcrib/agents/broken.md", "---\nmax_rounds: all\n---\nDo.")
	place(t, a.own, "own.md", "---\ntools: [look, edit]\nmax_rounds: 40\nmodel: main\n---\nBe mine.")
	place(t, a.own, "helper.txt", "no preset")

	text := a.want(t, `{"task":"t","agent":"helper"}`, "completed",
		"note: helper has fields that mean nothing here: hooks\n", "note: no models are called so, and others are asked: sonnet\n",
		"note: not understood as tools: mcp__other__x, look(a:*)\n", "note: the preset comes with the workspace, so only the argument tools can give it these: edit\n")
	if got := a.offered(); got != "look nothing" {
		t.Errorf("a preset of the workspace has %s; %s", got, text)
	}
	if !strings.Contains(a.model.requests[0], "Be a helper.") {
		t.Error("the model has not heard the instructions")
	}
	a.want(t, `{"task":"t","agent":"helper","tools":["edit"]}`, "completed")
	if got := a.offered(); got != "edit" {
		t.Errorf("with the call's leave it has %s", got)
	}
	a.want(t, `{"task":"t","agent":"all"}`, "completed")
	if got := a.offered(); got != "nothing fail" {
		t.Errorf("all but look are %s", got)
	}
	a.want(t, `{"task":"t","agent":"own"}`, "completed")
	if got := a.offered(); got != "look edit" {
		t.Errorf("a preset of the user has %s", got)
	}
	a.want(t, `{"task":"t","agent":"brief"}`, "completed")
	if last := a.model.requests[len(a.model.requests)-1]; !strings.Contains(last, "Be brief.") || strings.Contains(last, "Be long.") {
		t.Error("a file of the workspace took the place of a preset of the configuration")
	}
	for agent, want := range map[string]string{
		"armed":  "gives its agent no tool",
		"broken": "max_rounds: it is not a whole number",
		"none":   "all; armed; brief",
	} {
		_, err := a.call(t.Context(), `{"task":"t","agent":"`+agent+`"}`)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", agent, err)
		}
	}
	if strings.Contains(strings.Join(a.model.requests, ""), "elsewhere") {
		t.Error("what a file says of endpoints has gone somewhere")
	}
}

// A file of the workspace cannot raise the usual limits; the user's own can.
func TestPresetFileLimits(t *testing.T) {
	t.Parallel()
	a := newAgency(t)
	a.model.always = `nothing {}`
	place(t, a.ws.Roots()[0], ".claude/agents/long.md", "---\nmaxTurns: 90\n---\nGo on.")
	place(t, a.own, "own.md", "---\nmax_rounds: 20\n---\nGo on.")
	a.want(t, `{"task":"t","agent":"long"}`, "limit: 15 rounds")
	a.want(t, `{"task":"t","agent":"own"}`, "limit: 20 rounds")
}

// Doctor names what is wrong with files of presets.
func TestPresetFilesDoctor(t *testing.T) {
	a := newAgency(t)
	a.model.always = "ok"
	root := a.ws.Roots()[0]
	place(t, root, ".claude/agents/good.md", "---\ncolor: red\n---\nDo.")
	place(t, root, ".claude/agents/odd.md", "---\nmodel: opus\nmcpServers: {}\n---\nDo.")
	place(t, root, ".toolcrib/agents/bad.md", "no head")
	place(t, root, ".toolcrib/agents/brief.md", "---\n---\nDo.")
	place(t, root, ".toolcrib/agents/big.md", "---\n---\n"+strings.Repeat("x", 70_000))
	got := a.presets(t)
	want := []string{
		"broken .toolcrib/agents/bad.md: it has no front matter: its first line is not ---",
		"broken .toolcrib/agents/big.md: it has more than 65536 bytes",
		"missing .toolcrib/agents/brief.md: brief does not count, since the configuration has one of this name",
		"ok .claude/agents/good.md: good",
		"missing .claude/agents/odd.md: odd; no model is called opus; fields that mean nothing here: mcpServers",
	}
	for _, line := range want {
		if !strings.Contains(strings.Join(got, "\n"), line) {
			t.Errorf("no line %q in\n%s", line, strings.Join(got, "\n"))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(root, ".toolcrib/agents/link.md")); err != nil {
		t.Skip("needs: the right to make symlinks: " + err.Error())
	}
	if text := strings.Join(a.presets(t), "\n"); !strings.Contains(text, "broken .toolcrib/agents/link.md: ") {
		t.Error(text)
	}
}

// presets returns what doctor says of presets.
func (a *agency) presets(t *testing.T) (say []string) {
	t.Helper()
	for _, f := range agents.Examine(a.deps, tools.WithSession(t.Context(), &a.session)) {
		if f.What == "preset" {
			say = append(say, string(f.State)+" "+f.Say)
		}
	}
	return say
}
