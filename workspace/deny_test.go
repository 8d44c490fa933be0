package workspace_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolcrib/workspace"
	"toolcrib/workspace/deny"
	"toolcrib/workspace/fileindex"
)

// denying denies the paths that match a pattern.
func denying(t *testing.T, patterns ...string) workspace.DenyFunc {
	t.Helper()
	var list []deny.Pattern
	for _, text := range patterns {
		p, err := deny.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return func(p workspace.Path) string {
		if slices.ContainsFunc(list, func(x deny.Pattern) bool { return x.Matches(p) }) {
			return "no-secrets"
		}
		return ""
	}
}

func TestDeniedOpens(t *testing.T) {
	tr := newTree(t)
	tr.write(t, "ws/secrets/key", "key")
	tr.write(t, "ws/src/open", "open")
	tr.write(t, "ws/src/.env", "env")
	tr.write(t, "two/secrets/key", "two")
	tr.link(t, "ws/to_file", "secrets/key")
	tr.link(t, "ws/to_dir", "secrets")
	tr.link(t, "ws/abs", "{base}/ws/secrets/key")
	tr.link(t, "ws/round", "../ws/src/../secrets")
	tr.link(t, "ws/src/fine", "open")
	tr.link(t, "secrets_of_ws", "ws/secrets")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws", "two").Denying(denying(t, "secrets/**", "**/*.env"))
		for text, want := range map[string]string{
			"src/open":                      "open",
			"src/fine":                      "open",
			"{base}/ws/src/open":            "open",
			"secrets/../src/./open":         "open",
			"secrets/key":                   "denied",
			"./src/../secrets/key":          "denied",
			"{base}/ws/secrets/key":         "denied",
			"{base}/two/secrets/key":        "denied",
			"to_file":                       "denied",
			"to_dir/key":                    "denied",
			"abs":                           "denied",
			"round/key":                     "denied",
			"src/.env":                      "denied",
			"secrets/missing":               "denied",
			"to_dir/missing":                "denied",
			"src/missing":                   "not_found",
			"src/open/":                     "kind",
			"src":                           "kind",
			"{base}/secrets_of_ws/key":      "outside",
			"src/" + "../" + "to_dir/./key": "denied",
		} {
			text = tr.expand(text)
			got, err := read(w, text)
			if err != nil {
				got = string(ruleOf(t, err))
			}
			if got != want {
				t.Errorf("%s: %s, want %s (%v)", text, got, want, err)
			}
			if p, err := w.Resolve(text); err == nil && want == "denied" && !strings.Contains(text, "missing") {
				if _, err := p.Stat(); err == nil {
					t.Errorf("%s is described", text)
				}
				if _, _, err := p.Find(true); err == nil {
					t.Errorf("%s is found", text)
				}
			}
		}
	})
}

