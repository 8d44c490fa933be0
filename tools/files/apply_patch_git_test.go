package files_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/tools/files"
	"toolcrib/tools/internal/tooltest"
)

// gitRunner runs git in directories that no configuration of the user reaches.
type gitRunner struct {
	*testing.T
	home string
}

func newGit(t *testing.T) gitRunner {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs: git")
	}
	return gitRunner{t, t.TempDir()}
}

// try runs git with an input; ok reports that it succeeded.
func (g gitRunner) try(dir, input string, args ...string) (out string, ok bool) {
	g.Helper()
	cmd := exec.CommandContext(g.Context(), "git", append([]string{"-c", "core.autocrlf=false", "-c", "core.safecrlf=false", "-c", "core.quotepath=true"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + g.home, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err != nil {
		return stderr.String(), false
	}
	return stdout.String(), true
}

func (g gitRunner) run(dir, input string, args ...string) string {
	g.Helper()
	out, ok := g.try(dir, input, args...)
	if !ok {
		g.Fatalf("git %v: %s", args, out)
	}
	return out
}

// writer makes texts and changes them at random.
type writer struct{ *rand.Rand }

func seeded(seed uint64) writer { return writer{rand.New(rand.NewPCG(seed, 4))} }

// line is a line, often one that others equal.
func (w writer) line() string {
	switch w.IntN(6) {
	case 0:
		return ""
	case 1:
		return "}"
	case 2:
		return "--- x"
	case 3:
		return strings.Repeat("\t", w.IntN(3)) + "return 1  "
	}
	return fmt.Sprintf("line %d of ünïcode", w.IntN(40))
}

func (w writer) lines(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = w.line()
	}
	return lines
}

// edit changes some places.
func (w writer) edit(lines []string) []string {
	lines = append([]string(nil), lines...)
	for range 1 + w.IntN(5) {
		at := w.IntN(len(lines) + 1)
		gone := min(w.IntN(4), len(lines)-at)
		lines = append(lines[:at:at], append(w.lines(w.IntN(4)), lines[at+gone:]...)...)
	}
	return lines
}

// joined puts lines together; ends and final decide how they end.
func joined(lines []string, crlf, final bool) string {
	end := "\n"
	if crlf {
		end = "\r\n"
	}
	all := strings.Join(lines, end)
	if final && len(lines) > 0 {
		all += end
	}
	return all
}

// tree makes files before and after a change: some changed, added, deleted, renamed.
// All end their lines alike, since a rename can pair any two.
func (w writer) tree() (before, after map[string]string) {
	before, after = map[string]string{}, map[string]string{}
	crlf := w.IntN(3) == 0
	for i := range 25 {
		name := fmt.Sprintf("dir%d/f%d é \"q\".txt", i%3, i)
		lines := w.lines(w.IntN(60))
		final := w.IntN(4) > 0
		old := joined(lines, crlf, final)
		changed := joined(w.edit(lines), crlf, w.IntN(4) > 0 == final)
		switch w.IntN(10) {
		case 0:
			after[name] = old
		case 1:
			before[name] = old
		case 2:
			before[name] = old
			after[name+".moved"] = changed
		default:
			before[name], after[name] = old, changed
		}
	}
	return before, after
}

func plant(t *testing.T, dir string, tree map[string]string) {
	t.Helper()
	for name, content := range tree {
		host := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// between returns the diff that git makes of two trees.
func (g gitRunner) between(before, after map[string]string, args ...string) string {
	g.Helper()
	repo := g.TempDir()
	plant(g.T, repo, before)
	g.run(repo, "", "init", "-q", "--template=")
	g.run(repo, "", "add", "-A")
	tree := strings.TrimSpace(g.run(repo, "", "write-tree"))
	for name := range before {
		if err := os.Remove(filepath.Join(repo, name)); err != nil {
			g.Fatal(err)
		}
	}
	plant(g.T, repo, after)
	g.run(repo, "", "add", "-A")
	return g.run(repo, "", append(append([]string{"diff", "--cached"}, args...), tree)...)
}

// What git makes of two trees leads here from one to the other, byte by byte.
func TestApplyPatchAsGit(t *testing.T) {
	g := newGit(t)
	compared := 0
	for seed := range uint64(16) {
		w := seeded(seed)
		before, after := w.tree()
		args := []string{fmt.Sprintf("-U%d", w.IntN(5)), "--no-renames"}
		if w.IntN(2) == 0 {
			args[1] = "-M20%"
		}
		diff := g.between(before, after, args...)
		if diff == "" {
			continue
		}
		r := newPatcher(t, files.Deps{}, before)
		result := r.try(map[string]any{"patch": diff})
		if strings.HasPrefix(result, "error: ") {
			t.Errorf("seed %d: %v: %s", seed, args, result)
			continue
		}
		got := tooltest.Contents(t, r.dir)
		for name := range got {
			if strings.HasSuffix(name, "/") {
				delete(got, name) // a directory that is empty now
			}
		}
		if d := tooltest.Differ(after, got); d != "" {
			t.Errorf("seed %d: %v:\n%s%s\n%s", seed, args, d, result, diff)
		}
		compared += len(before)
	}
	if compared < 300 {
		t.Errorf("only %d files", compared)
	}
}

// Where the file has drifted and git finds the place all the same, it is found here.
func TestApplyPatchDriftedAsGit(t *testing.T) {
	g := newGit(t)
	applied, refused := 0, 0
	for seed := range uint64(100) {
		w := writer{rand.New(rand.NewPCG(seed, 5))}
		var lines []string
		for i := range 40 {
			lines = append(lines, fmt.Sprintf("%d: %s", i, w.line()))
		}
		repo := t.TempDir()
		plant(t, repo, map[string]string{"f": joined(lines, false, true)})
		g.run(repo, "", "init", "-q", "--template=")
		g.run(repo, "", "add", "-A")
		plant(t, repo, map[string]string{"f": joined(w.edit(lines), false, true)})
		diff := g.run(repo, "", "diff")
		if diff == "" {
			continue
		}
		drifted := joined(append(w.lines(1+w.IntN(9)), w.edit(lines)...), false, true)
		plant(t, repo, map[string]string{"f": drifted})
		r := newPatcher(t, files.Deps{}, map[string]string{"f": drifted})
		if out, ok := g.try(repo, diff, "apply", "-"); !ok {
			refused++
			if text := r.try(map[string]any{"patch": diff}); strings.HasPrefix(text, "error: ") && r.content("f") != drifted {
				t.Errorf("seed %d: refused, but changed; git: %s", seed, out)
			}
			continue
		}
		applied++
		result := r.try(map[string]any{"patch": diff})
		want, err := os.ReadFile(filepath.Join(repo, "f"))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.content("f"); got != string(want) {
			t.Errorf("seed %d: %s\n%s\ndrifted\n%s\ngot\n%s\nwant\n%s", seed, result, diff, drifted, got, want)
		}
	}
	if t.Logf("%d applied, %d refused by git", applied, refused); applied < 20 {
		t.Errorf("only %d applied", applied)
	}
}
