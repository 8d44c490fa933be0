package ignore_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace/ignore"
)

var seed = flag.Uint64("seed", 1, "seed of the random trees")

// TestAgainstGit makes random trees with random ignore files and asks git about
// every path. TOOLCRIB_IGNORE_TREES sets how many trees.
func TestAgainstGit(t *testing.T) {
	t.Parallel()
	git := newGit(t)
	trees := 60
	if s := os.Getenv("TOOLCRIB_IGNORE_TREES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		trees = n
	}
	paths, ignored := 0, 0
	for i := range trees {
		g := generator{rand.New(rand.NewPCG(*seed, uint64(i)))}
		dir := filepath.Join(t.TempDir(), "tree")
		g.tree(t, dir)
		git.run(t, dir, nil, "init", "--quiet", "--template=")
		if err := os.MkdirAll(filepath.Join(dir, ".git/info"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, ".git/info/exclude"), g.file(nil))

		all, got := judge(t, dir, ignore.NewLevel(nil))
		want := git.ignored(t, dir, all)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("tree %d of seed %d: ignored paths (-git +ours):\n%s\n%s", i, *seed, diff, ignoreFiles(t, dir))
		}
		paths, ignored = paths+len(all), ignored+len(got)
	}
	if paths > 1000 && (ignored < paths/20 || ignored > paths*19/20) {
		t.Errorf("%d of %d paths ignored: the trees prove nothing", ignored, paths)
	}
	t.Logf("%d trees, %d paths, %d ignored", trees, paths, ignored)
}

// judge goes through the tree at root, also through what is ignored, and returns
// all paths and those that are ignored, both sorted.
func judge(t *testing.T, root string, above *ignore.Level) (all, ignored []string) {
	t.Helper()
	var visit func(rel string, level *ignore.Level, inIgnored bool)
	visit = func(rel string, level *ignore.Level, inIgnored bool) {
		dir := filepath.Join(root, rel)
		if !inIgnored {
			f := ignore.Files{DotIgnore: readRules(t, dir, ".ignore"), GitIgnore: readRules(t, dir, ".gitignore")}
			if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
				f.Top, f.Exclude = true, readRules(t, dir, ".git/info/exclude")
			}
			level = level.Enter(filepath.Base(rel), f)
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() == ".git" {
				continue
			}
			path := filepath.Join(rel, e.Name())
			all = append(all, path)
			out := inIgnored || level.Ignored(e.Name(), e.IsDir())
			if out {
				ignored = append(ignored, path)
			}
			if e.IsDir() {
				visit(path, level, out)
			}
		}
	}
	visit("", above, false)
	slices.Sort(all)
	slices.Sort(ignored)
	return all, ignored
}

func readRules(t *testing.T, dir, name string) *ignore.Rules {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return ignore.Parse(text)
}

// git runs git with no configuration of this machine.
type git struct{ path, home string }

func newGit(t *testing.T) git {
	t.Helper()
	path, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs: git")
	}
	return git{path, t.TempDir()}
}

func (g git) run(t *testing.T, dir string, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), g.path, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Env = append(os.Environ(), "HOME="+g.home, "XDG_CONFIG_HOME="+g.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "LC_ALL=C")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 1 { // 1: check-ignore found none
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out
}

