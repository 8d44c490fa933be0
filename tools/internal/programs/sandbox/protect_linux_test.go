package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// trees of what decides which programs run.
const (
	withModules = "git init -q src && (cd src && git commit -q --allow-empty -m x); git init -q . && git commit -q --allow-empty -m x && git -c protocol.file.allow=always submodule --quiet add ./src lib && git worktree add -q tree; "
	withHooks   = "git init -q . && mkdir -p tools/hooks .husky scripts && git config core.hooksPath tools/hooks && git config include.path ../more.inc && git config --add include.path ../none.inc && touch more.inc scripts/check && ln -s ../../scripts/check tools/hooks/pre-push; "
	withLinks   = "mkdir -p conf/claude repo && echo {} > conf/mcp.json && touch conf/claude/settings.json && ln -s conf/mcp.json .mcp.json && ln -s conf/claude .claude && git init -q store && ln -s ../store/.git repo/.git && mv store/.git/hooks hooks && ln -s ../../hooks store/.git/hooks; "
	withNested  = "mkdir -p deep && git init -q deep/r && echo {} > deep/.mcp.json && git init -q --bare deep/b.git; "
)

// TestPlanted has programs try to plant what the user's programs run: the place is as it
// was, or the result names it.
func TestPlanted(t *testing.T) {
	needGit(t)
	for i, tt := range []struct {
		tree, script, place string
		told                string // "" = refused
	}{
		{withModules, "mv .git/modules .git/m; cp -r .git/m .git/modules; echo PLANTED >> .git/modules/lib/config", ".git/modules/lib/config", ""},
		{withModules, "mv .git/modules/lib .git/m; cp -r .git/m .git/modules/lib; echo PLANTED >> .git/modules/lib/config", ".git/modules/lib/config", ""},
		{withModules, "mkdir .git/modules/{HEAD,objects,refs}; echo PLANTED >> .git/modules/lib/config", ".git/modules/lib/config", ""},
		{withModules, "mv .git/worktrees .git/w; cp -r .git/w .git/worktrees; echo PLANTED > .git/worktrees/tree/commondir", ".git/worktrees/tree/commondir", ""},
		{withModules, "mv .git/worktrees/tree .git/w; cp -r .git/w .git/worktrees/tree; echo PLANTED > .git/worktrees/tree/commondir", ".git/worktrees/tree/commondir", ""},
		{withModules, "echo PLANTED > .git/worktrees/tree/config.worktree", ".git/worktrees/tree/config.worktree", "made meanwhile: .git/worktrees/tree/config.worktree;"},
		{withModules, "echo PLANTED > .git/commondir", ".git/commondir", "made meanwhile: .git/commondir;"},
		{"mkdir .vscode && touch .vscode/tasks.json; ", "mv .vscode v; mkdir .vscode; echo PLANTED > .vscode/tasks.json", ".vscode/tasks.json", ""},
		{withHooks, "echo PLANTED > tools/hooks/pre-commit", "tools/hooks/pre-commit", ""},
		{withHooks, "mv tools t; mkdir -p tools/hooks; echo PLANTED > tools/hooks/pre-commit", "tools/hooks/pre-commit", "replaced meanwhile: tools/hooks"},
		{withHooks, "echo PLANTED > .husky/pre-commit", ".husky/pre-commit", ""},
		{withHooks, "echo PLANTED > more.inc", "more.inc", ""},
		{withHooks, "echo PLANTED > scripts/check", "scripts/check", ""},
		{withHooks, "rm -f none.inc; echo PLANTED > none.inc", "none.inc", "made meanwhile: none.inc;"},
		{withLinks, "echo PLANTED > .mcp.json", ".mcp.json", ""},
		{withLinks, "rm .mcp.json; echo PLANTED > .mcp.json", ".mcp.json", ""},
		{withLinks, "echo PLANTED > new; mv new .mcp.json", ".mcp.json", ""},
		{withLinks, "echo PLANTED > .claude/settings.json", ".claude/settings.json", ""},
		{withLinks, "mv .claude c; mkdir .claude; echo PLANTED > .claude/settings.json", ".claude/settings.json", ""},
		{withLinks, "mv conf c; mkdir conf; echo PLANTED > conf/mcp.json", ".mcp.json", "replaced meanwhile: .claude, .mcp.json"},
		{withLinks, "echo PLANTED >> repo/.git/config", "store/.git/config", ""},
		{withLinks, "echo PLANTED >> hooks/pre-commit", "hooks/pre-commit", ""},
		{withLinks, "rm store/.git/hooks; mkdir store/.git/hooks; echo PLANTED > store/.git/hooks/x", "store/.git/hooks/x", ""},
		{withNested, "mv deep/r deep/x; cp -r deep/x deep/r; echo PLANTED >> deep/r/.git/config", "deep/r/.git/config", "replaced meanwhile: deep/r/.git"},
		{withNested, "mv deep d; cp -r d deep; echo PLANTED > deep/.mcp.json", "deep/.mcp.json", "replaced meanwhile: deep/"},
		{withNested, "mv deep/b.git d; cp -r d deep/b.git; echo PLANTED > deep/b.git/config", "deep/b.git/config", "deep/b.git"},
		{withNested, "mkdir deep/r/{HEAD,objects,refs}; echo PLANTED >> deep/r/.git/config", "deep/r/.git/config", ""},
		{withNested, "mkdir deep/{HEAD,objects,refs}; echo PLANTED >> deep/r/.git/config", "deep/r/.git/config", ""},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			dir, state := t.TempDir(), t.TempDir()
			for _, when := range []string{"first", "after a restart"} {
				b := openBox(t, sandbox.Full, state, dir)
				if when == "first" {
					b.outside(t, tt.tree)
				}
				out, exit := b.sh(t, tt.script)
				data, _ := os.ReadFile(filepath.Join(dir, tt.place)) // what is not there was not planted
				switch planted := strings.Contains(string(data), "PLANTED"); {
				case planted && tt.told == "":
					t.Fatalf("%s: %s: planted: %s", when, tt.script, out)
				case planted && when == "first" && !strings.Contains(exit.Warning(), tt.told):
					t.Fatalf("%s: planted, and said %q: %s", tt.script, exit.Warning(), out)
				case !planted && tt.told != "":
					t.Fatalf("%s: %s: not planted: %s", when, tt.script, out)
				}
			}
		})
	}
}

