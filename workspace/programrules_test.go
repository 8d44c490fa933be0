package workspace_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

// programRulesOf shuts what the patterns cover, only for changes where "=" stands before one;
// what one with "!" covers is open.
func programRulesOf(t *testing.T, texts ...string) *workspace.ProgramRules {
	t.Helper()
	parse := func(text string) workspace.Pattern {
		p, err := workspace.ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := &workspace.ProgramRules{}
	var opens, shuts, keeps []workspace.Pattern
	for _, text := range texts {
		switch text[0] {
		case '!':
			opens = append(opens, parse(text[1:]))
		case '=':
			keeps = append(keeps, parse(text[1:]))
		default:
			shuts = append(shuts, parse(text))
		}
	}
	c.Allowed, c.Denied = opens, append(append(c.Denied, shuts...), keeps...)
	c.Judge = func(p workspace.Path) workspace.Denial {
		covers := func(list []workspace.Pattern) bool {
			for _, x := range list {
				if x.Matches(p) {
					return true
				}
			}
			return false
		}
		switch {
		case covers(opens):
			return workspace.Denial{}
		case covers(shuts):
			return workspace.Denial{Rule: "r"}
		case covers(keeps):
			return workspace.Denial{Rule: "r", Readable: true}
		}
		return workspace.Denial{}
	}
	return c
}

func TestClosedPlaces(t *testing.T) {
	tr := newTree(t)
	for _, name := range []string{"ws/secrets/key", "ws/secrets/public/x", "ws/secrets/public/own/y", "ws/.env", "ws/a/.env", "ws/a/b/.env", "ws/a/b/c/.env/x", "ws/a/secrets/k", "ws/docs/a.md", "ws/docs/.env", "two/secrets/key", "two/.env"} {
		tr.write(t, name, name)
	}
	tr.link(t, "ws/link", "secrets")
	tr.link(t, "ws/a/linked.env", "../.env")
	for _, tc := range []struct {
		patterns string
		want     []string
	}{
		{"secrets", []string{"two secrets/", "ws secrets/"}},
		{"secrets/**", []string{"two secrets/", "ws secrets/"}},
		{"secrets/key", []string{"two secrets/key", "ws secrets/key"}},
		{"link", nil},
		{"link/key", nil},
		{"missing/x", nil},
		{"{base}/two/secrets", []string{"two secrets/"}},
		{"{base}/*/secrets", []string{"two secrets/", "ws secrets/"}},
		{"**/.env", []string{"two .env", "ws .env", "ws a/.env", "ws docs/.env", "ws a/b/.env", "ws a/b/c/.env/"}},
		{"*/.env", []string{"ws a/.env", "ws docs/.env"}},
		{"*.env", []string{"two .env", "ws .env"}},
		{"{a,docs}/.env", []string{"ws a/.env", "ws docs/.env"}},
		{"a/**/.env", []string{"ws a/.env", "ws a/b/.env", "ws a/b/c/.env/"}},
		{"**/secrets", []string{"two secrets/", "ws secrets/", "ws a/secrets/"}},
		{"secrets !secrets/public", []string{"two secrets/key", "ws secrets/key"}},
		{"=docs", []string{"ws =docs/"}},
		{"=docs **/.env", []string{"two .env", "ws .env", "ws =docs/", "ws a/.env", "ws docs/.env", "ws a/b/.env", "ws a/b/c/.env/"}},
		{"=**", []string{"two =./", "ws =./"}},
		{"**", []string{"denied"}},
	} {
		backends(t, func(t *testing.T, opt workspace.Options) {
			w := tr.open(t, opt, "ws", "two").ForPrograms(programRulesOf(t, strings.Fields(tr.expand(tc.patterns))...))
			var got []string
			closed, err := w.DeniedPaths(t.Context())
			for _, c := range closed {
				name := c.Rel
				if c.Readable {
					name = "=" + name
				}
				if c.Directory {
					name += "/"
				}
				got = append(got, filepath.Base(c.Root)+" "+name)
			}
			if err != nil {
				got = []string{string(ruleOf(t, err))}
			}
			// The order of directories is that of the file system, but outer before inner.
			seen := map[string]bool{}
			for _, name := range got {
				seen[name] = true
			}
			want := map[string]bool{}
			for _, name := range tc.want {
				want[name] = true
			}
			if diff := cmp.Diff(want, seen); diff != "" || len(got) != len(tc.want) {
				t.Errorf("%s (-want +got):\n%s", tc.patterns, diff)
			}
			depth := 0
			for _, c := range closed {
				if n := strings.Count(c.Rel, "/"); n < depth {
					t.Errorf("%s: %s comes after what lies deeper", tc.patterns, c.Rel)
				} else {
					depth = n
				}
			}
		})
	}
}

func TestClosedOfNarrowed(t *testing.T) {
	tr := newTree(t)
	tr.write(t, "ws/sub/secrets/key", "key")
	tr.write(t, "ws/sub/x", "x")
	w := tr.open(t, workspace.Options{}, "ws")
	narrow, err := w.Narrow([]string{"sub"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { narrow.Close() })
	for _, pattern := range []string{"sub/secrets", "sub/*", "**/secrets", tr.expand("{base}/ws/sub/secrets")} {
		closed, err := narrow.ForPrograms(programRulesOf(t, pattern)).DeniedPaths(t.Context())
		found := false
		for _, c := range closed {
			found = found || c.Rel == "secrets" && filepath.Base(c.Root) == "sub"
		}
		if err != nil || !found {
			t.Errorf("%s: %v, %v", pattern, closed, err)
		}
	}
}

// What cannot be found within bounds is no reason to leave it open.
func TestClosedIsBounded(t *testing.T) {
	tr := newTree(t)
	for i := range 1100 {
		tr.write(t, fmt.Sprintf("ws/d/%d.env", i), "")
	}
	w := tr.open(t, workspace.Options{}, "ws").ForPrograms(programRulesOf(t, "d/*.env"))
	if closed, err := w.DeniedPaths(t.Context()); err == nil {
		t.Errorf("%d places are returned", len(closed))
	} else if ruleOf(t, err) != workspace.RuleDenied {
		t.Error(err)
	}
	if closed, err := w.ForPrograms(programRulesOf(t, "d")).DeniedPaths(t.Context()); err != nil || len(closed) != 1 {
		t.Errorf("%v, %v", closed, err)
	}
}
