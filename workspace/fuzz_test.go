package workspace_test

import (
	"errors"
	"strings"
	"testing"

	"toolcrib/workspace"
)

// FuzzResolve demands of every text that it never reads what is outside, that
// repeated slashes and dots do not matter, and that both backends agree.
func FuzzResolve(f *testing.F) {
	tr := newTree(f)
	for name, target := range map[string]string{
		"in": "sub", "abs": "{base}/ws/sub", "out": "../out", "abs_out": "{base}/out",
		"back": "../ws", "loop": "loop", "sub/up": "../..", "sub/deep/mix": "../../abs/../../out/secret",
	} {
		tr.link(f, "ws/"+name, target)
	}
	for _, v := range vectors {
		f.Add(v.path)
	}
	for _, seed := range []string{"back/back/sub/up/ws/f", "sub/up/out/secret", "sub/deep/mix", "abs/deep/g", "in/up/ws/abs_out/secret", strings.Repeat("x/", 2048)} {
		f.Add(seed)
	}
	kernel := tr.open(f, workspace.Options{}, "ws", "two")
	portable := tr.open(f, workspace.Options{Portable: true}, "ws", "two")
	f.Fuzz(func(t *testing.T, text string) {
		text = tr.expand(text)
		content, rule := outcome(t, kernel, text)
		if c, r := outcome(t, portable, text); c != content || r != rule {
			t.Fatalf("%q: kernel %q %q, portable %q %q", text, content, rule, c, r)
		}
		if rule == workspace.RuleInvalid || len(text) > 1024 || strings.HasPrefix(strings.ToLower(text), "file:/") {
			return // a twin may be too long, or a URI
		}
		for _, twin := range []string{"//", "/./"} {
			same := strings.ReplaceAll(text, "/", twin)
			if c, r := outcome(t, kernel, same); c != content || r != rule {
				t.Fatalf("%q: %q %q, but %q: %q %q", text, content, rule, same, c, r)
			}
		}
	})
}

func outcome(t *testing.T, w *workspace.Workspace, text string) (string, workspace.Rule) {
	content, err := read(w, text)
	if strings.Contains(content, secret) {
		t.Fatalf("%q read what is outside", text)
	}
	if err == nil {
		return content, ""
	}
	e, ok := errors.AsType[*workspace.Error](err)
	if !ok || strings.Contains(e.Msg, secret) {
		t.Fatalf("%q: %T %v", text, err, err)
	}
	return "", e.Rule
}