func TestDeniedWalks(t *testing.T) {
	tr := newTree(t)
	tr.write(t, "ws/d/a/secrets/key", "key")
	tr.write(t, "ws/d/a/open", "open")
	tr.write(t, "ws/d/secrets/key", "key")
	tr.write(t, "ws/d/b/x.env", "env")
	tr.link(t, "ws/d/link", "a")
	tr.link(t, "ws/to_a", "d/link")
	tr.link(t, "ws/d/b/leak", "../a/secrets")
	tr.link(t, "ws/d/b/leaf", "../a/secrets/key")
	backends(t, func(t *testing.T, opt workspace.Options) {
		w := tr.open(t, opt, "ws").Denying(denying(t, "**/secrets", "**/*.env"))
		for start, want := range map[string][]string{
			"d":      {"a/open", "b/leaf", "b/leak", "link"},
			"d/a":    {"open"},
			"d/link": {"open"},
			"to_a":   {"open"},
		} {
			for _, follow := range []bool{false, true} {
				p, err := w.Resolve(start)
				if err != nil {
					t.Fatal(err)
				}
				entries, stats, err := fileindex.Walk(t.Context(), p, fileindex.WalkOptions{FollowLinks: follow})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, e := range entries {
					got = append(got, e.Rel)
					if f, err := e.Path.Open(); err == nil {
						f.Close()
					} else if e.Kind == workspace.KindFile {
						t.Errorf("%s is listed as a file and cannot be opened: %v", e.Rel, err)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" && !follow {
					t.Errorf("%s: %s", start, diff)
				}
				for _, rel := range got {
					if strings.Contains(rel, "secrets/") || strings.HasSuffix(rel, "key") || strings.HasSuffix(rel, ".env") {
						t.Errorf("%s, follow %t: found %s", start, follow, rel)
					}
				}
				if stats.Denied == 0 || len(stats.Unreadable) > 0 {
					t.Errorf("%s: the stats lack the denied entries: %+v", start, stats)
				}
			}
		}
	})
}

func TestDeniedChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		op   workspace.Op
		path string
		from string
		want workspace.Rule
	}{
		"write":                       {workspace.Op{Kind: workspace.OpWrite, New: func(workspace.Old) ([]byte, error) { return []byte("x"), nil }}, "secrets/new", "", workspace.RuleDenied},
		"write by a link":             {workspace.Op{Kind: workspace.OpWrite, New: func(workspace.Old) ([]byte, error) { return []byte("x"), nil }}, "to_dir/new", "", workspace.RuleDenied},
		"write next to it":            {workspace.Op{Kind: workspace.OpWrite, New: func(workspace.Old) ([]byte, error) { return []byte("x"), nil }}, "a/new", "", ""},
		"write below a new directory": {workspace.Op{Kind: workspace.OpWrite, New: func(workspace.Old) ([]byte, error) { return []byte("x"), nil }}, "new/secrets/x", "", workspace.RuleDenied},
		"move out":                    {workspace.Op{Kind: workspace.OpMove}, "out", "secrets/key", workspace.RuleDenied},
		"move in":                     {workspace.Op{Kind: workspace.OpMove}, "secrets/in", "f", workspace.RuleDenied},
		"move of a parent":            {workspace.Op{Kind: workspace.OpMove}, "b", "a", workspace.RuleDenied},
		"copy of a parent":            {workspace.Op{Kind: workspace.OpCopy}, "b", "a", workspace.RuleDenied},
		"copy out":                    {workspace.Op{Kind: workspace.OpCopy}, "out", "to_file", ""}, // the link itself
		"copy of a file":              {workspace.Op{Kind: workspace.OpCopy}, "out", "secrets/key", workspace.RuleDenied},
		"delete of a parent":          {workspace.Op{Kind: workspace.OpDelete, Recursive: true}, "a", "", workspace.RuleDenied},
		"delete of a tree":            {workspace.Op{Kind: workspace.OpDelete, Recursive: true}, "sub", "", ""},
		"move to where it would be":   {workspace.Op{Kind: workspace.OpMove}, "hold", "fine", workspace.RuleDenied},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTree(t)
			tr.write(t, "ws/secrets/key", "key")
			tr.write(t, "ws/a/secrets/key", "key")
			tr.write(t, "ws/fine/x", "x")
			tr.link(t, "ws/to_dir", "secrets")
			tr.link(t, "ws/to_file", "secrets/key")
			backends(t, func(t *testing.T, opt workspace.Options) {
				if tc.want == "" && opt.Portable {
					return // the other backend has changed the tree already
				}
				opt.StateBase = t.TempDir()
				w := tr.open(t, opt, "ws").Denying(denying(t, "**/secrets", "hold/x"))
				op := tc.op
				var err error
				if op.Path, err = w.Resolve(tc.path); err != nil {
					t.Fatal(err)
				}
				if tc.from != "" {
					if op.From, err = w.Resolve(tc.from); err != nil {
						t.Fatal(err)
					}
				}
				_, err = w.Apply(t.Context(), workspace.Change{Tool: "test", Ops: []workspace.Op{op}})
				if got := ruleOf(t, err); got != tc.want {
					t.Errorf("%s (%v), want %s", got, err, tc.want)
				}
			})
		})
	}
}

func TestDeniedHistory(t *testing.T) {
	tr := newTree(t)
	w := tr.open(t, workspace.Options{StateBase: t.TempDir()}, "ws")
	for _, name := range []string{"secrets", "open"} {
		p, err := w.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"one", "two"} {
			op := workspace.Op{Kind: workspace.OpWrite, Path: p, New: func(workspace.Old) ([]byte, error) { return []byte(text), nil }}
			if _, err := w.Apply(t.Context(), workspace.Change{Tool: "test", Ops: []workspace.Op{op}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, total, err := w.Denying(denying(t, "secrets")).History(t.Context(), workspace.HistoryQuery{})
	if err != nil || total != 2 {
		t.Errorf("%d changes are shown, want 2 (%v)", total, err)
	}
	for _, rec := range list {
		for _, c := range rec.Files {
			if c.Path != "open" {
				t.Errorf("the history shows %s", c.Path)
			}
		}
	}
}
