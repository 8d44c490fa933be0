package identity_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolcrib/server/identity"
	"toolcrib/workspace"
)

func openPlain(_ context.Context, dir string) (*workspace.Workspace, error) {
	return workspace.Open([]string{dir}, workspace.Options{})
}

func newRoots(t *testing.T, pattern string) *identity.Roots {
	t.Helper()
	r, err := identity.NewRoots(pattern, openPlain)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestRootsApart gives names that are alike, or lead elsewhere, directories of their
// own below the fixed one, also where the file system ignores case.
func TestRootsApart(t *testing.T) {
	base := t.TempDir()
	r := newRoots(t, filepath.Join(base, "${sub}", "files"))
	seen := map[string]string{}
	ws, leave, err := r.Enter(t.Context(), identity.Who{Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	made := filepath.Base(filepath.Dir(ws.Roots()[0])) // a name that is the directory of another
	leave()
	for _, sub := range []string{
		made,
		"ada", "Ada", "ADA", "ada ", "a/da", `a\da`, "..", ".", "../ada", "...", ".ada", "ada.", "con", "nul.txt", "ada@example.com", "ada_example.com",
		"\u00e9", "e\u0301", "\u212a", "k", "${sub}", strings.Repeat("a", 200), strings.Repeat("a", 201), "ada\x00", "ada--" + strings.Repeat("0", 40), "-ada", "~", "ada:stream",
	} {
		ws, leave, err := r.Enter(t.Context(), identity.Who{Principal: sub, Name: sub})
		if err != nil {
			t.Errorf("%q: %v", sub, err)
			continue
		}
		dir := ws.Roots()[0]
		leave()
		rel, err := filepath.Rel(base, dir)
		if err != nil || strings.Count(rel, string(filepath.Separator)) != 1 || !filepath.IsLocal(rel) {
			t.Errorf("%q: in %s", sub, dir)
		}
		folded := strings.ToLower(dir)
		if other, taken := seen[folded]; taken {
			t.Errorf("%q and %q share %s", sub, other, dir)
		}
		seen[folded] = sub
		if name, _, _ := strings.Cut(filepath.Base(filepath.Dir(dir)), "."); name == "con" || name == "nul" {
			t.Errorf("%q: in %s, which is a device elsewhere", sub, dir)
		}
		info, err := os.Stat(filepath.Dir(dir))
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%q: %v, %v", sub, info, err)
		}
	}
}

func TestRootsRefused(t *testing.T) {
	base := t.TempDir()
	for _, pattern := range []string{
		"work/${sub}", filepath.Join(base, "none", "${sub}"), filepath.Join(base, "x-${sub}"), filepath.Join(base, "${home}"), filepath.Join(base, "${iss}"), base,
	} {
		if _, err := identity.NewRoots(pattern, openPlain); err == nil {
			t.Errorf("%s: taken", pattern)
		}
	}
	if err := os.Symlink("ada", filepath.Join(base, "eve")); err != nil { // in reach, and still of another
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(base, "ada"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "bob"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRoots(t, filepath.Join(base, "${sub}"))
	for _, name := range []string{"eve", "bob"} {
		if _, _, err := r.Enter(t.Context(), identity.Who{Name: name}); err == nil {
			t.Errorf("%s: a directory that is none of its own", name)
		}
	}
}

// A workspace is open as long as somebody uses it, and a while longer; all users of a
// directory share it.
func TestRootsIdle(t *testing.T) {
	base := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		opened := 0
		var mu sync.Mutex
		r, err := identity.NewRoots(filepath.Join(base, "${sub}"), func(ctx context.Context, dir string) (*workspace.Workspace, error) {
			mu.Lock()
			defer mu.Unlock()
			if opened++; opened == 1 {
				return nil, errors.New("not today")
			}
			return openPlain(ctx, dir)
		})
		if err != nil {
			t.Fatal(err)
		}
		ada := identity.Who{Principal: "ada", Name: "ada"}
		if _, _, err := r.Enter(t.Context(), ada); err == nil {
			t.Fatal("opened what cannot be opened")
		}
		var first *workspace.Workspace
		var leaves []func()
		for range 3 {
			ws, leave, err := r.Enter(t.Context(), ada)
			if err != nil || first != nil && ws != first {
				t.Fatalf("%p, %v; want %p", ws, err, first)
			}
			first, leaves = ws, append(leaves, leave)
		}
		usable := func() bool {
			p, err := first.Resolve(".")
			if err == nil {
				_, err = p.Stat()
			}
			return err == nil
		}
		leaves[0]()
		leaves[0]()
		leaves[1]()
		time.Sleep(time.Hour)
		if synctest.Wait(); !usable() {
			t.Error("closed while it was used")
		}
		leaves[2]()
		time.Sleep(4 * time.Minute)
		if synctest.Wait(); !usable() {
			t.Error("closed at once")
		}
		time.Sleep(2 * time.Minute)
		if synctest.Wait(); usable() {
			t.Error("open though nobody uses it")
		}
		if opened != 2 {
			t.Errorf("opened %d times", opened)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}
