package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"toolcrib/.ci/measure/harness"
)

// Undo lets commands change, delete, create and move files of a repository. Each is taken
// back and the tree compared; then all run again, and are taken back in a row.
func Undo(ctx context.Context, env harness.Environment) error {
	base, dir, err := env.Scratch("undo")
	if err != nil {
		return err
	}
	defer os.RemoveAll(base)
	tree := &undoTree{dir: dir, files: env.Of(5000, 300)}
	if err := tree.plant(ctx); err != nil {
		return err
	}
	u, err := harness.UseTools(ctx, env.Writer(dir, "--preset=all"))
	if err != nil {
		return err
	}
	start, err := tree.look(ctx)
	if err != nil {
		return err
	}
	wrong := 0
	for _, command := range undoCommands {
		why, err := tree.try(ctx, u, command, start)
		if err != nil {
			return err
		}
		if why != "" {
			wrong++
			fmt.Printf("wrong: %s: %s\n", command, why)
			if err := tree.plant(ctx); err != nil { // the next ones are judged by themselves
				return err
			}
			if start, err = tree.look(ctx); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%d commands, each undone: %d wrong\n", len(undoCommands), wrong)

	type step struct {
		command string
		before  map[string]string
	}
	var steps []step
	for _, command := range undoCommands {
		now, err := tree.look(ctx)
		if err != nil {
			return err
		}
		if _, err := u.Use("bash", map[string]any{"command": command}); err != nil {
			return err
		}
		after, err := tree.look(ctx)
		if err != nil {
			return err
		}
		if !maps.Equal(now, after) {
			steps = append(steps, step{command, now})
		}
	}
	inRow := 0
	for _, s := range slices.Backward(steps) {
		if text, err := u.Must("restore_file", map[string]any{"undo": true}); err != nil {
			inRow++
			fmt.Printf("wrong in a row: %s: %v %s\n", s.command, err, text)
			break
		}
		got, err := tree.look(ctx)
		if err != nil {
			return err
		}
		if why := differ(s.before, got); why != "" {
			inRow++
			fmt.Printf("wrong in a row: %s: %s\n", s.command, why)
			break
		}
	}
	fmt.Printf("%d changes undone in a row: %d wrong\n", len(steps), inRow)
	if err := u.Close(); err != nil {
		return err
	}
	if wrong+inRow > 0 {
		return errors.New("an undo did not bring back what was there")
	}
	return nil
}

// undoTree is a repository with many files.
type undoTree struct {
	dir   string
	files int
}

// plant makes the repository, in the place of what there is.
func (t *undoTree) plant(ctx context.Context) error {
	if err := harness.Empty(t.dir); err != nil {
		return err
	}
	files := map[string]string{
		".gitignore": "build/\n*.o\n", "Makefile": "all: out.txt\nout.txt: a.txt\n\ttr a-z A-Z <a.txt >out.txt\n",
		"a.txt": "one\ntwo\n", "b.txt": "two\n", "run.sh": "#!/bin/sh\necho run\n", "build/x.bin": "built\n", "sub/deep/er/f": "deep\n", "naïve name.txt": "space\n", "empty": "",
	}
	for i := range t.files {
		files[fmt.Sprintf("src/%d/f%d.txt", i%50, i)] = strings.Repeat(fmt.Sprintf("line of file %d\n", i), 1+i%40)
	}
	if err := harness.WriteTree(t.dir, files); err != nil {
		return err
	}
	const script = `chmod 755 run.sh; chmod 600 b.txt; ln -s a.txt link; ln -s nowhere dangling; mkdir void
git init -q -b main . && git config user.name n && git config user.email e@example.com && git config gc.auto 0 && git add -A && git commit -qm one
for i in 1 2 3; do echo $i >>a.txt; sed -i "s/line/row $i/" src/$i/*; git commit -qam "change $i"; done
git branch side HEAD~2; git tag v1 HEAD~1; echo loose >untracked`
	cmd := exec.CommandContext(ctx, "bash", "-ec", script)
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("plant: %w: %s", err, out)
	}
	return nil
}

// look describes every entry by kind, mode and content, but for what git ignores.
func (t *undoTree) look(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	err := filepath.WalkDir(t.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		rel, err := filepath.Rel(t.dir, name)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && rel == "build":
			return filepath.SkipDir
		case d.IsDir():
			all[rel] = fmt.Sprintf("directory %o", info.Mode().Perm())
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(name)
			if err != nil {
				return err
			}
			all[rel] = "link " + to
		case info.Mode().IsRegular():
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all[rel] = fmt.Sprintf("file %o %x", info.Mode().Perm(), sha256.Sum256(data))
		default:
			all[rel] = info.Mode().Type().String()
		}
		return nil
	})
	return all, err
}

// differ names the first differences of two trees.
func differ(want, got map[string]string) string {
	var list []string
	for name, w := range want {
		switch g, ok := got[name]; {
		case !ok:
			list = append(list, name+" is missing")
		case g != w:
			list = append(list, fmt.Sprintf("%s is %.20s, was %.20s", name, g, w))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			list = append(list, name+" is new")
		}
	}
	slices.Sort(list)
	if len(list) > 6 {
		list = append(list[:6], fmt.Sprintf("and %d more", len(list)-6))
	}
	return strings.Join(list, "; ")
}

// try runs a command and undoes it; why says what is not as before.
func (t *undoTree) try(ctx context.Context, u *harness.ToolUser, command string, want map[string]string) (why string, err error) {
	a, err := u.Use("bash", map[string]any{"command": command})
	if err != nil {
		return "", err
	}
	after, err := t.look(ctx)
	if err != nil {
		return "", err
	}
	if maps.Equal(want, after) {
		return "it changes nothing: " + a.Text, nil
	}
	r, err := u.Use("restore_file", map[string]any{"undo": true})
	if err != nil {
		return "", err
	}
	if r.Failed {
		return "not undone: " + r.Text, nil
	}
	got, err := t.look(ctx)
	if err != nil {
		return "", err
	}
	if why := differ(want, got); why != "" {
		return why, nil
	}
	cmd := exec.CommandContext(ctx, "git", "fsck", "--full", "--strict")
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Sprintf("git fsck: %v: %s", err, out), nil
	}
	return "", nil
}
