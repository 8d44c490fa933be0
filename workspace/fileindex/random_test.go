//go:build unix

package fileindex_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolcrib/workspace/fileindex"
)

// tableChaos does random things to a tree.
type tableChaos struct {
	root string
	rand *rand.Rand
	git  string // "" = none
	look bool   // the index is to be compared after this step

	listed func(dir string) bool // is in the index by now
}

// pick returns a path below the root of what is there; want restricts it.
func (c *tableChaos) pick(want func(fs.FileMode) bool) string {
	var found []string
	_ = filepath.WalkDir(c.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read is not picked
		}
		if d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		if name != c.root && want(d.Type()) {
			found = append(found, name)
		}
		return nil
	})
	if len(found) == 0 {
		return ""
	}
	return found[c.rand.IntN(len(found))]
}

func (c *tableChaos) file() string { return c.pick(fs.FileMode.IsRegular) }

// dir returns a directory, the root among them.
func (c *tableChaos) dir() string {
	if d := c.pick(fs.FileMode.IsDir); d != "" && c.rand.IntN(4) > 0 {
		return d
	}
	return c.root
}

// name returns a path in some directory that may or may not be taken.
func (c *tableChaos) name() string {
	names := []string{"a", "b", "c", "d.o", "e.txt", ".hidden", "build", "out", "x-y", "x", "é", ".ignore", "keep.o"}
	return filepath.Join(c.dir(), names[c.rand.IntN(len(names))])
}

func (c *tableChaos) text() string {
	return strings.Repeat(string(rune('a'+c.rand.IntN(26))), 1+c.rand.IntN(3))
}

func (c *tableChaos) rules() string {
	lines := []string{"*.o", "build/", "/out", "!keep.o", "a", "x*", "**/b/c", ".*", "*.txt", "/a/b", ""}
	var text string
	for range c.rand.IntN(4) {
		text += lines[c.rand.IntN(len(lines))] + "\n"
	}
	return text
}

// shrink removes directories until few entries are left.
func (c *tableChaos) shrink() {
	const most = 80
	for {
		n := 0
		_ = filepath.WalkDir(c.root, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			n++
			return nil
		})
		d := c.pick(func(fs.FileMode) bool { return true })
		if n <= most || d == "" {
			return
		}
		_ = os.RemoveAll(d)
	}
}

