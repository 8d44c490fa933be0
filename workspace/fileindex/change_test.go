//go:build unix

package fileindex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"toolcrib/workspace/fileindex"
)

// TestTableChanges makes one change after the other and compares after each.
func TestTableChanges(t *testing.T) {
	t.Parallel()
	write := func(rel, text string) func(string) error {
		return func(dir string) error { return os.WriteFile(host(dir, rel), []byte(text), 0o644) }
	}
	move := func(from, to string) func(string) error {
		return func(dir string) error { return os.Rename(host(dir, from), host(dir, to)) }
	}
	link := func(from, to string) func(string) error {
		return func(dir string) error { return os.Link(host(dir, from), host(dir, to)) }
	}
	mkdir := func(rel string) func(string) error {
		return func(dir string) error { return os.MkdirAll(host(dir, rel), 0o755) }
	}
	remove := func(rel string) func(string) error {
		return func(dir string) error { return os.RemoveAll(host(dir, rel)) }
	}
	all := func(steps ...func(string) error) func(string) error {
		return func(dir string) error {
			for _, do := range steps {
				if err := do(dir); err != nil {
					return err
				}
			}
			return nil
		}
	}
	tests := []struct {
		name  string
		tree  layout
		root  string // of the workspace, below the tree
		start string // "" = "."
		steps []func(string) error
	}{{
		name:  "nothing",
		tree:  lay("a/b: 1"),
		steps: []func(string) error{func(string) error { return nil }},
	}, {
		name:  "what is made at once with its directories",
		steps: []func(string) error{all(mkdir("a/b/c"), write("a/b/c/f", "1"), mkdir("a/b/d"), write("a/b/d/g", "1")), write("a/b/c/f", "2")},
	}, {
		name: "directories moved within, out and in",
		tree: lay("w/a/b/f: 1", "w/c/", "o/"), root: "w",
		steps: []func(string) error{
			move("w/a", "w/c/a"), write("w/c/a/b/f", "2"), move("w/c/a/b", "o/b"), write("o/b/f", "3"), write("o/b/g", "3"),
			move("o/b", "w/b"), write("w/b/f", "4"), move("w/b", "w/d"), all(move("w/d", "w/e"), mkdir("w/d"), write("w/d/new", "1")), write("w/e/f", "5"),
		},
	}, {
		name:  "deleted and made again",
		tree:  lay("a/b/f: 1"),
		steps: []func(string) error{all(remove("a"), mkdir("a/b"), write("a/b/f", "2")), write("a/b/f", "3"), all(remove("a"), write("a", "1")), all(remove("a"), mkdir("a"))},
	}, {
		name: "exchanged directories",
		tree: lay("a/f: 1", "b/f: 2", "b/g: 2"),
		steps: []func(string) error{
			all(move("a", "c"), move("b", "a"), move("c", "b")), write("a/f", "3"), write("b/f", "4"),
		},
	}, {
		name: "a hard link of what had one name",
		tree: lay("a/f: 1", "b/"),
		steps: []func(string) error{
			link("a/f", "b/g"),
			write("b/g", "2"), write("a/f", "3"), remove("a/f"), write("b/g", "4"),
		},
	}, {
		name: "a hard link by a name that is ignored",
		tree: lay("a/f: 1", ".ignore: *.o"),
		steps: []func(string) error{
			link("a/f", "g.o"),
			write("g.o", "2"), remove("a/f"),
		},
	}, {
		name: "a hard link that has come and gone",
		tree: lay("a/f: 1", "b/x: 1", "b/y: 1", ".ignore: *.o"),
		steps: []func(string) error{
			all(link("a/f", "b/g"), write("b/g", "2"), remove("b/g")),
			all(link("a/f", "g.o"), write("g.o", "3"), remove("g.o")),
			all(link("a/f", "b/g"), write("b/g", "4"), move("b/y", "b/g")),
			all(remove("b/x"), link("a/f", "b/x"), write("b/x", "5"), remove("b/x")),
			all(mkdir("c"), link("a/f", "c/g"), write("c/g", "6"), remove("c")),
			all(link("a/f", "b/h"), move("b/h", "b/g"), write("b/g", "7"), remove("b/g"), write("b/g", "8")),
		},
	}, {
		name: "a hard link in a directory that is left out with the same look",
		tree: lay("a/f: 1", "b/x: 1", ".ignore: *.o"),
		steps: []func(string) error{
			all(link("a/f", "b/g"), write(".ignore", "b")),
			write("b/g", "2"), write("b/g", "3"),
		},
	}, {
		name: "a hard link outside of the table that was there before",
		tree: lay("w/f: 1", "o/"), root: "w",
		steps: []func(string) error{
			all(move("w/f", "o/f"), link("o/f", "w/f")),
			write("o/f", "2"), write("o/f", "3"), remove("o/f"), write("w/f", "4"),
		},
	}, {
		name: "ignore files",
		tree: lay(".git/info/", ".gitignore: *.o", "a.o: 1", "b.c: 1", "d/c.o: 1", "d/.gitignore: !c.o", "d/.ignore: x", "d/x: 1"),
		steps: []func(string) error{
			write(".gitignore", "*.c"), remove("d/.gitignore"), write(".git/info/exclude", "d/"), write(".git/info/exclude", "d/c.o"),
			remove(".git/info"), remove(".gitignore"), write("d/.ignore", "c.o"), remove(".git"), all(mkdir(".git"), write(".gitignore", "*")),
			move(".gitignore", "moved"), move("moved", ".ignore"), write(".ignore", ""),
		},
	}, {
		name: "an ignore file that is ignored, and has two names",
		tree: lay("w/.ignore: .ignore | a", "w/a: 1", "w/b: 1", "o/"), root: "w",
		steps: []func(string) error{
			write("w/.ignore", ".ignore\nb"), all(remove("w/.ignore"), write("o/i", ".ignore\na"), func(dir string) error { return os.Link(host(dir, "o/i"), host(dir, "w/.ignore")) }),
			write("o/i", ".ignore\nb"), write("o/i", ".ignore"),
		},
	}, {
		name: "ignore files above the root",
		tree: lay("r/.gitignore: a", "r/.ignore: b", "r/w/a: 1", "r/w/b: 1", "r/w/c: 1", "r/w/in/a: 1", "r/w/in/b: 1"), root: "r/w",
		steps: []func(string) error{
			mkdir("r/.git"), write("r/.gitignore", "c"), all(mkdir("r/.git/info"), write("r/.git/info/exclude", "a")), write("r/.ignore", ""),
			mkdir("r/w/.git"), remove("r/w/.git"), remove("r/.git"), mkdir(".git"), write(".ignore", "in"), remove(".git"),
		},
	}, {
		name: "ignore files between the root and the table",
		tree: lay("s/t/a: 1", "s/t/b: 1", "s/t/u/a: 1", ".git/"), start: "s/t",
		steps: []func(string) error{
			write("s/.gitignore", "a"), write(".ignore", "u"), remove(".git"), mkdir("s/.git"), write("s/t/a", "2"), remove("s/.gitignore"),
		},
	}, {
		name: "a worktree",
		tree: lay("main/.git/HEAD: x", "main/.git/info/exclude: a", "main/.git/worktrees/w/", "w/.git: gitdir: ../main/.git/worktrees/w", "w/a: 1", "w/b: 1"), root: "w",
		steps: []func(string) error{
			write("main/.git/worktrees/w/HEAD", "x"), write("main/.git/info/exclude", "b"), write("w/.git", "gitdir: nowhere"), remove("w/.git"),
		},
	}, {
		name: "a repository that names its own exclude file",
		tree: lay(".git/HEAD: x", "a: 1", "b: 1", "in/a: 1", "in/rules: a", "in/.git/", "in/in/b: 1"),
		steps: []func(string) error{
			write(".git/config", "[core]\nexcludesFile = in/rules"), write("in/rules", "b"), write(".git/config", "[core]\nexcludesFile = other\n[user]\n"),
			write("other", "in"), write(".git/config", "[core]\nexcludesFile = other\n"), remove("other"), write(".git/config", "[core]\nexcludesFile = /etc/hosts"),
			write("in/.git/config", "[core]\nexcludesFile = in/mine"), write("in/in/mine", "b"), remove("in/.git/config"), remove(".git/config"),
		},
	}, {
		name: "a repository above that names its own exclude file",
		tree: lay(".git/HEAD: x", "w/a: 1", "w/b: 1", "w/in/a: 1"), root: "w",
		steps: []func(string) error{
			write(".git/config", "[core]\nexcludesFile = rules"), write("rules", "a"), write("rules", "b"), write(".git/config", "[core]\nexcludesFile = w/rules"), write("w/rules", "in"), remove(".git/config"),
		},
	}, {
		name: "a worktree whose repository names an exclude file",
		tree: lay("main/.git/HEAD: x", "main/.git/worktrees/w/HEAD: x", "w/.git: gitdir: ../main/.git/worktrees/w", "w/a: 1", "w/b: 1"), root: "w",
		steps: []func(string) error{
			write("main/.git/config", "[core]\nexcludesFile = mine"), write("w/mine", "a"), write("w/mine", "b"), remove("main/.git/config"),
		},
	}, {
		name: "the root has moved",
		tree: lay("w/a/f: 1"), root: "w",
		steps: []func(string) error{
			move("w/a", "w/b"), all(move("w", "v"), move("v", "w")), write("w/b/f", "3"), write("w/b/g", "3"),
		},
	}}
	for _, tt := range tests {
		eachModeNamed(t, tt.name, func(t *testing.T, opt fileindex.Options, portable bool) {
			dir := realTempDir(t)
			tt.tree.write(t, dir)
			probe := newTableProbe(t, opt, filepath.Join(dir, tt.root), tt.start, portable)
			probe.check(t, "nothing")
			for i, do := range tt.steps {
				if err := do(dir); err != nil {
					t.Fatal(err)
				}
				probe.check(t, fmt.Sprintf("step %d", i))
			}
		})
	}
}

