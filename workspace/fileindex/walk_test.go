package fileindex_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace/fileindex"
)

func TestWalk(t *testing.T) {
	t.Parallel()
	type options = fileindex.WalkOptions
	tests := []struct {
		name  string
		tree  layout
		root  string // of the workspace, below the tree; "" = the tree
		start string // "" = "."
		opt   options
		git   bool // git lists the same layout
		want  []string
		stats fileindex.WalkStats
	}{{
		name:  "path order goes by component, not by string",
		tree:  lay("a/b", "a.txt", "a-b/c", "ab", "a/", "Z", "é", "~"),
		want:  []string{"Z", "a/b", "a-b/c", "a.txt", "ab", "~", "é"},
		stats: fileindex.WalkStats{Directories: 3},
	}, {
		name:  "directories stand before what is in them",
		tree:  lay("a/b/c", "a/a", "d/"),
		opt:   options{Directories: true},
		want:  []string{"a directory", "a/a", "a/b directory", "a/b/c", "d directory"},
		stats: fileindex.WalkStats{Directories: 4},
	}, {
		name:  "depth",
		tree:  lay("a/b/c", "a/a", "d"),
		opt:   options{MaxDepth: 2, Directories: true},
		want:  []string{"a directory", "a/a", "a/b directory", "d"},
		stats: fileindex.WalkStats{Directories: 2},
	}, {
		name:  "SkipDir",
		tree:  lay("a/b/c", "a/a", "d/e"),
		opt:   options{Directories: true, SkipDir: func(rel string) bool { return rel == "a/b" || rel == "d" }},
		want:  []string{"a directory", "a/a", "a/b directory", "d directory"},
		stats: fileindex.WalkStats{Directories: 2},
	}, {
		name:  "hidden",
		tree:  lay(".a", ".b/c", "d/.e", "f"),
		want:  []string{"f"},
		stats: fileindex.WalkStats{Directories: 2, Hidden: 3},
	}, {
		name:  "hidden wanted, .git never",
		tree:  lay(".a", ".b/c", "d/.e", "f", ".git/config", "d/.git: gitdir: nowhere"),
		opt:   options{Hidden: true},
		want:  []string{".a", ".b/c", "d/.e", "f"},
		stats: fileindex.WalkStats{Directories: 3},
	}, {
		name:  "ignored wanted",
		tree:  lay(".git/config", ".gitignore: *", "a/.ignore: *", "a/b"),
		opt:   options{Hidden: true, IncludeIgnored: true},
		want:  []string{".git/config", ".gitignore", "a/.ignore", "a/b"},
		stats: fileindex.WalkStats{Directories: 3},
	}, {
		name:  ".gitignore needs a repository, .ignore does not",
		tree:  lay(".gitignore: a", ".ignore: b", "a", "b", "c/a", "c/b"),
		want:  []string{"a", "c/a"},
		stats: fileindex.WalkStats{Directories: 2, Hidden: 2, Ignored: 2},
	}, {
		name: "nested files, negation, anchors, ignored parents",
		tree: lay(".git/HEAD: ref: refs/heads/main", ".git/objects/", ".git/refs/",
			".gitignore: *.o | /out/ | !keep.o | doc/*.txt | build", "x.o", "keep.o", "out/a", "sub/out/a",
			"doc/a.txt", "doc/b/a.txt", "build/keep.o", "sub/.gitignore: !x.o | keep.o", "sub/x.o", "sub/keep.o", "sub/y/x.o"),
		opt:   options{Hidden: true},
		git:   true,
		want:  []string{".gitignore", "doc/b/a.txt", "keep.o", "sub/.gitignore", "sub/out/a", "sub/x.o", "sub/y/x.o"},
		stats: fileindex.WalkStats{Directories: 6, Ignored: 5},
	}, {
		name: "exclude comes after .gitignore",
		tree: lay(".git/HEAD: ref: refs/heads/main", ".git/objects/", ".git/refs/", ".git/info/exclude: *.log | /only",
			"sub/.gitignore: !b.log", "a.log", "sub/a.log", "sub/b.log", "only", "sub/only"),
		git:   true,
		opt:   options{Hidden: true},
		want:  []string{"sub/.gitignore", "sub/b.log", "sub/only"},
		stats: fileindex.WalkStats{Directories: 2, Ignored: 3},
	}, {
		name: "a repository inside starts anew",
		tree: lay(".git/", ".gitignore: a | /in/gone | other/", "in/.git/info/exclude: d", "in/.gitignore: b", "in/a", "in/b", "in/d",
			"in/gone", "in/sub/a", "in/sub/b", "a", "b", "other/.git/", "other/x"),
		want:  []string{"b", "in/a", "in/gone", "in/sub/a"},
		stats: fileindex.WalkStats{Directories: 3, Hidden: 2, Ignored: 5},
	}, {
		name: ".ignore goes before .gitignore, from outside into repositories",
		tree: lay(".ignore: c | !d", "in/.git/", "in/.gitignore: d | e | f", "in/.ignore: !e", "in/a", "in/c", "in/d", "in/e", "in/f"),
		want: []string{"in/a", "in/d", "in/e"}, stats: fileindex.WalkStats{Directories: 2, Hidden: 3, Ignored: 2},
	}, {
		name:  "rules of the parents of the start",
		tree:  lay(".git/", ".gitignore: *.o | /a/b/gone", ".ignore: ign", "a/.gitignore: *.c | !x.o", "a/b/x.o", "a/b/y.o", "a/b/z.c", "a/b/gone", "a/b/ign"),
		start: "a/b",
		want:  []string{"x.o"}, stats: fileindex.WalkStats{Directories: 1, Ignored: 4},
	}, {
		name: "rules of the parents of the root up to the repository",
		tree: lay(".gitignore: top", ".ignore: top", "r/.git/info/exclude: excluded", "r/.gitignore: *.o | /w/s/gone | top2", "r/.ignore: ign",
			"r/w/.gitignore: !x.o", "r/w/s/x.o", "r/w/s/y.o", "r/w/s/gone", "r/w/s/top", "r/w/s/top2", "r/w/s/ign", "r/w/s/excluded"),
		root:  "r/w",
		start: "s",
		want:  []string{"top", "x.o"}, stats: fileindex.WalkStats{Directories: 1, Ignored: 5},
	}, {
		name: "a repository that begins at the start or above it hides those above the root",
		tree: lay(".git/", ".gitignore: a", ".ignore: c", "w/s/.git/", "w/s/t/a", "w/s/.gitignore: b", "w/s/t/b", "w/s/t/c"),
		root: "w", start: "s",
		want: []string{"t/a", "t/c"}, stats: fileindex.WalkStats{Directories: 2, Hidden: 1, Ignored: 1},
	}, {
		name: "the same with a start below it",
		tree: lay(".git/", ".gitignore: a", ".ignore: c", "w/s/.git/", "w/s/t/a", "w/s/.gitignore: b", "w/s/t/b", "w/s/t/c"),
		root: "w", start: "s/t",
		want: []string{"a", "c"}, stats: fileindex.WalkStats{Directories: 1, Ignored: 1},
	}, {
		name:  "a start that is ignored and hidden is walked",
		tree:  lay(".git/", ".gitignore: .out/ | *.o", ".out/a", ".out/b.o"),
		start: ".out",
		want:  []string{"a"}, stats: fileindex.WalkStats{Directories: 1, Ignored: 1},
	}, {
		name: "exclude of a worktree lies in the common directory",
		tree: lay("main/.git/HEAD: x", "main/.git/info/exclude: a", "main/.git/worktrees/w/HEAD: x", "w/.git: gitdir: ../main/.git/worktrees/w", "w/a", "w/b"),
		root: "w",
		want: []string{"b"}, stats: fileindex.WalkStats{Directories: 1, Ignored: 1},
	}, {
		name: "exclude of a submodule, of a linked .git",
		tree: lay(".g/HEAD: x", "sub/.git: gitdir: $ROOT/.g/modules/a/s | ", ".g/modules/a/s/HEAD: x", ".g/modules/a/s/info/exclude: a",
			"sub/a", "sub/b", "lnk/.git: -> ../.g/modules/a/s", "lnk/a", "lnk/b"),
		want: []string{"lnk/b", "sub/b"}, stats: fileindex.WalkStats{Directories: 3, Hidden: 1, Ignored: 2},
	}, {
		name: "a .git that names another directory than git makes is no rule and no oracle",
		tree: lay("o/HEAD: x", "o/info/exclude: f", "o/x/y/HEAD: x", "o/x/y/info/exclude: f", "g/HEAD: x", "g/modules/s/HEAD: x", "g/modules/s/info/exclude/",
			"w/a/.git: gitdir: $ROOT/o", "w/a/f", "w/b/.git: -> ../../o", "w/b/f", "w/c/.git: gitdir: /dev/null/x", "w/c/f", "w/d/.git: gitdir: ../../o/x/y", "w/d/f",
			"w/e/.git: gitdir: ../../g/modules/s", "w/e/f", "w/f/.git: gitdir: ../modules/o", "w/modules/o: -> ../../o", "w/f/f", "w/HEAD: x"),
		root: "w",
		want: []string{"HEAD", "a/f", "b/f", "c/f", "d/f", "e/f", "f/f", "modules/o symlink"}, stats: fileindex.WalkStats{Directories: 8},
	}, {
		name: "ignore files above the root that cannot be read are told once and without their paths",
		tree: lay(".git/", ".gitignore: -> x", ".git/info/exclude/", "r/.ignore: -> x", "r/w/f"),
		root: "r/w",
		want: []string{"f"}, stats: fileindex.WalkStats{Directories: 1, Unreadable: []string{"an ignore file above the workspace"}},
	}, {
		name: "ignore files are not read through links",
		tree: lay("o/rules: *", "w/.git/info/exclude: -> ../../../o/rules", "w/.gitignore: -> ../o/rules", "w/.ignore: -> a", "w/a: *", "w/s/.gitignore/", "w/s/b"),
		root: "w",
		want: []string{"a", "s/b"}, stats: fileindex.WalkStats{
			Directories: 2, Hidden: 3,
			Unreadable: []string{".git/info/exclude", ".gitignore", ".ignore"},
		},
	}, {
		name:  "links are reported and not followed",
		tree:  lay("o/f", "w/d/f", "w/in: -> d", "w/file: -> d/f", "w/out: -> ../o", "w/none: -> nowhere"),
		root:  "w",
		opt:   options{Directories: true},
		want:  []string{"d directory", "d/f", "file symlink", "in symlink", "none symlink", "out symlink"},
		stats: fileindex.WalkStats{Directories: 2},
	}, {
		name: "links are followed inside the roots",
		tree: lay("o/f", "w/d/e/f", "w/in: -> d", "w/abs: -> $ROOT/w/d/e", "w/file: -> d/e/f", "w/out: -> ../o",
			"w/outf: -> ../o/f", "w/none: -> nowhere", "w/back: -> ../w/d/e", "w/z/in: -> ../in"),
		root:  "w",
		opt:   options{FollowLinks: true},
		want:  []string{"abs symlink", "back symlink", "d/e/f", "file", "in symlink", "none symlink", "out symlink", "outf symlink", "z/in symlink"},
		stats: fileindex.WalkStats{Directories: 4},
	}, {
		name:  "what is not walked as itself is walked by the link with the least depth",
		tree:  lay("h/.x/f", "h/.x/d/g", "h/a/b/up: -> ../../../h/.x", "h/a/in: -> ../.x/d", "h/z: -> .x", "h/zz: -> .x"),
		root:  "h",
		opt:   options{FollowLinks: true, Directories: true},
		want:  []string{"a directory", "a/b directory", "a/b/up symlink", "a/in symlink", "z directory", "z/d directory", "z/d/g", "z/f", "zz symlink"},
		stats: fileindex.WalkStats{Directories: 5, Hidden: 1},
	}, {
		name:  "links in what links lead to, and up out of the start",
		tree:  lay("s/up: -> ../o", "s/f", "o/back: -> ..", "o/g", "p/h"),
		start: "s",
		opt:   options{FollowLinks: true, Directories: true},
		want:  []string{"f", "up directory", "up/back directory", "up/back/o directory", "up/back/p directory", "up/back/p/h", "up/back/s directory", "up/g"},
		stats: fileindex.WalkStats{Directories: 4},
	}, {
		name:  "loops of links are cut",
		tree:  lay("a/b/up: -> ..", "a/f", "a/self: -> .", "a/root: -> ../..", "l: -> l", "x/y: -> ../y", "y/x: -> ../x", "y/f"),
		root:  "",
		opt:   options{FollowLinks: true},
		want:  []string{"a/b/up symlink", "a/f", "a/root symlink", "a/self symlink", "l symlink", "x/y symlink", "y/f", "y/x symlink"},
		stats: fileindex.WalkStats{Directories: 5},
	}, {
		name:  "rules see a link as a file, unless it is followed",
		tree:  lay(".git/", ".gitignore: l/", "d/f", "l: -> d"),
		want:  []string{"d/f", "l symlink"},
		stats: fileindex.WalkStats{Directories: 2, Hidden: 1},
	}, {
		name:  "a followed link is a directory to rules",
		tree:  lay(".git/", ".gitignore: l/", "d/f", "l: -> d"),
		opt:   options{FollowLinks: true},
		want:  []string{"d/f"},
		stats: fileindex.WalkStats{Directories: 2, Hidden: 1, Ignored: 1},
	}, {
		name:  "the start may be a link",
		tree:  lay("d/f", "l: -> d"),
		start: "l",
		want:  []string{"f"},
		stats: fileindex.WalkStats{Directories: 1},
	}}
	for _, tt := range tests {
		for _, portable := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/portable=%t", tt.name, portable), func(t *testing.T) {
				t.Parallel()
				dir := realTempDir(t)
				tt.tree.write(t, dir)
				p := walkStart(t, openWalk(t, portable, filepath.Join(dir, tt.root)), tt.start)
				opt := tt.opt
				opt.Getenv = noEnv
				got, stats, err := fileindex.Walk(t.Context(), p, opt)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, listing(got)); diff != "" {
					t.Errorf("entries (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.stats, stats); diff != "" {
					t.Errorf("stats (-want +got):\n%s", diff)
				}
				for _, e := range got {
					if want, err := p.Join(e.Rel); err != nil || want.String() != e.Path.String() || want.Host() != e.Path.Host() {
						t.Errorf("entry %q has the path %q, want %q (%v)", e.Rel, e.Path, want, err)
					}
				}
				if tt.git {
					if diff := cmp.Diff(gitFiles(t, dir), listing(got)); diff != "" {
						t.Errorf("git lists other files (-git +got):\n%s", diff)
					}
				}
			})
		}
	}
}
