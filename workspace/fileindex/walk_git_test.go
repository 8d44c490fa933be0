package fileindex_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace/fileindex"
)

func TestWalkGlobalRules(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		home layout
		env  map[string]string // $ROOT is the home directory
		want []string
		bad  []string
	}{{
		name: "the default file",
		home: lay(".config/git/ignore: a"),
		env:  map[string]string{"HOME": "$ROOT"},
		want: []string{"b", "c"},
	}, {
		name: "the default file under XDG_CONFIG_HOME",
		home: lay(".config/git/ignore: a", "x/git/ignore: b"),
		env:  map[string]string{"HOME": "$ROOT", "XDG_CONFIG_HOME": "$ROOT/x"},
		want: []string{"a", "c"},
	}, {
		name: "core.excludesFile instead of the default",
		home: lay(".config/git/ignore: a", ".gitconfig: [core] | excludesFile = ~/mine", "mine: b | !c"),
		env:  map[string]string{"HOME": "$ROOT"},
		want: []string{"a", "c"},
	}, {
		name: "~/.gitconfig after the other",
		home: lay(".config/git/config: [core] | excludesFile = ~/a", ".gitconfig: [core] | excludesFile = ~/b", "a: a", "b: b"),
		env:  map[string]string{"HOME": "$ROOT"},
		want: []string{"a", "c"},
	}, {
		name: "GIT_CONFIG_GLOBAL instead of both",
		home: lay(".gitconfig: [core] | excludesFile = ~/b", "b: b", "one: [core] | excludesFile = $ROOT/a", "a: a"),
		env:  map[string]string{"HOME": "$ROOT", "GIT_CONFIG_GLOBAL": "$ROOT/one"},
		want: []string{"b", "c"},
	}, {
		name: "no configuration",
		home: lay(".gitconfig: [core] | excludesFile = ~/b", "b: b"),
		env:  map[string]string{"HOME": "$ROOT", "GIT_CONFIG_GLOBAL": os.DevNull},
		want: []string{"a", "b", "c"},
	}, {
		name: "a linked configuration",
		home: lay("dot/conf: [core] | excludesFile = ~/dot/ign", "dot/ign: -> rules", "dot/rules: a", ".gitconfig: -> dot/conf"),
		env:  map[string]string{"HOME": "$ROOT"},
		want: []string{"b", "c"},
	}, {
		name: "a file that cannot be read is told without its path",
		home: lay(".gitconfig: [core] | excludesFile = ~/dir", "dir/"),
		env:  map[string]string{"HOME": "$ROOT"},
		want: []string{"a", "b", "c"},
		bad:  []string{"an ignore file above the workspace"},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, dir := realTempDir(t), realTempDir(t)
			tt.home.write(t, home)
			lay(".git/HEAD: ref: refs/heads/main", ".git/objects/", ".git/refs/", "a", "b", "c").write(t, dir)
			getenv := func(key string) string { return strings.ReplaceAll(tt.env[key], "$ROOT", home) }
			got, stats, err := fileindex.Walk(t.Context(), walkStart(t, openWalk(t, false, dir), "."), fileindex.WalkOptions{Getenv: getenv})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, listing(got)); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.bad, stats.Unreadable); diff != "" {
				t.Errorf("unreadable (-want +got):\n%s", diff)
			}
			if tt.bad != nil {
				return // git makes it an error
			}
			var env []string
			for _, key := range []string{"HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"} {
				if value := getenv(key); value != "" || key != "GIT_CONFIG_GLOBAL" {
					env = append(env, key+"="+value)
				}
			}
			if diff := cmp.Diff(gitFiles(t, dir, env...), tt.want); diff != "" {
				t.Errorf("git lists other files (-git +want):\n%s", diff)
			}
		})
	}
}

// A repository can name its own file in the place of the user's, where that is one of its
// files.
func TestWalkRepositoryRules(t *testing.T) {
	t.Parallel()
	const elsewhere = ".git/config (core.excludesFile)"
	for _, tt := range []struct {
		name, config string
		want         []string
		bad          []string // git reads what a walk does not
	}{
		{"unset", "[core] | bare = false", []string{"a", "c", "in/a", "in/mine"}, nil},
		{"relative", "[core] | excludesFile = in/mine", []string{"b", "c", "in/mine"}, nil},
		{"absolute", "[core] | excludesFile = $ROOT/in/mine", []string{"b", "c", "in/mine"}, nil},
		{"none", "[core] | excludesFile =", []string{"a", "b", "c", "in/a", "in/mine"}, nil},
		{"not there", "[core] | excludesFile = in/none", []string{"a", "b", "c", "in/a", "in/mine"}, nil},
		{"in the git directory", "[core] | excludesFile = .git/mine", []string{"a", "b", "in/a", "in/mine"}, nil},
		{"above", "[core] | excludesFile = ../mine", []string{"a", "c", "in/a", "in/mine"}, []string{elsewhere}},
		{"of the user", "[core] | excludesFile = ~/mine", []string{"a", "c", "in/a", "in/mine"}, []string{elsewhere}},
		{"by a link", "[core] | excludesFile = link", []string{"a", "b", "c", "in/a", "in/mine"}, []string{"link"}},
		{"by a linked directory", "[core] | excludesFile = out/mine", []string{"a", "b", "c", "in/a", "in/mine"}, []string{"out/mine"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, dir := realTempDir(t), realTempDir(t)
			lay(".gitconfig: [core] | excludesFile = ~/users", "users: b", "mine: c").write(t, home)
			lay(".git/HEAD: ref: refs/heads/main", ".git/objects/", ".git/refs/", ".git/mine: c", "in/mine: a", "a", "b", "c", "in/a", "link: -> in/mine", "out: -> "+home,
				".git/config: "+tt.config).write(t, dir)
			getenv := func(key string) string { return map[string]string{"HOME": home}[key] }
			got, stats, err := fileindex.Walk(t.Context(), walkStart(t, openWalk(t, false, dir), "."), fileindex.WalkOptions{Getenv: getenv})
			if err != nil {
				t.Fatal(err)
			}
			isLink := func(name string) bool { return strings.HasPrefix(name, "link") || strings.HasPrefix(name, "out") }
			files := slices.DeleteFunc(listing(got), isLink)
			if diff := cmp.Diff(tt.want, files); diff != "" {
				t.Errorf("entries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.bad, stats.Unreadable); diff != "" {
				t.Errorf("unreadable (-want +got):\n%s", diff)
			}
			if tt.bad != nil {
				return
			}
			listed := slices.DeleteFunc(gitFiles(t, dir, "HOME="+home, "XDG_CONFIG_HOME="), isLink)
			if diff := cmp.Diff(listed, tt.want); diff != "" {
				t.Errorf("git lists other files (-git +want):\n%s", diff)
			}
		})
	}
}