// TestTableGlobalRules changes the user's ignore file.
func TestTableGlobalRules(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, opt fileindex.Options, portable bool) {
		home, dir := realTempDir(t), realTempDir(t)
		lay(".gitconfig: [core] | excludesFile = ~/mine", "mine: a").write(t, home)
		lay(".git/", "a: 1", "b: 1", "c: 1").write(t, dir)
		getenv := func(key string) string { return map[string]string{"HOME": home}[key] }
		p := walkStart(t, openWalk(t, portable, dir), ".")
		table, err := fileindex.New(t.Context(), p, opt.Getenv(getenv))
		if err != nil {
			t.Fatal(err)
		}
		defer table.Close()
		for _, change := range []layout{{}, lay("mine: b"), lay(".gitconfig: [core] | excludesFile = ~/other"), lay("other: c"), lay(".config/git/ignore: a"), lay(".gitconfig: ")} {
			change.write(t, home)
			if _, err := table.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			want, _, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{Hidden: true, Directories: true, Getenv: getenv})
			if err != nil {
				t.Fatal(err)
			}
			got, _ := tableEntries(table, p)
			if fmt.Sprint(listing(want)) != fmt.Sprint(listing(got)) {
				t.Errorf("after %v: %v, want %v", change, listing(got), listing(want))
			}
		}
	})
}
