package sandbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools/internal/programs/sandbox"
)

// outside runs a script without a sandbox, in the root of a box.
func (b *box) outside(t *testing.T, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs: git")
	}
}

// identity is what git wants to know before it commits.
const identity = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; "

// TestKeptBelow has repositories further down, submodules, worktrees and a bare one.
func TestKeptBelow(t *testing.T) {
	needGit(t)
	b := newBox(t, sandbox.Full)
	b.outside(t, `
		git init -q one/two/repo && (cd one/two/repo && git commit -q --allow-empty -m x && git worktree add -q ../tree)
		git init -q --bare one/bare.git; git init -q one/gone
		git init -q src && (cd src && git commit -q --allow-empty -m x)
		git init -q . && git commit -q --allow-empty -m x && git -c protocol.file.allow=always submodule --quiet add ./src deep/name/sub && git commit -q -m y
		mkdir -p pkg/.claude pkg/.vscode && touch pkg/.claude/settings.json pkg/.vscode/tasks.json pkg/.mcp.json`)
	for _, script := range []string{
		"echo x >> one/two/repo/.git/config", "touch one/two/repo/.git/hooks/pre-commit", "mv one/two/repo/.git one/two/repo/git", "rm one/two/repo/.git/config", "rm -rf one/gone",
		"echo x > one/two/repo/.git/worktrees/tree/commondir", "echo 'gitdir: /tmp' > one/two/tree/.git", "rm one/two/tree/.git",
		"echo x >> one/bare.git/config", "touch one/bare.git/hooks/update",
		"echo x >> .git/modules/deep/name/sub/config", "touch .git/modules/deep/name/sub/hooks/pre-commit", "echo 'gitdir: /tmp' > deep/name/sub/.git",
		"touch pkg/.claude/x", "echo x > pkg/.claude/settings.json", "echo x > pkg/.vscode/tasks.json", "rm pkg/.mcp.json", "mv pkg/.claude pkg/c",
		"git config user.name x", "git -C one/two/repo config user.name x", "cd one/two/tree && git config user.name x",
	} {
		if out, exit := b.sh(t, script); exit.Code == 0 {
			t.Errorf("%s: done, %s", script, out)
		}
	}
	for _, script := range []string{
		"echo x > f && git add f && git commit -qm z", "cd one/two/repo && echo x > f && git add f && git commit -qm z && git checkout -qb other && git rebase -q HEAD~1 && git log --oneline",
		"cd one/two/tree && echo x > g && git add g && git commit -qm z", "cd deep/name/sub && echo x > g && git add g && git commit -qm z",
		"touch pkg/.vscode/launch.json pkg/other", "git clone -q one/bare.git here && rm -rf here", "git init -q new && cd new && git config user.name x",
	} {
		if out, exit := b.sh(t, identity+script); exit.Code != 0 {
			t.Errorf("%s: %s", script, out)
		}
	}
}

// A repository that came after the sandbox was made is kept from what runs in it.
func TestKeptOnTheWay(t *testing.T) {
	needGit(t)
	b := newBox(t, sandbox.Full)
	if out, exit := b.sh(t, "true"); exit.Code != 0 {
		t.Fatal(out)
	}
	b.outside(t, "git init -q late && mkdir late/sub")
	for range 2 {
		at, err := b.root.Join("late/sub")
		if err != nil {
			t.Fatal(err)
		}
		in := &box{b.Engine, b.ctx, b.dir, at}
		if out, exit := in.sh(t, "echo x >> ../.git/config"); exit.Code == 0 {
			t.Errorf("done: %s", out)
		}
		b.outside(t, "rm -rf late && git init -q late && mkdir late/sub")
	}
}

// New protected files at the top are reported.
func TestMade(t *testing.T) {
	b := newBox(t, sandbox.Full)
	for _, tt := range [][2]string{
		{"echo {} > .mcp.json", ".mcp.json"}, {"mkdir .claude", ".claude"}, {"mkdir .git", ""}, {"true", ""}, {"mkdir -p .vscode; touch .vscode/launch.json", ""}, {"touch .vscode/tasks.json .toolcrib.yaml", ".toolcrib.yaml tasks.json"},
	} {
		_, exit := b.sh(t, tt[0])
		var got []string
		for _, path := range exit.Made {
			got = append(got, filepath.Base(path))
		}
		if slices.Sort(got); strings.Join(got, " ") != tt[1] {
			t.Errorf("%s: %q, want %q", tt[0], got, tt[1])
		}
		if (exit.Warning() == "") != (tt[1] == "") {
			t.Errorf("%s: %q", tt[0], exit.Warning())
		}
	}
}

// Deletions at the top are reported, also of a repository that cannot be deleted completely.
func TestGone(t *testing.T) {
	needGit(t)
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock} {
		t.Run(level.String(), func(t *testing.T) {
			b := newBox(t, level)
			b.outside(t, "git init -q . && echo {} > .mcp.json")
			for _, tt := range [][2]string{
				{"git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x; git checkout -q -b other", ""},
				{"rm -rf .git; true", ".git"}, {"rm -rf .git; true", ""}, {"git init -q new; [ -d .git ] && mv new/.git/HEAD .git || mv new/.git .", ""}, {"rm .git/HEAD", ".git"},
			} {
				out, exit := b.sh(t, tt[0])
				var got []string
				for _, path := range exit.Gone {
					got = append(got, filepath.Base(path))
				}
				if exit.Partly != (tt[1] != "" && (level == sandbox.Full || tt[0] == "rm .git/HEAD")) {
					t.Errorf("%s: what stays of it: %t, %q", tt[0], exit.Partly, exit.Warning())
				}
				if strings.Join(got, " ") != tt[1] || strings.Contains(exit.Warning(), "deleted or moved away meanwhile: .git;") != (tt[1] != "") {
					t.Errorf("%s: %q (%q), want %q: %s", tt[0], got, exit.Warning(), tt[1], out)
				}
			}
		})
	}
}

// What another program replaces while the sandbox lasts is kept again.
func TestKeptAgain(t *testing.T) {
	t.Parallel()
	needGit(t)
	b := newBox(t, sandbox.Full)
	b.outside(t, "git init -q . && git init -q sub && echo {} > .mcp.json")
	if out, exit := b.sh(t, "true"); exit.Code != 0 {
		t.Fatal(out)
	}
	b.outside(t, "git config user.name x && git -C sub config user.name x && echo {} > new && mv new .mcp.json && rm -rf .git/hooks && mkdir .git/hooks")
	time.Sleep(1100 * time.Millisecond)
	for _, script := range []string{"echo x >> .git/config", "echo x >> .mcp.json", "touch .git/hooks/pre-commit", "echo x >> sub/.git/config"} {
		if out, exit := b.sh(t, script); exit.Code == 0 {
			t.Errorf("%s: done, %s", script, out)
		}
	}
}