// TestRootsOfRepositories serves a git directory, and a directory in one.
func TestRootsOfRepositories(t *testing.T) {
	needGit(t)
	top := newBox(t, sandbox.Full)
	top.outside(t, withModules+withNested)
	for _, at := range [][2]string{
		{"deep/b.git", "config"}, {"deep/b.git", "hooks/update"}, {".git", "config"}, {".git", "modules/lib/hooks/x"}, {".git/hooks", "pre-commit"}, {"deep/b.git/hooks", "update"},
		{".git/modules", "lib/config"}, {".git/modules/lib", "config"}, {".git/worktrees", "tree/gitdir"}, {".git/worktrees/tree", "commondir"},
	} {
		b := openBox(t, sandbox.Full, t.TempDir(), filepath.Join(top.dir, at[0]))
		b.sh(t, "echo PLANTED >> "+at[1])
		if data, err := os.ReadFile(filepath.Join(b.dir, at[1])); err == nil && strings.Contains(string(data), "PLANTED") {
			t.Errorf("%s: %s was changed", at[0], at[1])
		}
		if out, exit := b.sh(t, "echo x > description && cat description"); exit.Code != 0 && !strings.HasSuffix(at[0], "hooks") {
			t.Errorf("%s: nothing can be written: %s", at[0], out)
		}
	}
}

