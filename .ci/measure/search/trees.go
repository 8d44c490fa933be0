package search

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// tree is a real source tree, a git repository in the cache.
type tree struct{ name, dir string }

// modules are the repositories in addition to Go's own source: Go, C and JavaScript,
// with nested ignore files.
var modules = []string{
	"github.com/prometheus/prometheus@v0.305.0",
	"github.com/grafana/loki/v3@v3.5.0",
	"github.com/gohugoio/hugo@v0.148.0",
}

// trees returns Go's source and three other repositories. They are made once:
// each becomes a repository in which half of the top is tracked, and gets files
// that its own rules ignore.
func trees(ctx context.Context, env harness.Environment) ([]tree, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	sources := []tree{{"go", filepath.Join(strings.TrimSpace(string(root)), "src")}}
	dirs, err := harness.Modules(ctx, modules...)
	if err != nil {
		return nil, err
	}
	for i, m := range modules {
		sources = append(sources, tree{strings.Split(strings.Split(m, "@")[0], "/")[2], dirs[i]})
	}
	var made []tree
	for _, s := range sources {
		dir := filepath.Join(env.Cache, "trees", s.name)
		if _, err := os.Stat(filepath.Join(dir, ".git", "measured")); err != nil {
			if err := makeTree(ctx, s.dir, dir); err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
		}
		made = append(made, tree{s.name, dir})
	}
	return made, nil
}

func makeTree(ctx context.Context, from, to string) error {
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := copyTree(from, to); err != nil {
		return err
	}
	var dirs []string
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	for i, dir := range dirs { // what builds and editors leave behind
		for _, name := range []string{"x.o", "x.swp", ".DS_Store", "x.test", "x.log", "x.tmp"} {
			if i%7 != 0 {
				break
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte("left behind\n"), 0o644); err != nil {
				return err
			}
		}
	}
	entries, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.quotePath", "false"}, {"config", "gc.auto", "0"}} {
		if _, err := git(ctx, to, args...); err != nil {
			return err
		}
	}
	for i, e := range entries {
		if i%2 == 0 {
			if _, err := git(ctx, to, "add", "--", e.Name()); err != nil && !strings.Contains(err.Error(), "ignored by one of") {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(to, ".git", "measured"), nil, 0o644)
}

// copyTree copies files and directories so that all of them can be written.
func copyTree(from, to string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	return filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return os.Chmod(path, 0o755)
		default:
			return os.Chmod(path, 0o644)
		}
	})
}

func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return string(out), err
}
