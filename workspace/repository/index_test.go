package repository_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolcrib/workspace/repository"
)

// A look at a repository renews its index, which says the same as before; any other command
// makes it say something else.
func TestIndex(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("needs: git")
	}
	for _, version := range []int{2, 4} {
		dir := t.TempDir()
		git := func(line string) {
			t.Helper()
			cmd := exec.CommandContext(t.Context(), "git", strings.Fields(line)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v\n%s", line, err, out)
			}
		}
		index := func() (data []byte, digest string) {
			t.Helper()
			data, err := os.ReadFile(filepath.Join(dir, ".git/index"))
			if err != nil {
				t.Fatal(err)
			}
			digest, ok := repository.Index(data)
			if !ok {
				t.Fatalf("not read: %q", data)
			}
			return data, digest
		}
		git("init -q .")
		git(fmt.Sprintf("config index.version %d", version))
		for i := range 40 {
			name := filepath.Join(dir, strings.Repeat("long/", i%5)+strings.Repeat("x", 30*i%90)+fmt.Sprint(i))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte("a\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		git("add .")
		for _, line := range []string{"", "add -N new", "rm -q --cached 0", "update-index --chmod=+x 30", "update-index --untracked-cache", "update-index --assume-unchanged 30", "write-tree"} {
			if err := os.WriteFile(filepath.Join(dir, "new"), []byte("new\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if line != "" {
				_, before := index()
				git(line)
				if _, now := index(); (now == before) != (line == "update-index --untracked-cache") {
					t.Errorf("version %d, git %s: the same: %t", version, line, now == before)
				}
			}
			file := filepath.Join(dir, strings.Repeat("x", 30)+"10")
			if err := os.Chtimes(file, time.Time{}, time.Now().Add(-time.Duration(len(line)+1)*time.Hour)); err != nil {
				t.Fatal(err)
			}
			before, digest := index()
			git("status")
			now, digestNow := index()
			if bytes.Equal(before, now) {
				t.Errorf("version %d: git status after %q has not written the index", version, line)
			}
			if digest != digestNow {
				t.Errorf("version %d: git status after %q changed what the index says", version, line)
			}
		}
		data, _ := index()
		tracked, ok := repository.Tracked(data)
		cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
		cmd.Dir = dir
		out, err := cmd.Output()
		if want := strings.Split(strings.Trim(string(out), "\x00"), "\x00"); err != nil || !ok || !slices.Equal(slices.Sorted(maps.Keys(tracked)), want) {
			t.Errorf("version %d: tracked are %v, not %v", version, slices.Sorted(maps.Keys(tracked)), want)
		}
		for n := range data {
			repository.Index(data[:n]) // does not panic
			repository.Tracked(data[:n])
		}
	}
	for _, text := range []string{"", "DIRC", "DIRC\x00\x00\x00\x02\xff\xff\xff\xff" + strings.Repeat("\x00", 100), "DIRC\x00\x00\x00\x04\x00\x00\x00\x02" + strings.Repeat("\x80", 200)} {
		if digest, ok := repository.Index([]byte(text)); ok {
			t.Errorf("%q has the digest %s", text, digest)
		}
	}
}

func TestIsObject(t *testing.T) {
	for name, want := range map[string]bool{
		".git/objects/ab/cdef": true, "/x/.git/modules/b/objects/pack/pack-1.idx": true, ".git/objects/ab": false, "objects/ab/cdef": false, ".git/refs/heads/main": false,
	} {
		if repository.IsObject(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}

func TestIsIndex(t *testing.T) {
	for name, want := range map[string]bool{".git/index": true, "a/.git/modules/b/index": true, "/x/.git/index": true, "index": false, ".git/index.lock": false, "git/index": false, ".git": false} {
		if repository.IsIndex(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
