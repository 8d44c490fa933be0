package sandbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolcrib/tools"
	"toolcrib/tools/internal/programs/sandbox"
	"toolcrib/workspace"
	"toolcrib/workspace/deny"
)

// denying returns a box whose programs cannot read the paths of the patterns, or only cannot
// change them if the pattern begins with "=".
func (b *box) denying(t *testing.T, patterns ...string) *box {
	t.Helper()
	var masked, readable []deny.Pattern
	for _, text := range patterns {
		name, keep := strings.CutPrefix(text, "=")
		p, err := deny.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if keep {
			readable = append(readable, p)
		} else {
			masked = append(masked, p)
		}
	}
	matches := func(list []deny.Pattern, at workspace.Path) bool {
		return slices.ContainsFunc(list, func(p deny.Pattern) bool { return p.Matches(at) })
	}
	s := *tools.Session(b.ctx)
	s.Workspace = s.Workspace.ForPrograms(&deny.Rules{Denied: append(slices.Clone(masked), readable...), Judge: func(at workspace.Path) workspace.Denial {
		switch {
		case matches(masked, at):
			return workspace.Denial{Rule: "secret"}
		case matches(readable, at):
			return workspace.Denial{Rule: "kept", Readable: true}
		}
		return workspace.Denial{}
	}})
	return &box{b.Engine, tools.WithSession(t.Context(), &s), b.dir, b.root}
}

func TestDeniedPaths(t *testing.T) {
	b := newBox(t, sandbox.Full)
	files := map[string]string{"secrets/key": "sesame", "deploy/prod/.env": "sesame", ".env": "sesame", "docs/a.md": "text", "docs/.env": "sesame"}
	for name, text := range files {
		name = filepath.Join(b.dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("secrets", filepath.Join(b.dir, "way")); err != nil {
		t.Fatal(err)
	}
	if out, exit := b.sh(t, "cat secrets/key .env"); exit.Code != 0 || out != "sesamesesame" {
		t.Fatalf("without rules: %s", out)
	}
	kept := b.denying(t, "secrets/**", "**/.env", "=docs")
	for _, script := range []string{
		"x=secrets/key; cat $x", "cat way/key", "cat " + b.dir + "/secrets/key", "ls secrets", "cat .env", "cat deploy/prod/.env", "cat docs/.env", "echo x > .env", "chmod 666 .env && cat .env", "chmod 777 secrets",
		"mv secrets s2", "mv .env e2", "ln .env e2", "rm .env", "rm -rf secrets", "mv deploy d2", "mv deploy/prod deploy/p2", "rmdir secrets", "cd secrets", "cp -r secrets s2",
		"umount secrets", "exec 3<.env", "(cd deploy/prod && cat .env)", "cat /proc/self/cwd/.env", "cat /proc/self/root" + b.dir + "/.env",
		"echo x > docs/a.md", "echo x > docs/new", "rm docs/a.md", "mv docs d2", "mv docs/a.md b", "touch docs/a.md", "chmod 777 docs/a.md",
	} {
		if out, exit := kept.sh(t, script); exit.Code == 0 || strings.Contains(out, "sesame") {
			t.Errorf("%s: done, %+v: %s", script, exit, out)
		}
	}
	for script, want := range map[string]string{
		"cat docs/a.md": "text", "echo new > x && mv x y && cat y": "new", "echo n > deploy/n && mv deploy/n deploy/m && cat deploy/m && rm deploy/m": "n", "grep -rs sesame . | wc -l": "0",
	} {
		if out, exit := kept.sh(t, script); exit.Code != 0 || strings.TrimSpace(out) != want {
			t.Errorf("%s: %+v: %s", script, exit, out)
		}
	}
	if out, exit := b.sh(t, "cat secrets/key deploy/prod/.env docs/a.md"); exit.Code != 0 || out != "sesamesesametext" {
		t.Errorf("another call is kept from it too: %s", out)
	}
	for name, text := range files {
		if data, err := os.ReadFile(filepath.Join(b.dir, name)); err != nil || string(data) != text {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// A denied path cannot be moved from one call to the next.
func TestCoversHoldTheWay(t *testing.T) {
	b := newBox(t, sandbox.Full)
	if err := os.MkdirAll(filepath.Join(b.dir, "a/b/secrets"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "a/b/secrets/key"), []byte("sesame"), 0o644); err != nil {
		t.Fatal(err)
	}
	kept := b.denying(t, "a/b/secrets")
	for _, way := range []string{"mv a z", "mv a/b a/z", "mv a/b/secrets z", "mkdir z; mv -T a z", "cp -al a z"} {
		kept.sh(t, way)
	}
	if out, _ := kept.sh(t, "cat z/b/secrets/key a/z/secrets/key z/key z/secrets/key"); strings.Contains(out, "sesame") {
		t.Error(out)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "a/b/secrets/key")); err != nil {
		t.Error(err)
	}
}

// At level landlock what cannot be kept is told.
func TestCoversAreToldWhereTheyLack(t *testing.T) {
	b := newBox(t, sandbox.Landlock)
	if err := os.WriteFile(filepath.Join(b.dir, ".env"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	kept := b.denying(t, ".env")
	p, err := kept.Start(kept.ctx, sandbox.Command{Args: []string{"true"}, Dir: kept.root})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := fmt.Sprint(p.Report().Denied, "|", p.Report().NotDenied); got != "|.env (rule secret)" {
		t.Error(got)
	}
}

func TestReadOnly(t *testing.T) {
	for _, level := range []sandbox.Level{sandbox.Full, sandbox.Landlock} {
		b := newBox(t, level)
		if err := os.WriteFile(filepath.Join(b.dir, "a"), []byte("text"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, change := range []string{"echo x >>a", "true >a", "echo x >b", "mkdir d", "mv a c", "ln a c", "rm a"} {
			for _, readOnly := range []bool{true, false} {
				script := `cat a && echo x >"${TMPDIR:-/tmp}/x" || exit 2; { ` + change + `; } 2>/dev/null || exit 3`
				p, err := b.Start(b.ctx, sandbox.Command{Args: []string{"/bin/sh", "-c", script}, Dir: b.root, ReadOnly: readOnly})
				if err != nil {
					t.Fatal(err)
				}
				<-p.Done()
				if code := p.Exit().Code; code != map[bool]int{true: 3, false: 0}[readOnly] {
					t.Errorf("%s, read-only %v: %s: exit %d", level, readOnly, change, code)
				}
				if err := os.WriteFile(filepath.Join(b.dir, "a"), []byte("text"), 0o666); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"b", "c", "d"} {
					_ = os.Remove(filepath.Join(b.dir, name))
				}
			}
		}
	}
}
