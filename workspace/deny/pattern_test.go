package deny_test

import (
	"strings"
	"testing"

	"toolcrib/workspace"
	"toolcrib/workspace/deny"
)

func TestPattern(t *testing.T) {
	tr := newTree(t)
	w := tr.open(t, workspace.Options{}, "ws", "two")
	for _, tc := range []struct{ pattern, path string }{
		{"sub", "sub"}, {"sub", "sub/deep/g"}, {"sub/", "sub/x"}, {"sub/**", "sub"}, {"sub/*", "!sub"}, {"sub/*", "sub/x/y"},
		{"sub", "!subs"}, {"**", "."}, {"**", "a/b"}, {"*", "!."}, {"*", "a/b"}, {"*.go", "a.go"}, {"*.go", "!a/b.go"},
		{"**/*.go", "a.go"}, {"**/*.go", "a/b/c.go"}, {"{a,b}/x", "b/x"}, {"a/**/z", "a/z"}, {"a/**/z", "a/b/c/z"}, {"a/**/z", "!a/b"},
		{"{base}/two/**", "{base}/two/f"}, {"{base}/two", "!f"}, {"{base}/*/f", "f"}, {"{base}/ws/sub", "sub/x"}, {"sub", "{base}/two/sub"},
	} {
		pattern, err := deny.Parse(tr.expand(tc.pattern))
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
			continue
		}
		text, not := strings.CutPrefix(tc.path, "!")
		p, err := w.Resolve(tr.expand(text))
		if err != nil {
			t.Fatal(err)
		}
		if pattern.Matches(p) == not {
			t.Errorf("%s matches %s: %t", tc.pattern, text, !not)
		}
	}
	for _, text := range []string{"", ".", "/", "//", "!x", "~", "~/x", "../x", "a/../b", "./a", "a[", "{a", "a\x00"} {
		if _, err := deny.Parse(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	last := 0
	for _, text := range []string{"**", "**/*.go", "s*", "sr?/*.go", "src", "src/*", "src/*.go", "src/*/x.go", "src/a", "src/a/b.go"} {
		p, err := deny.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.Rank() <= last {
			t.Errorf("%s is not more precise than the one before", text)
		}
		last = p.Rank()
	}
}
