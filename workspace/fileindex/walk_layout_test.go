package fileindex_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolcrib/workspace"
	"toolcrib/workspace/fileindex"
	"toolcrib/workspace/internal/fsys"
)

// layout is a tree of files: path to content. A path that ends in a slash is a directory, a
// content that starts with "-> " is a symlink.
type layout map[string]string

func (f layout) write(t *testing.T, root string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		path := filepath.Join(root, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		target, link := strings.CutPrefix(f[name], "-> ")
		switch {
		case err != nil:
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		case link:
			err = os.Symlink(strings.ReplaceAll(target, "$ROOT", root), path)
		default:
			err = os.WriteFile(path, []byte(strings.ReplaceAll(f[name], "$ROOT", root)), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// lay makes a layout of "path" and "path: content", where " | " is a line end.
func lay(names ...string) layout {
	f := layout{}
	for _, name := range names {
		name, content, _ := strings.Cut(name, ": ")
		f[name] = strings.ReplaceAll(content, " | ", "\n")
	}
	return f
}

// listing shows entries: the path, and the kind of all but files.
func listing(entries []fileindex.Entry) []string {
	var list []string
	for _, e := range entries {
		if e.Kind == fsys.KindFile {
			list = append(list, e.Rel)
		} else {
			list = append(list, e.Rel+" "+string(e.Kind))
		}
	}
	return list
}

// gitFiles returns what git takes for files of the repository, in path order.
func gitFiles(t *testing.T, dir string, env ...string) []string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("needs: git")
	}
	cmd := exec.CommandContext(t.Context(), git, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	if env == nil {
		env = []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "XDG_CONFIG_HOME=" + filepath.Join(dir, "none")}
	}
	cmd.Env = slices.Concat(env, []string{"GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")})
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v\n%s", err, &stderr)
	}
	list := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.SortFunc(list, comparePaths)
	return list
}

func comparePaths(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

func noEnv(string) string { return "" }

// realTempDir is a temporary directory by a name without links.
func realTempDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func openWalk(t *testing.T, portable bool, roots ...string) *workspace.Workspace {
	t.Helper()
	w, err := workspace.Open(roots, workspace.Options{Portable: portable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func walkStart(t *testing.T, w *workspace.Workspace, text string) workspace.Path {
	t.Helper()
	if text == "" {
		text = "."
	}
	p, err := w.Resolve(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
