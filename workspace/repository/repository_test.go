package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace/repository"
)

// configs are files of configuration with what they say.
var configs = []struct {
	text string
	want repository.Config
}{
	{"", repository.Config{}},
	{"[core]\n\thooksPath = .husky\n", repository.Config{HooksPath: ".husky"}},
	{"[CORE] HOOKSPATH=a b # c\n", repository.Config{HooksPath: "a b"}},
	{"[core]\nhookspath = \" a;b \"c ; d\n", repository.Config{HooksPath: " a;b c"}},
	{"[core]\nhooksPath = a\\\nb\n\thooksPath = c\\\\d\\\"e\n", repository.Config{HooksPath: `c\d"e`}},
	{"; x\n# [core]\n[core]\nhooksPath = first\n[other]\nhooksPath = no\n[core]worktree = ../..\r\n", repository.Config{HooksPath: "first", Worktree: "../.."}},
	{"[core \"sub\"]\nx = 1\n[include]\npath = a\npath = ~/b\n[includeIf \"gitdir:~/x]y/\"]\npath = c\n", repository.Config{Includes: []string{"a", "~/b", "c"}}},
	{"[core]\nhooksPath\n[include]\n", repository.Config{}},
	{"\ufeff[core]\r\n\thooksPath = x\r\n", repository.Config{HooksPath: "x"}},
	{"[core]\n\tbare = false ; hooksPath = no\n\thooksPath = y", repository.Config{HooksPath: "y"}},
}

func TestParse(t *testing.T) {
	for _, tc := range configs {
		if d := cmp.Diff(tc.want, repository.Parse(tc.text)); d != "" {
			t.Errorf("%q: %s", tc.text, d)
		}
	}
}

// TestParseAsGit has git read the same files.
func TestParseAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs: git")
	}
	name := filepath.Join(t.TempDir(), "config")
	for _, tc := range configs {
		if err := os.WriteFile(name, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		for key, want := range map[string][]string{"core.hooksPath": one(tc.want.HooksPath), "core.worktree": one(tc.want.Worktree), "include.path": tc.want.Includes} {
			if key == "include.path" && strings.Contains(tc.text, "includeIf") {
				want = want[:len(want)-1]
			}
			cmd := exec.CommandContext(t.Context(), "git", "config", "--null", "--no-includes", "--file", name, "--get-all", key)
			out, _ := cmd.Output() // it exits with 1 if there is none
			got := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
			if len(got) > 1 && key != "include.path" {
				got = got[len(got)-1:]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q: %s is %q for git, %q here", tc.text, key, got, want)
			}
		}
	}
}

func one(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

func TestHead(t *testing.T) {
	for text, want := range map[string]bool{
		"ref: refs/heads/main\n": true, "ref:refs/heads/x": true, "ref: \t refs/x": true, strings.Repeat("0a", 20) + "\n": true, strings.Repeat("0a", 32): true,
		"": false, "ref: heads/x": false, "x": false, strings.Repeat("0a", 19): false,
	} {
		if got := repository.ValidHead([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

func TestDecides(t *testing.T) {
	for _, tc := range []struct {
		rel         string
		file, whole bool
	}{
		{"config", true, true}, {"hooks", true, true}, {"hooks/pre-commit", true, true}, {"commondir", true, true}, {"config.worktree", true, true},
		{"modules", false, true}, {"modules/a/HEAD", true, true}, {"worktrees/x", true, true},
		{"HEAD", false, false}, {"objects/aa", false, false}, {"refs/heads/config", false, false}, {"configs", false, false},
	} {
		if got := [2]bool{repository.Decides(tc.rel, false), repository.Decides(tc.rel, true)}; got != [2]bool{tc.file, tc.whole} {
			t.Errorf("%s: %v", tc.rel, got)
		}
	}
}

func TestGitDir(t *testing.T) {
	for text, want := range map[string]string{"gitdir: ../x\n": "../x", "gitdir:/a b\r\n": "/a b", "x": "", "": ""} {
		if got := repository.GitDir([]byte(text)); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tc := range configs {
		f.Add(tc.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := repository.Parse(text)
		if len(c.HooksPath) > len(text) || len(c.Includes) > len(text) {
			t.Errorf("%q: %+v", text, c)
		}
	})
}
