package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// searchTrees returns the trees of the search figures as they are released, each
// with an empty repository so that ignore rules count: Go's source, and at full
// size Linux. They are made once.
func searchTrees(ctx context.Context, env harness.Environment) ([]tree, error) {
	made := []tree{{"gosrc", filepath.Join(env.Cache, "trees", "gosrc")}}
	makers := []func(ctx context.Context, dir string) error{goSource}
	if env.Full() {
		made = append(made, tree{"linux", filepath.Join(env.Cache, "trees", "linux")})
		makers = append(makers, linuxSource)
	}
	for i, t := range made {
		marker := filepath.Join(t.dir, ".git", "measured")
		if _, err := os.Stat(marker); err == nil {
			continue
		}
		if err := os.RemoveAll(t.dir); err != nil {
			return nil, err
		}
		if err := makers[i](ctx, t.dir); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		if _, err := git(ctx, t.dir, "init", "-q"); err != nil {
			return nil, err
		}
		if err := os.WriteFile(marker, nil, 0o644); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func goSource(ctx context.Context, dir string) error {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	return copyTree(filepath.Join(strings.TrimSpace(string(root)), "src"), dir)
}

// linuxSource unpacks the kernel of Debian 12. Its package is installed where it
// is missing, which wants root.
func linuxSource(ctx context.Context, dir string) error {
	const (
		name    = "linux-source-6.1"
		archive = "/usr/src/" + name + ".tar.xz"
	)
	if _, err := os.Stat(archive); errors.Is(err, fs.ErrNotExist) {
		for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", name}} {
			if out, err := exec.CommandContext(ctx, "apt-get", args...).CombinedOutput(); err != nil {
				return fmt.Errorf("apt-get %s: %w: %s", strings.Join(args, " "), err, out)
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if out, err := exec.CommandContext(ctx, "tar", "-xJf", archive, "-C", dir, "--strip-components=1").CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w: %s", err, out)
	}
	rules := filepath.Join(dir, ".gitignore")
	text, err := os.ReadFile(rules)
	if err != nil {
		return err
	}
	text, found := bytes.CutSuffix(text, []byte("/*\n!/debian/\n")) // of the packaging: ignores all
	if !found {
		return fmt.Errorf("%s does not end as that of the package does", rules)
	}
	return os.WriteFile(rules, text, 0o644)
}