// step does something and says what. Most things may fail.
func (c *tableChaos) step() (string, error) {
	writeTo := func(name, text string, flags int) error {
		f, err := os.OpenFile(name, flags, 0o644)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		f.Close()
		return err
	}
	type op struct {
		weight int
		name   string
		do     func() (string, error)
	}
	ops := []op{
		{12, "write", func() (string, error) {
			n := c.name()
			return n, writeTo(n, c.text(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
		}},
		{12, "overwrite", func() (string, error) { n := c.file(); return n, writeTo(n, c.text(), os.O_WRONLY) }},
		{6, "append", func() (string, error) { n := c.file(); return n, writeTo(n, c.text(), os.O_WRONLY|os.O_APPEND) }},
		{4, "truncate", func() (string, error) { n := c.file(); return n, os.Truncate(n, int64(c.rand.IntN(3))) }},
		{8, "replace", func() (string, error) {
			n := c.file()
			if n == "" {
				return n, fs.ErrNotExist
			}
			return n, errorsFirst(os.WriteFile(n+".tmp", []byte(c.text()), 0o644), func() error { return os.Rename(n+".tmp", n) })
		}},
		{8, "rename file", func() (string, error) { n, to := c.file(), c.name(); return n + " to " + to, os.Rename(n, to) }},
		{8, "rename directory", func() (string, error) {
			n, to := c.pick(fs.FileMode.IsDir), c.name()
			return n + " to " + to, os.Rename(n, to)
		}},
		{6, "delete", func() (string, error) { n := c.file(); return n, os.Remove(n) }},
		{10, "mkdir", func() (string, error) { n := c.name(); return n, os.Mkdir(n, 0o755) }},
		{6, "mkdir and fill", func() (string, error) {
			n := c.name()
			return n, errorsFirst(os.MkdirAll(filepath.Join(n, "b", "c"), 0o755), func() error {
				return os.WriteFile(filepath.Join(n, "b", "c", "f"), []byte(c.text()), 0o644)
			})
		}},
		{2, "remove all", func() (string, error) {
			n := c.pick(fs.FileMode.IsDir)
			if n == "" {
				return n, fs.ErrNotExist
			}
			return n, os.RemoveAll(n)
		}},
		{2, "remove and make again", func() (string, error) {
			n := c.pick(fs.FileMode.IsDir)
			if n == "" {
				return n, fs.ErrNotExist
			}
			return n, errorsFirst(os.RemoveAll(n), func() error { return os.Mkdir(n, 0o755) }, func() error {
				return os.WriteFile(filepath.Join(n, "again"), []byte(c.text()), 0o644)
			})
		}},
		{3, "symlink", func() (string, error) { n := c.name(); return n, os.Symlink(filepath.Base(c.dir()), n) }},
		{5, "hard link", c.link},
		{5, "ignore file", func() (string, error) {
			n := filepath.Join(c.dir(), []string{".gitignore", ".ignore"}[c.rand.IntN(2)])
			return n, writeTo(n, c.rules(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
		}},
		{2, "remove ignore file", func() (string, error) {
			n := filepath.Join(c.dir(), []string{".gitignore", ".ignore"}[c.rand.IntN(2)])
			return n, os.Remove(n)
		}},
		{2, "exclude", func() (string, error) {
			n := filepath.Join(c.root, ".git", "info", "exclude")
			return n, errorsFirst(os.MkdirAll(filepath.Dir(n), 0o755), func() error { return os.WriteFile(n, []byte(c.rules()), 0o644) })
		}},
		{1, "repository", func() (string, error) { n := filepath.Join(c.dir(), ".git"); return n, os.Mkdir(n, 0o755) }},
		{1, "no repository", func() (string, error) { n := filepath.Join(c.dir(), ".git"); return n, os.RemoveAll(n) }},
		{2, "chmod", func() (string, error) {
			n := c.pick(func(m fs.FileMode) bool { return m&fs.ModeSymlink == 0 })
			return n, os.Chmod(n, []fs.FileMode{0o755, 0o700, 0o500, 0o777}[c.rand.IntN(4)])
		}},
		{1, "unreadable", func() (string, error) { n := c.pick(fs.FileMode.IsDir); return n, os.Chmod(n, 0) }},
		{3, "move out and in", func() (string, error) {
			n, out := c.pick(fs.FileMode.IsDir), c.root+".out"
			return n, errorsFirst(os.Rename(n, out), func() error {
				return os.WriteFile(filepath.Join(out, "outside"), []byte(c.text()), 0o644)
			}, func() error { return os.Rename(out, n) })
		}},
		{1, "git", c.branch},
	}
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	n := c.rand.IntN(total)
	for _, o := range ops {
		if n -= o.weight; n < 0 {
			at, err := o.do()
			return fmt.Sprintf("%s %s", o.name, strings.ReplaceAll(at, c.root, "")), err
		}
	}
	return "", nil
}

// link gives a file another name where the index sees it: that of a file which had only
// one is the one thing that an index which watches may miss elsewhere.
func (c *tableChaos) link() (string, error) {
	n, to := c.file(), c.name()
	rel, err := filepath.Rel(c.root, filepath.Dir(to))
	if err != nil || n == "" || !c.listed(filepath.ToSlash(rel)) {
		return "", err
	}
	c.look = true
	return n + " to " + to, os.Link(n, to)
}

// branch goes over to another branch, with what is there committed.
func (c *tableChaos) branch() (string, error) {
	if c.git == "" {
		return "", nil
	}
	branch := fmt.Sprintf("b%d", c.rand.IntN(3))
	for _, args := range [][]string{{"init", "-q", "--template="}, {"add", "-A"}, {"commit", "-qm", "x", "--allow-empty"}, {"checkout", "-q", "-B", branch}} {
		if args[0] == "checkout" && c.rand.IntN(3) > 0 {
			args = []string{"checkout", "-q", "-f", branch}
		}
		cmd := exec.Command(c.git, args...)
		cmd.Dir = c.root
		cmd.Env = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH"), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a"}
		if err := cmd.Run(); err != nil {
			return branch, err
		}
	}
	return branch, nil
}

// errorsFirst does one thing after the other up to the first error.
func errorsFirst(err error, then ...func() error) error {
	for _, f := range then {
		if err != nil {
			return err
		}
		err = f()
	}
	return err
}

// TestTableRandom does random things and compares the index with a walk.
func TestTableRandom(t *testing.T) {
	t.Parallel()
	steps := 1000
	if testing.Short() {
		steps = 200
	}
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		testRandomly(t, opt, portable, steps, 1)
	})
}

// testRandomly does steps of random things, one to about four at a time, and compares.
func testRandomly(t *testing.T, opt fileindex.Options, portable bool, steps int, seed uint64) {
	t.Helper()
	git, _ := exec.LookPath("git")
	root := filepath.Join(realTempDir(t), "root")
	lay(".git/info/exclude: out", "a/b/c/f: 1", "a/.gitignore: *.o", "x/y: 2", "keep.o: 3", "build/z: 4").write(t, root)
	t.Cleanup(func() { makeWritable(root) })
	probe := newTableProbe(t, opt, root, ".", portable)
	c := &tableChaos{root: root, rand: rand.New(rand.NewPCG(seed, 7)), git: git}
	c.listed = func(dir string) bool {
		probe.check(t, "before a hard link")
		return probe.table.Knows(walkStart(t, probe.view, dir))
	}
	var done []string
	for range steps {
		c.look = false
		c.shrink()
		what, err := c.step()
		done = append(done, fmt.Sprintf("%s (%v)", what, err))
		if !c.look && c.rand.IntN(4) == 0 {
			continue
		}
		if c.rand.IntN(3) == 0 {
			probe.interrupt(t, 1+c.rand.IntN(20))
		}
		probe.check(t, strings.Join(done, ", "))
		done = done[:0]
	}
}

// makeWritable lets a tree be removed.
func makeWritable(root string) {
	_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(name, 0o755)
		}
		return nil
	})
}
