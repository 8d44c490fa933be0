package tooltest

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/tools"
	"toolcrib/workspace"
)

// link is the beginning of the content of a symlink; its target follows.
const link = "-> "

// Tree writes files into a new directory, opens it as a workspace with a history, and
// returns both. A path that ends in "/" is a directory; content that starts with "-> " is a
// symlink's target. The files are a minute old: a tool that reports changes during a call
// must not take them for new.
func Tree(t testing.TB, files map[string]string) (*workspace.Workspace, string) {
	t.Helper()
	return TreeIn(t, stateDir(t), files)
}

// stateDir is TempDir for state: what a call has launched may write there until its category is
// closed, later than the test ends.
func stateDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tooltest-")
	must(t, err)
	t.Cleanup(func() {
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Error(err)
	})
	return dir
}

// TreeIn is Tree with the state in a directory that has some of it.
func TreeIn(t testing.TB, state string, files map[string]string) (*workspace.Workspace, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	must(t, os.Mkdir(dir, 0o755))
	fill(t, dir, files)
	ws, err := workspace.Open([]string{dir}, workspace.Options{StateBase: state, NoSync: true})
	must(t, err)
	t.Cleanup(func() {
		if err := ws.Close(); err != nil {
			t.Error(err)
		}
	})
	return ws, dir
}

// fill writes files into a directory, in the form of Tree.
func fill(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	old := time.Now().Add(-time.Minute)
	for name, content := range files {
		host := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(host, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(host), 0o755))
		if target, ok := strings.CutPrefix(content, link); ok {
			must(t, os.Symlink(strings.TrimRight(target, "\n"), host))
			continue
		}
		must(t, os.WriteFile(host, []byte(content), 0o644))
		must(t, os.Chtimes(host, old, old))
	}
}

// scene returns the workspace of a call after the events before it.
func scene(t testing.TB, c tools.Call) (*workspace.Workspace, string) {
	t.Helper()
	ws, dir := Tree(t, c.Files)
	before(t, ws, c)
	return ws, dir
}

func before(t testing.TB, ws *workspace.Workspace, c tools.Call) {
	t.Helper()
	if c.Before != nil {
		must(t, c.Before(session(t.Context(), ws)))
	}
}

// Contents returns the content of a directory in the form of Tree, with only the empty
// directories. Special files have their mode as content.
func Contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	walk(t, dir, func(rel string, info fs.FileInfo, content string) {
		if above := parent(rel); above != "" {
			delete(files, above)
		}
		if info.IsDir() {
			rel += "/"
		}
		files[rel] = content
	})
	return files
}

func parent(rel string) string { return rel[:strings.LastIndexByte(rel, '/')+1] }

// Differ compares two trees of Contents: "" if they are equal.
func Differ(want, got map[string]string) string {
	var b strings.Builder
	all := maps.Clone(got)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w, wanted := want[name]
		g, there := got[name]
		switch {
		case !there:
			fmt.Fprintf(&b, "%s: missing\n", name)
		case !wanted:
			fmt.Fprintf(&b, "%s: not wanted, %q\n", name, clip(g))
		case w != g:
			fmt.Fprintf(&b, "%s: %q, want %q\n", name, clip(g), clip(w))
		}
	}
	return b.String()
}

// snapshot describes a tree: names, kinds, modes and the hash of each file. It skips the
// directories of leftOut. Times are left out: reading may change the access time.
func snapshot(t testing.TB, dir string, leftOut ...string) string {
	t.Helper()
	var b strings.Builder
	walk(t, dir, func(rel string, info fs.FileInfo, content string) {
		fmt.Fprintf(&b, "%v %s %x\n", info.Mode(), rel, sha256.Sum256([]byte(content)))
	}, leftOut...)
	return b.String()
}

// walk visits everything below a directory, in order. The content of a symlink is its
// target after "-> ".
func walk(t testing.TB, dir string, visit func(rel string, info fs.FileInfo, content string), leftOut ...string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(host string, d fs.DirEntry, err error) error {
		if err != nil || host == dir {
			return err
		}
		if slices.Contains(leftOut, host) {
			return fs.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content string
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(host)
			if err != nil {
				return err
			}
			content = string(data)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(host)
			if err != nil {
				return err
			}
			content = link + target
		case !info.IsDir():
			content = info.Mode().String()
		}
		rel, err := filepath.Rel(dir, host)
		visit(filepath.ToSlash(rel), info, content)
		return err
	}))
}

// largeTree is a bigTree whose names alone are longer than a text may be. They are those of one
// file, since many are slow to make.
func largeTree(t testing.TB, calls []tools.Call) (*workspace.Workspace, string) {
	const n = 18
	ws, dir := bigTree(t, calls, 1)
	first := filepath.Join(dir, bigName(0, 0))
	for i := range n {
		must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(bigName(i, 0))), 0o755))
		for j := range n {
			if i+j > 0 {
				must(t, os.Link(first, filepath.Join(dir, bigName(i, j))))
			}
		}
	}
	return ws, dir
}

// bigName is a name in a bigTree, about as long as names may be.
func bigName(i, j int) string {
	return "d" + itoa(i) + "/" + strings.Repeat("n", 240) + itoa(j) + ".txt"
}

// bigTree makes a tree of n by n long names, and of the files of the examples, each made long.
func bigTree(t testing.TB, calls []tools.Call, n int) (*workspace.Workspace, string) {
	files := map[string]string{}
	for i := range n {
		for j := range n {
			files[bigName(i, j)] = "needle " + strings.Repeat("n", 240) + "\n"
		}
	}
	for _, c := range calls {
		for name, content := range c.Files {
			if !strings.HasSuffix(name, "/") && !strings.HasPrefix(content, "-> ") {
				content = strings.Repeat(content, 1+200_000/max(len(content), 1))
			}
			files[name] = content
		}
	}
	return Tree(t, files)
}