// ignored returns those of the paths that git ignores, sorted.
func (g git) ignored(t *testing.T, dir string, paths []string) []string {
	t.Helper()
	if len(paths) == 0 {
		return nil
	}
	out := g.run(t, dir, []byte(strings.Join(paths, "\x00")+"\x00"), "check-ignore", "--no-index", "-z", "--stdin")
	if len(out) == 0 {
		return nil
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(got)
	return got
}

// generator makes trees and ignore files that have a good chance to meet.
type generator struct{ *rand.Rand }

func (g generator) pick(from ...string) string { return from[g.IntN(len(from))] }

func (g generator) name() string {
	if g.IntN(8) == 0 {
		return g.pick("#a", "!a", "a ", " a", `a\b`, "[a]", "a*", "é", "\xff", "a?", ".a", "a-b", "]", "^", "A", "**", `\`)
	}
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.pick("a", "b", "c", "0", ".o", ".", "x y"))
	}
	if name := b.String(); strings.Trim(name, ".") != "" {
		return name
	}
	return "a"
}

// tree makes a directory with entries and ignore files below it.
func (g generator) tree(t *testing.T, root string) {
	t.Helper()
	var paths []string
	dirs := []string{""}
	for range 4 + g.IntN(10) {
		parent := dirs[g.IntN(len(dirs))]
		dirs = append(dirs, filepath.Join(parent, g.name()))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, dir)
	}
	for range 20 + g.IntN(30) {
		rel := filepath.Join(dirs[g.IntN(len(dirs))], g.name())
		if _, err := os.Lstat(filepath.Join(root, rel)); err == nil {
			continue
		}
		if g.IntN(12) == 0 {
			if err := os.Symlink(g.pick("a", ".", "/"), filepath.Join(root, rel)); err != nil {
				t.Fatal(err)
			}
		} else {
			writeFile(t, filepath.Join(root, rel), "")
		}
		paths = append(paths, rel)
	}
	for i, dir := range dirs {
		if i == 0 || g.IntN(3) == 0 {
			writeFile(t, filepath.Join(root, dir, ".gitignore"), g.file(paths))
		}
	}
}

// file makes the text of an ignore file.
func (g generator) file(paths []string) string {
	var b strings.Builder
	if g.IntN(12) == 0 {
		b.WriteString("\ufeff")
	}
	for range 1 + g.IntN(7) {
		b.WriteString(g.line(paths))
		b.WriteString(g.pick("\n", "\n", "\n", "\n", "\r\n", " \n", "  \r\n", "\\ \n", "\n\n", "\t\n", "\x00z\n"))
	}
	if g.IntN(4) == 0 {
		b.WriteString(g.line(paths))
	}
	return b.String()
}

func (g generator) line(paths []string) string {
	line := ""
	switch g.IntN(12) {
	case 0:
		return "#" + g.name()
	case 1, 2, 3, 4:
		for range 1 + g.IntN(5) {
			line += g.pick("a", "b", "c", ".o", "/", "*", "**", "**/", "/**/", "/**", "?", "[ab]", `\`, "***", "[", "]", "!", "-", " ")
		}
	default:
		if len(paths) > 0 && g.IntN(3) > 0 {
			line = paths[g.IntN(len(paths))]
			if parts := strings.Split(line, "/"); g.IntN(3) > 0 {
				line = strings.Join(parts[g.IntN(len(parts)):], "/")
			}
		} else {
			line = g.name()
		}
		for range g.IntN(4) {
			line = g.mutate(line)
		}
	}
	line = g.pick("", "", "", "", "/", "**/", "/**/", "!", "!", "!/", "!**/", `\`) + line
	return line + g.pick("", "", "", "", "/", "/*", "/**", "*", "**", "//")
}

// mutate replaces a byte by something that may match it.
func (g generator) mutate(line string) string {
	if line == "" {
		return "*"
	}
	i := g.IntN(len(line))
	c := line[i : i+1]
	with := g.pick("*", "?", "**", `\`+c, "["+c+"]", "[!"+c+"]", "[^z]", "[a-c]", "[]"+c+"]", "[!]"+c+"]", "[c-a]",
		"[["+":alpha:]]", "[[:space:]"+c+"]", "[[:punct:]]", "[[:none:]]", "[[:upper:]-z]", "[a-]", "[-a]", `[\a-c]`, `[a-\c]`, `[\`+c+`]`,
		"[[:alnum:]_]", "[[:"+c+"]", "["+c, "/**/", "*/", "**/", c+c, "")
	return line[:i] + with + line[i+1:]
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ignoreFiles shows the ignore files of a tree for a failure.
func ignoreFiles(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && (d.Name() == ".gitignore" || d.Name() == "exclude") {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(root, path)
			fmt.Fprintf(&b, "%s:\n", rel)
			for line := range strings.Lines(string(text)) {
				fmt.Fprintf(&b, "\t%q\n", line)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return b.String()
}
