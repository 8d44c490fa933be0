package workspace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
)

func TestNarrow(t *testing.T) {
	tr := newTree(t)
	tr.write(t, "ws/other/o", "other")
	tr.link(t, "ws/sub/to_f", "../f")
	tr.link(t, "ws/sub/to_other", "../other/o")
	tr.link(t, "ws/sub/abs_deep", "{base}/ws/sub/deep/g")
	tr.link(t, "ws/sub/round", "../sub/deep/g")
	tr.link(t, "ws/by_link", "sub")
	tr.link(t, "ws/escape", "{base}/out")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws", "two")
		v, err := w.Narrow([]string{"by_link", tr.path("two"), "other"})
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		if diff := cmp.Diff([]string{tr.path("ws/by_link"), tr.path("two"), tr.path("ws/other")}, v.Roots()); diff != "" {
			t.Error(diff)
		}
		for text, want := range map[string]struct {
			content string
			rule    workspace.Rule
		}{
			"sub/deep/g":          {"deep", ""},
			"by_link/deep/g":      {"deep", ""},
			"sub/abs_deep":        {"deep", ""},
			"sub/round":           {"deep", ""},
			"sub/to_other":        {"other", ""},
			"{base}/two/f":        {"two", ""},
			"{base}/ws/sub/round": {"deep", ""},
			"f":                   {"", workspace.RuleOutside},
			"sub/../f":            {"", workspace.RuleOutside},
			"sub/to_f":            {"", workspace.RuleOutside},
			".":                   {"", workspace.RuleOutside},
			"escape/secret":       {"", workspace.RuleOutside},
		} {
			text = tr.expand(text)
			got, err := read(v, text)
			if rule := ruleOf(t, err); got != want.content || rule != want.rule {
				t.Errorf("%s = %q, %v", text, got, err)
			}
			if got == "" {
				continue
			}
			p, err := v.Resolve(text)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := read(v, p.String()); again != got {
				t.Errorf("%s is printed as %s, which reads %q, %v", text, p, again, err)
			}
		}
		inner, err := v.Narrow([]string{"sub/deep"})
		if err != nil {
			t.Fatal(err)
		}
		defer inner.Close()
		if got, err := read(inner, "sub/deep/g"); got != "deep" {
			t.Errorf("narrowed twice: %q, %v", got, err)
		}
		for _, dirs := range [][]string{nil, {"f"}, {"."}, {".."}, {"sub", "../out"}, {"escape"}, {"/"}, {"missing"}} {
			if wider, err := v.Narrow(dirs); ruleOf(t, err) == "" {
				t.Errorf("Narrow(%q) = %q", dirs, wider.Roots())
			}
		}
	})
}

func TestJoinAndReadDir(t *testing.T) {
	tr := newTree(t)
	tr.link(t, "ws/sub/link", "../f")
	tr.link(t, "ws/abs_sub", "{base}/ws/sub")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws")
		p, err := w.Resolve("abs_sub")
		if err != nil {
			t.Fatal(err)
		}
		list, err := p.ReadDir()
		if err != nil {
			t.Fatal(err)
		}
		want := []workspace.DirEntry{{Name: "deep", Kind: workspace.KindDirectory}, {Name: "link", Kind: workspace.KindSymlink}}
		if diff := cmp.Diff(want, list); diff != "" {
			t.Error(diff)
		}
		g, err := p.Join("deep/g")
		if err != nil || g.String() != "abs_sub/deep/g" {
			t.Errorf("Join: %q, %v", g, err)
		}
		if f, err := g.Open(); err != nil {
			t.Error(err)
		} else {
			f.Close()
		}
		for _, name := range []string{"", "..", "../f", "deep/../../f", "/f", "deep/", "a//b", "a\x00", "a\xff"} {
			if q, err := p.Join(name); ruleOf(t, err) != workspace.RuleInvalid {
				t.Errorf("Join(%q) = %q, %v", name, q, err)
			}
		}
		f, err := w.Resolve("f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadDir(); ruleOf(t, err) != workspace.RuleKind {
			t.Errorf("ReadDir of a file: %v", err)
		}
	})
}
