package search

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// plant makes a repository of a part of Go's source, with a second branch in which
// a part of the files is changed, moved or gone.
func (f *freshTree) plant(ctx context.Context) error {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	if err := copyTree(filepath.Join(strings.TrimSpace(string(root)), "src", "net"), f.dir); err != nil {
		return err
	}
	if err := f.commit(ctx, "main"); err != nil {
		return err
	}
	if _, err := git(ctx, f.dir, "checkout", "-q", "-b", "other"); err != nil {
		return err
	}
	e, err := f.entries()
	if err != nil {
		return err
	}
	for i, file := range e.files {
		switch i % 9 {
		case 0:
			err = os.WriteFile(file, freshText(f.random), 0o644)
		case 1:
			err = os.Rename(file, filepath.Join(f.one(e.dirs), f.name()))
		case 2:
			err = os.Remove(file)
		}
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(f.dir, ".gitignore"), []byte("*.log\n"), 0o644); err != nil {
		return err
	}
	return f.commit(ctx, "")
}

// commit commits all that is there. With a branch it makes the repository first.
func (f *freshTree) commit(ctx context.Context, branch string) error {
	steps := [][]string{{"add", "--all", "--force"}, {"-c", "user.name=measure", "-c", "user.email=measure@localhost", "commit", "-q", "-m", "files"}}
	if branch != "" {
		steps = append([][]string{{"init", "-q", "-b", branch}, {"config", "gc.auto", "0"}}, steps...)
	}
	for _, args := range steps {
		if _, err := git(ctx, f.dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// releases makes a repository of two releases of Hugo, tagged old and new.
func (f *freshTree) releases(ctx context.Context) error {
	for _, r := range []struct{ tag, version string }{{"old", "v0.147.0"}, {"new", "v0.148.0"}} {
		dirs, err := harness.Modules(ctx, "github.com/gohugoio/hugo@"+r.version)
		if err != nil {
			return err
		}
		branch := "main"
		if r.tag == "new" {
			branch = ""
			if err := harness.Empty(f.dir, ".git"); err != nil {
				return err
			}
		}
		if err := copyTree(dirs[0], f.dir); err != nil {
			return err
		}
		if err := f.commit(ctx, branch); err != nil {
			return err
		}
		if _, err := git(ctx, f.dir, "tag", r.tag); err != nil {
			return err
		}
	}
	return nil
}