// TestNothingWaits puts a pipe with a writer in the place of a repository.
func TestNothingWaits(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Full)
	b.outside(t, "mkdir -p c/.git; touch c/.git/HEAD; { echo '[include]'; yes 'path = config' | head -3000; } > c/.git/config")
	b.outside(t, "mkdir z && mkfifo z/.git .mcp.json && mkdir .git && mkfifo .git/config .git/HEAD")
	for _, name := range []string{"z/.git", ".git/config", ".git/HEAD"} {
		f, err := os.OpenFile(filepath.Join(b.dir, name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	for range 2 {
		if out, exit := b.sh(t, "cd c && echo alive"); out != "alive" || exit.Code != 0 {
			t.Errorf("%q, %+v", out, exit)
		}
		time.Sleep(1100 * time.Millisecond)
	}
}

// TestDeep has repositories below each other, further than a path is long.
func TestDeep(t *testing.T) {
	b := newBox(t, sandbox.Full)
	at, err := os.OpenRoot(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 1200 {
		for _, name := range []string{".git/objects", ".git/refs", "deeper"} {
			if err := at.MkdirAll(name, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := at.WriteFile(".git/HEAD", []byte("ref: refs/heads/x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot("deeper")
		at.Close()
		if err != nil {
			t.Fatal(err)
		}
		at = next
	}
	at.Close()
	begin := time.Now()
	for i := range 3 {
		p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"true"}, Dir: b.root})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if got := p.Report().Warning(); (i == 0) != strings.Contains(got, "protected from programs") {
			t.Errorf("program %d: %q", i, got)
		}
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("three programs take %v", took)
	}
}

// TestNoWayOut takes from a program the directories that lead to others.
func TestNoWayOut(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	root := filepath.Join(home, "src/work")
	if err := os.MkdirAll(root, 0o755); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	for _, script := range []string{
		"mv ~/src ~/s2; mkdir -p ~/src/work; true", "chmod 0 ~ ~/src; true", "mkdir -p ~/.cache ~/go/pkg; chmod 0 ~/.cache ~/go; true", "rm -rf ~/.cache; ln -s / ~/.cache; mkfifo ~/.gradle", "chmod 0 /tmp /var/tmp; true", "rm -rf ~/src; true",
	} {
		for range 2 {
			b := openBox(t, sandbox.Full, state, root)
			b.sh(t, script)
			if out, exit := b.sh(t, "touch here && echo alive"); out != "alive" || exit.Code != 0 {
				t.Errorf("%s: %q, %+v", script, out, exit)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// What of the places is too much is told once, by the first program.
func TestPartial(t *testing.T) {
	t.Parallel()
	b := newBox(t, sandbox.Full)
	for i := range 600 { // few directories, which take little time to search
		for _, name := range []string{".claude", ".codex", ".cursor", ".gemini", ".husky", ".mcp.json", ".toolcrib"} {
			if err := os.MkdirAll(filepath.Join(b.dir, fmt.Sprint(i), name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, want := range []string{"not all are protected", ""} {
		p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"true"}, Dir: b.root})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if got := p.Report().Warning(); !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("program %d: %q", i+1, got)
		}
		time.Sleep(1100 * time.Millisecond) // all is gathered again
	}
}

// Names of files are bytes, and need not be UTF-8. What is named by the configuration of a
// worktree, or of the user, and what links lead to that is not there yet, count too.
func TestFollowed(t *testing.T) {
	needGit(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	b := newBox(t, sandbox.Full)
	b.outside(t, withModules+"git init -q $'b\\377' && touch $'b\\377/.mcp.json' && git config extensions.worktreeConfig true && mkdir tree/hk && git -C tree config --worktree core.hooksPath hk && touch global.inc; ln -s ../../sc/pc .git/hooks/post-commit; "+
		"git config --file "+home+"/.gitconfig include.path \"$PWD/global.inc\"")
	for _, script := range []string{"echo x >> $'b\\377/.git/config'", "echo x > $'b\\377/.mcp.json'", "echo x > tree/hk/post-commit", "echo x > global.inc", "mkdir .git/branches/x"} {
		if out, exit := b.sh(t, script); exit.Code == 0 {
			t.Errorf("%s: done, %s", script, out)
		}
	}
	for script, want := range map[string]string{"mkdir sc; echo x > sc/pc": ".git/hooks/post-commit", "mkdir .git/remotes; echo x > .git/remotes/origin": ".git/remotes"} {
		if out, exit := b.sh(t, script); !strings.Contains(exit.Warning(), want) {
			t.Errorf("%s: %q, want %s: %s", script, exit.Warning(), want, out)
		}
	}
}

// HOME and the state may be named by links.
func TestHomeByLink(t *testing.T) {
	base := t.TempDir()
	for _, name := range []string{"home", "state"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(name, filepath.Join(base, name+"link")); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", filepath.Join(base, "homelink"))
	b := openBox(t, sandbox.Full, filepath.Join(base, "statelink"), t.TempDir())
	if out, exit := b.sh(t, "touch ~/x && echo alive"); out != "alive" || exit.Code != 0 {
		t.Errorf("%q, %+v", out, exit)
	}
}

// A link from a protected place to what holds it keeps nobody from changing the rest.
func TestLinksUp(t *testing.T) {
	needGit(t)
	b := newBox(t, sandbox.Full)
	b.outside(t, "mkdir -p a/.claude && ln -s .. a/.claude/up && ln -s . .gemini && ln -s .. .cursor && git init -q . && git config core.hooksPath . && git config include.path .. && ln -s . a/.codex")
	if out, exit := b.sh(t, "touch new a/new && mv new newer && mkdir -p a/b && rm -r a/b newer"); exit.Code != 0 {
		t.Error(out)
	}
	if out, exit := b.sh(t, "touch a/.claude/x || echo x >> .git/config"); exit.Code == 0 {
		t.Error(out)
	}
}

// If nobody asks for the end of a program, its changes are reported with the next one.
func TestUntold(t *testing.T) {
	b := newBox(t, sandbox.Full)
	run := func(script string) *sandbox.Process {
		p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"sh", "-c", script}, Dir: b.root})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if exit := p.Exit(); exit.Code != 0 {
			t.Errorf("%s: %+v", script, exit)
		}
		return p
	}
	run("echo {} > .mcp.json")
	if got, want := run("true").Report().Warning(), "by an earlier program, made meanwhile: .mcp.json;"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := run("touch .claude.json").Exit().Warning(); !strings.HasPrefix(got, "made meanwhile: .claude.json") {
		t.Errorf("%q", got)
	}
	if got := run("true").Report().Warning(); got != "" {
		t.Errorf("told again: %q", got)
	}
}

// A hidden file that another program replaces is hidden again.
func TestHiddenAgain(t *testing.T) {
	dir, err := os.MkdirTemp("/var/lib", "toolcrib-test-")
	if err != nil {
		t.Skip("needs: a directory that programs see: " + err.Error())
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	secret := filepath.Join(dir, "token.txt")
	b := newBox(t, sandbox.Full)
	b.Configure(sandbox.Options{Level: sandbox.Full, Hide: []string{secret}})
	for i := range 3 { // it is not there at first
		if i > 0 {
			fresh := filepath.Join(dir, "new")
			if err := os.WriteFile(fresh, []byte("sesame"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(fresh, secret); err != nil {
				t.Fatal(err)
			}
		}
		if out, _ := b.sh(t, "cat "+secret+" "+dir+"/*"); strings.Contains(out, "sesame") {
			t.Errorf("round %d: %s", i, out)
		}
	}
}
