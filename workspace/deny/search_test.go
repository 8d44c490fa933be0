package deny_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/deny"
)

// rulesOf denies the paths that match a pattern: changes alone if "=" is before it. A path
// that matches one with "!" is allowed.
func rulesOf(t *testing.T, texts ...string) *deny.Rules {
	t.Helper()
	parse := func(text string) deny.Pattern {
		p, err := deny.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := &deny.Rules{}
	var allowed, denied, readOnly []deny.Pattern
	for _, text := range texts {
		switch text[0] {
		case '!':
			allowed = append(allowed, parse(text[1:]))
		case '=':
			readOnly = append(readOnly, parse(text[1:]))
		default:
			denied = append(denied, parse(text))
		}
	}
	c.Allowed, c.Denied = allowed, append(append(c.Denied, denied...), readOnly...)
	c.Judge = func(p workspace.Path) workspace.Denial {
		matches := func(list []deny.Pattern) bool {
			for _, x := range list {
				if x.Matches(p) {
					return true
				}
			}
			return false
		}
		switch {
		case matches(allowed):
			return workspace.Denial{}
		case matches(denied):
			return workspace.Denial{Rule: "r"}
		case matches(readOnly):
			return workspace.Denial{Rule: "r", Readable: true}
		}
		return workspace.Denial{}
	}
	return c
}

// ruleOf returns the rule of a refusal; another error fails the test.
func ruleOf(t *testing.T, err error) string {
	t.Helper()
	e, ok := errors.AsType[*workspace.Error](err)
	if !ok {
		t.Fatalf("error of another type: %T %v", err, err)
	}
	return string(e.Rule)
}

func TestDeniedPaths(t *testing.T) {
	tr := newTree(t)
	for _, name := range []string{"ws/secrets/key", "ws/secrets/public/x", "ws/secrets/public/own/y", "ws/.env", "ws/a/.env", "ws/a/b/.env", "ws/a/b/c/.env/x", "ws/a/secrets/k", "ws/docs/a.md", "ws/docs/.env", "two/secrets/key", "two/.env"} {
		tr.write(t, name)
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
		for _, portable := range []bool{false, true} {
			w := tr.open(t, workspace.Options{Portable: portable}, "ws", "two").ForPrograms(rulesOf(t, strings.Fields(tr.expand(tc.patterns))...))
			var got []string
			found, err := w.DeniedPaths(t.Context())
			for _, d := range found {
				name := d.Rel
				if d.Readable {
					name = "=" + name
				}
				if d.Directory {
					name += "/"
				}
				got = append(got, filepath.Base(d.Root)+" "+name)
			}
			if err != nil {
				got = []string{ruleOf(t, err)}
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
			for _, d := range found {
				if n := strings.Count(d.Rel, "/"); n < depth {
					t.Errorf("%s: %s comes after what lies deeper", tc.patterns, d.Rel)
				} else {
					depth = n
				}
			}
		}
	}
}

func TestDeniedPathsOfNarrowed(t *testing.T) {
	tr := newTree(t)
	tr.write(t, "ws/sub/secrets/key")
	tr.write(t, "ws/sub/x")
	w := tr.open(t, workspace.Options{}, "ws")
	narrow, err := w.Narrow([]string{"sub"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { narrow.Close() })
	for _, pattern := range []string{"sub/secrets", "sub/*", "**/secrets", tr.expand("{base}/ws/sub/secrets")} {
		found, err := narrow.ForPrograms(rulesOf(t, pattern)).DeniedPaths(t.Context())
		if err != nil || !slices.ContainsFunc(found, func(d workspace.DeniedPath) bool { return d.Rel == "secrets" && filepath.Base(d.Root) == "sub" }) {
			t.Errorf("%s: %v, %v", pattern, found, err)
		}
	}
}

// A search that exceeds its limits is an error.
func TestDeniedPathsAreBounded(t *testing.T) {
	tr := newTree(t)
	for i := range 1100 {
		tr.write(t, fmt.Sprintf("ws/d/%d.env", i))
	}
	w := tr.open(t, workspace.Options{}, "ws").ForPrograms(rulesOf(t, "d/*.env"))
	if found, err := w.DeniedPaths(t.Context()); err == nil {
		t.Errorf("%d paths are returned", len(found))
	} else if ruleOf(t, err) != string(workspace.RuleDenied) {
		t.Error(err)
	}
	if found, err := w.ForPrograms(rulesOf(t, "d")).DeniedPaths(t.Context()); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
